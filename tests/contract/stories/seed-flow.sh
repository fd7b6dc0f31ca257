# shellcheck shell=bash
# The smoke flow that the protocol was seeded with, as far as it does not depend on a race.
# shellcheck source=tests/contract/frozen/seed.sh
source "$CONTRACT/frozen/seed.sh"
reports="$ROOM/reports"
mkdir -p "$reports"
fresh empty-flow
cook init --mission "smoke-test mission"
any ls .agent
any bash .agent/verify_completion_control_plane.sh
record "the last lines of the stop verifier" text sh -c "bash .agent/verify_completion_stop.sh | tail -n 3"
write_selected ''
record "bash .agent/verify_completion_control_plane.sh" codes bash .agent/verify_completion_control_plane.sh
json verify control-plane
write_selected '  "priority": 1,
  "why_now": "smoke test exact handoff",
'
record "the last lines of the stop verifier" text sh -c "bash .agent/verify_completion_stop.sh | tail -n 3"
record "bash .agent/verify_completion_control_plane.sh" codes bash .agent/verify_completion_control_plane.sh
record "bash .agent/verify_completion_control_plane.sh --strict" codes bash .agent/verify_completion_control_plane.sh --strict
cook next
json next
codes verify
