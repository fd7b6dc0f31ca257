# shellcheck shell=bash
# `cook verify` of a done job: scopes, options, formats, and a contract that changed.
# shellcheck source=tests/contract/stages.sh
source "$CONTRACT/stages.sh"
done_job tally
quietly git branch base
codes verify
cook verify control-plane
cook verify stop
cook verify slice words
json verify slice words
cook verify slice no-such-slice
json verify slice no-such-slice
cook verify --strict
codes verify --strict --rerun
json verify --strict --rerun=head
cook verify --format github
record "cook verify --format sarif" json "$COOK" verify --format sarif
cook verify --base base
codes verify --base base --strict
cook verify --base no-such-ref

note "the contract changes after the base"
printf '\nMore.\n' >>.agent/mission.md
git add --force .agent/mission.md
git commit --quiet --message "Change the mission"
cook verify --base base
json verify --base base
codes verify --strict
cook next
