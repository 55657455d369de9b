#!/usr/bin/env bash
# What action.yml runs: a session without a screen, its outputs, annotations and step summary.
# Takes FILE, ARGUMENTS, SAVE, JUNIT, FAIL and ROUNDTABLE from the environment, as the action sets them.
set -euo pipefail

program=${ROUNDTABLE:-roundtable}
if [ -z "${ROUNDTABLE:-}" ] && ! command -v roundtable >/dev/null; then
  # The action's own checkout is the program's source.
  cargo install --locked --quiet --path "$GITHUB_ACTION_PATH" --root "$RUNNER_TEMP/roundtable"
  program=$RUNNER_TEMP/roundtable/bin/roundtable
fi

arguments=()
while IFS= read -r argument; do
  if [ -n "$argument" ]; then arguments+=("$argument"); fi
done <<<"${ARGUMENTS:-}"

case $FILE in
*.s2s) session=$FILE save=() ;;
*)
  # A file of an earlier run would be taken for the result of this one.
  session=${SAVE:-$(mktemp -d "$RUNNER_TEMP/session.XXXXXX")/session.s2s}
  save=(--save "$session")
  if [ -e "$session" ]; then echo "error: $session is there already" && exit 2; fi
  ;;
esac
# A line break would begin another output.
case $session in *$'\n'*) echo "error: the session's path has a line break" && exit 2 ;; esac

# The runner takes lines that begin with `::` for commands. Until the token comes again, it takes none:
# whatever participants say on the way is text.
token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
echo "::stop-commands::$token"
exit=0
result=$("$program" --batch --json=result ${save[@]+"${save[@]}"} ${arguments[@]+"${arguments[@]}"} \
  -- "$FILE") || exit=$?
echo "::$token::"

# One line of JSON, so it cannot begin another output. Its first `decided` is that of all questions.
decided=false
case ${result#*'"decided":'} in true,*) decided=true ;; esac
{
  echo "result=$result"
  echo "decided=$decided"
  echo "exit=$exit"
  echo "session=$session"
} >>"$GITHUB_OUTPUT"

if [ -f "$session" ]; then
  "$program" report "$session" --format github
  if [ -n "${JUNIT:-}" ]; then "$program" report "$session" --format junit --out "$JUNIT"; fi
  # A summary may have 1 MiB; a longer one would be refused whole.
  summary=$(mktemp)
  "$program" report "$session" --format md --out "$summary"
  if [ "$(wc -c <"$summary")" -le 1000000 ]; then
    cat "$summary" >>"$GITHUB_STEP_SUMMARY"
  else
    printf 'The report is too long for a summary; it is in the session file.\n' >>"$GITHUB_STEP_SUMMARY"
  fi
  rm -f "$summary"
fi

# Without a decision, unfinished, or unreachable: `fail` says. Anything else is a mistake.
case $exit in 0 | 3 | 4 | 5) if [ "$FAIL" != true ]; then exit=0; fi ;; esac
exit "$exit"
