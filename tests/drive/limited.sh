#!/usr/bin/env bash
# The same agent behind a supplier's limit, which ends at the moment that $STATE/limit names
# (seconds since 1970); it speaks in events. The limit is met once.
set -uo pipefail
if [[ -f "$STATE/limit" ]]; then
  until="$(cat "$STATE/limit")"
  rm "$STATE/limit"
  touch "$STATE/met"
  case "$until" in
    soon) printf '{"type":"limit","message":"529 overloaded, try again in 1s"}\n' ;;
    *) printf '{"type":"limit","message":"usage limit reached|%s"}\n' "$until" ;;
  esac
  exit 1
fi
if [[ -f "$STATE/login" ]]; then
  printf '{"type":"limit","message":"not logged in"}\n'
  exit 1
fi
text="$("$(dirname -- "$0")/agent.sh")"
text=${text//\\/\\\\}
text=${text//\"/\\\"}
text=${text//$'\n'/\\n}
text=${text//$'\t'/\\t}
session="$$"
[[ -f "$STATE/same" ]] && session=same
printf '{"type":"end","session":"%s","text":"%s","usage":{"input_tokens":1000,"output_tokens":100}}\n' "$session" "$text"
