#!/usr/bin/env bash
# The same agent behind a supplier's limit, which ends at the moment that $STATE/limit names
# (seconds since 1970); it speaks in events. The limit is met once. $STATE/outages lists what
# interrupts its next sessions, a word a line; those that came are noted in $STATE/outages.met.
set -uo pipefail
here="$(dirname -- "$(readlink -f -- "$0")")"
fail() {
  printf '{"type":"limit","message":"%s"}\n' "$1"
  exit 1
}
if [[ -s "$STATE/outages" ]]; then
  read -r word <"$STATE/outages"
  sed -i 1d "$STATE/outages"
  printf '%s\n' "$word" >>"$STATE/outages.met"
  case "$word" in
    login) fail "Not logged in. Please run /login" ;;
    model) fail "unknown model: gpt-0" ;;
    until) fail "usage limit reached|$(($(date +%s) + 1))" ;;
    overload) fail "529 overloaded, try again in 1s" ;;
    network) fail "connect ECONNRESET 127.0.0.1:1; try again in 1s" ;;
    offline) fail "connect ECONNREFUSED 127.0.0.1:1" ;;
    crash) kill -9 $$ ;;
    removed) rm -- "$0" ;;
  esac
fi
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
text="$("$here/agent.sh")"
text=${text//\\/\\\\}
text=${text//\"/\\\"}
text=${text//$'\n'/\\n}
text=${text//$'\t'/\\t}
session="$$"
[[ -f "$STATE/same" ]] && session=same
printf '{"type":"end","session":"%s","text":"%s","usage":{"input_tokens":1000,"output_tokens":100}}\n' "$session" "$text"
