#!/usr/bin/env bash
# Packs a built program for a release: package.sh PROGRAM TARGET FOLDER writes
# FOLDER/roundtable-VERSION-TARGET.tar.gz and its checksum. Manual pages and completions come from the program.
set -euo pipefail
program=$1 target=$2 out=$3
root=$(cd "$(dirname "$0")/.." && pwd)
version=$("$program" --version | cut -d ' ' -f 2)
name=roundtable-$version-$target
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/$name/completions" "$out"
cp "$program" "$work/$name/roundtable"
cp "$root"/README.md "$root"/CHANGELOG.md "$root"/LICENSE-APACHE "$root"/LICENSE-MIT "$work/$name/"
"$program" man --out "$work/$name/man1"
for shell in bash elvish fish powershell zsh; do
  "$program" completions "$shell" >"$work/$name/completions/roundtable.$shell"
done
tar -czf "$out/$name.tar.gz" -C "$work" "$name"
cd "$out"
if command -v sha256sum >/dev/null; then sha256sum "$name.tar.gz"; else shasum -a 256 "$name.tar.gz"; fi >"$name.tar.gz.sha256"
