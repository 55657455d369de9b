#!/usr/bin/env bash
# Looks at the report pages of all examples, held on the rehearsal, in Chromium: see check.mjs. Votes on the
# ballot page in Chromium and Firefox: see ballot.mjs. Installs its npm packages under target/tools/pages, and
# the browsers and a font of the pages with apt-get where they are missing and that is allowed; otherwise says
# that it skips them.
#
#   tests/pages/run.sh [PROGRAM]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
program=$(realpath "${1:-$root/target/debug/roundtable}")
packages="$root/target/tools/pages"
pages="$root/target/tmp/pages"

install() { # install PACKAGE
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 0
  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$1"; } >&2 || return 0
}

browser() { # browser COMMAND PACKAGE
  command -v "$1" >/dev/null || install "$2"
  command -v "$1" || true
}

if ! command -v npm >/dev/null; then
  echo "skipped: npm is missing"
  exit 0
fi
CHROMIUM=$(browser chromium chromium | tail -n 1)
if [ -z "$CHROMIUM" ]; then
  echo "skipped: Chromium is missing"
  exit 0
fi
FIREFOX=$(browser firefox-esr firefox-esr | tail -n 1)
# How many sheets the first page needs depends on the font.
[ -n "$(fc-list 'Liberation Sans' 2>/dev/null)" ] || install fonts-liberation
[ -n "$FIREFOX" ] || echo "skipped for the ballot page: Firefox is missing"
if [ ! -d "$packages/node_modules/axe-core" ] || [ ! -d "$packages/node_modules/puppeteer-core" ]; then
  npm install --prefix "$packages" --no-save --no-audit --no-fund --silent axe-core@4.14.1 puppeteer-core@24.43.1 || {
    echo "skipped: the npm packages cannot be fetched"
    exit 0
  }
fi

rm -rf "$pages"
mkdir -p "$pages/home"
export ROUNDTABLE_HOME="$pages/home"
for definition in "$root"/sessions/*.yaml; do
  name=$(basename "$definition" .yaml)
  # Examples without answers of their own are rehearsed. The seed makes the same pages each time. Some end
  # undecided or wait for a person: their pages count.
  rehearse=--rehearse
  if grep -q '^answers:' "$definition"; then rehearse=; fi
  "$program" --batch "$definition" $rehearse --seed 7 --quiet --save "$pages/$name.s2s" </dev/null >/dev/null || [ $? -lt 5 ]
  "$program" report "$pages/$name.s2s" --out "$pages/$name.html" 2>/dev/null
done
for session in "$root"/sessions/*.s2s; do
  "$program" report "$session" --out "$pages/$(basename "$session" .s2s)-saved.html" 2>/dev/null
done
export CHROMIUM FIREFOX NODE_PATH="$packages/node_modules"
node "$here/check.mjs" "$pages"/*.html
node "$here/ballot.mjs" "$program" "$pages/ballot"
