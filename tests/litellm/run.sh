#!/usr/bin/env bash
# Blind rounds through LiteLLM's proxy, a server that others wrote, over all three dialects.
#
# Installs litellm[proxy] 1.81.13 (later releases have been malicious) from wheels only under
# target/litellm: two to three minutes once, then some seconds. The proxy answers with mock replies:
# no key, no model and no network are used. Needs python3.
#
#   tests/litellm/run.sh [PROGRAM]     built unless given
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work="$root/target/litellm"
port=${PORT:-8092}
[ $# -gt 0 ] || (cd "$root" && cargo build --quiet)
roundtable=$(realpath "${1:-$root/target/debug/roundtable}")
mkdir -p "$work/home/config"

[ -x "$work/venv/bin/python" ] || python3 -m venv "$work/venv"
[ -x "$work/venv/bin/litellm" ] ||
  "$work/venv/bin/pip" install -q --disable-pip-version-check --only-binary :all: 'litellm[proxy]==1.81.13'

cat >"$work/config.yaml" <<'YAML'
model_list:
  - model_name: votes
    litellm_params: {model: openai/mock, api_key: none, mock_response: "vote: redis\nconfidence: 0.8\n"}
  - model_name: claude-votes
    litellm_params: {model: anthropic/claude-3-haiku-20240307, api_key: none, mock_response: "vote: redis\n"}
general_settings: {master_key: sk-roundtable-test}
YAML
# LiteLLM 1.81.13 cannot stream a mock reply over the Responses dialect.
cat >"$work/home/config/config.yaml" <<YAML
providers:
  messages: {api: anthropic, base_url: "http://127.0.0.1:$port", key_env: LITELLM_API_KEY}
  responses: {api: openai-responses, base_url: "http://127.0.0.1:$port/v1", key_env: LITELLM_API_KEY, stream: false}
YAML
cat >"$work/decide.yaml" <<'YAML'
question: Which cache first?
ballot: {kind: choice, options: [in-process, redis]}
rule: majority
participants: [software-architect, qa-lead, skeptic]
YAML

export LITELLM_LOCAL_MODEL_COST_MAP=True LITELLM_TELEMETRY=False
(cd "$work" && exec venv/bin/litellm --config config.yaml --host 127.0.0.1 --port "$port") >"$work/server.log" 2>&1 &
server=$!
trap 'kill $server 2>/dev/null || true' EXIT
for _ in $(seq 300); do grep -q 'startup complete' "$work/server.log" && break; kill -0 $server; sleep 0.2; done
grep -q 'startup complete' "$work/server.log"

export ROUNDTABLE_HOME="$work/home" LITELLM_API_KEY=sk-roundtable-test LITELLM_BASE_URL="http://127.0.0.1:$port/v1"
"$roundtable" doctor litellm/votes --probe
for model in litellm/votes messages/claude-votes messages/votes responses/votes; do
  session="$work/${model//\//-}.s2s"
  rm -f "$session"
  "$roundtable" --batch "$work/decide.yaml" --model "$model" --save "$session" --quiet | grep -oF '3 of 3 took part'
  "$roundtable" verify "$session" >/dev/null
  ! grep -q sk-roundtable-test "$session"
done
echo "ok: every seat answered over each dialect, and each session verifies"
