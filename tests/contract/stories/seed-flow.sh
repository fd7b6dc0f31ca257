# The smoke flow that the protocol was seeded with, as far as it does not depend on a race.
source "$CONTRACT/frozen/seed.sh"
reports="$ROOM/reports"
mkdir -p "$reports"
fresh empty-flow
cook init --mission "smoke-test mission"
any ls .agent
any bash .agent/verify_completion_control_plane.sh
any bash .agent/verify_completion_stop.sh
write_selected ''
any bash .agent/verify_completion_control_plane.sh
json verify control-plane
write_selected '  "priority": 1,
  "why_now": "smoke test exact handoff",
'
any bash .agent/verify_completion_stop.sh
any bash .agent/verify_completion_control_plane.sh
any bash .agent/verify_completion_control_plane.sh --strict
cook next
json next
json verify
