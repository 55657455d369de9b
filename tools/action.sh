#!/usr/bin/env bash
# What action.yml runs: a session without a screen, its outputs, annotations and step summary.
# Takes FILE, ARGUMENTS, SAVE, JUNIT, FAIL and ROUNDTABLE from the environment, as the action sets them.
set -euo pipefail

arguments=()
while IFS= read -r argument; do
  if [ -n "$argument" ]; then arguments+=("$argument"); fi
done <<<"${ARGUMENTS:-}"

session=$SAVE
save=(--save "$SAVE")
case $FILE in *.s2s) session=$FILE save=() ;; esac

# The runner takes lines that begin with `::` for commands. Until the token comes again, it takes none:
# whatever participants say on the way is text.
token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
echo "::stop-commands::$token"
exit=0
result=$("$ROUNDTABLE" --batch --json=result ${save[@]+"${save[@]}"} ${arguments[@]+"${arguments[@]}"} \
  -- "$FILE") || exit=$?
echo "::$token::"

# One line of JSON, so it cannot begin another output.
decided=false
case $result in '{"v":1,'*'"decided":true,'*) decided=true ;; esac
{
  echo "result=$result"
  echo "decided=$decided"
  echo "exit=$exit"
  echo "session=$session"
} >>"$GITHUB_OUTPUT"

if [ -f "$session" ]; then
  "$ROUNDTABLE" report "$session" --format github
  if [ -n "${JUNIT:-}" ]; then "$ROUNDTABLE" report "$session" --format junit --out "$JUNIT"; fi
  # A summary may have 1 MiB; a longer one would be refused whole.
  summary=$(mktemp)
  "$ROUNDTABLE" report "$session" --format md --out "$summary"
  if [ "$(wc -c <"$summary")" -le 1000000 ]; then
    cat "$summary" >>"$GITHUB_STEP_SUMMARY"
  else
    printf 'The report is too long for a summary; it is in the session file.\n' >>"$GITHUB_STEP_SUMMARY"
  fi
  rm -f "$summary"
fi

if [ "$FAIL" = true ] || [ "$exit" -eq 1 ] || [ "$exit" -eq 2 ]; then exit "$exit"; fi
