# shellcheck shell=bash
# The options, values and subcommands that each command names in its help; those that every command has are left out.
options() {
  local label="cook $* --help" status=0
  "$COOK" "$@" --help >"$ROOM/help" 2>"$ROOM/err" || status=$?
  grep -oE '^ +(-[A-Za-z], )?--[a-z][a-z-]*|^ +- [a-z-]+:|^  [a-z][a-z-]+  |^Usage: .*' "$ROOM/help" |
    tr -d ' ' | grep -vE '^(-C,--dir|--color|--json|-q,--quiet|-v,--verbose|-h,--help|help|-(auto|always|never):)$' | sort -u >"$ROOM/out"
  transcribe "$label, its options" text "$status"
}
for command in init next record run verify check gate trust status log undo pause resume cancel brief hook hooks ask \
  act session issue push pull report strength calibrate attest mcp doctor demo completions; do
  options "$command"
done
for command in note check show render say import export guide; do options brief "$command"; done
for command in install check remove attach; do options hooks "$command"; done
for command in log show tree verify name export import gc open; do options session "$command"; done
for command in ready show claim close comment create status; do options issue "$command"; done
options attest verify
for shell in bash zsh fish; do
  record "cook completions $shell, whether it prints something" text sh -c "cook completions $shell | grep -c cook | tr '0-9' 'n' | tr -s n"
done
cook completions no-such-shell
