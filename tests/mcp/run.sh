#!/usr/bin/env bash
# A panel convened by a client that others wrote, the Python package `mcp`: see client.py. Installs it from
# wheels only under target/tools/mcp. Placeholders answer: no key, no model and no network are
# used. Needs python3 with venv.
#
#   tests/mcp/run.sh [PROGRAM]     built unless given
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
[ $# -gt 0 ] || (cd "$root" && cargo build --quiet --features full)
program=$(realpath "${1:-$root/target/debug/roundtable}")
tools="$root/target/tools/mcp"

if ! "$tools/bin/python" -c 'import mcp' 2>/dev/null; then
  python3 -m venv --clear "$tools"
  "$tools/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: mcp==2.3.0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
ROUNDTABLE_HOME="$work/home" "$tools/bin/python" "$here/client.py" "$program"
