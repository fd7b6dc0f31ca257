# shellcheck shell=bash
# `cook init`: what it makes, repairs and takes in.
fresh first
cook init
json init --yes
cook init --mission "Build it" --yes
cook init --mission "Another" --yes
rm .agent/mission.md
cook next
cook init
json init
cook init --commit
any git status --short
cook status

note "a mission from a file, and less of the protocol"
fresh second
printf 'Build it\n\nWith care.\n' >MISSION
save "Begin"
cook init --mission-file MISSION --assurance lite --commit --as-user
cook status
cook next
any cat .agent/cook.toml
cook init --assurance no-such
cook init --assurance strict --as-user

note "gates that are found"
with_remote third
cook init --mission "Build it" --commit
any cat .agent/cook.toml
cook gate
cook trust 'make test' --as-user
cook gate
json gate --clean
cook gate test --clean --fresh

note "plans of other tools"
fresh fourth
printf '# Plan\n\n- [ ] count the words\n- [x] read a file\n  - [ ] say when it is not there\n' >TODO.md
save "Begin"
cook init --mission "Build it" --from TODO.md --commit
folded cook plan criteria -- criteria
cook init --from no-such-file
cook issue status
json issue status
cook issue ready
json issue ready
cook issue show no-such
cook issue create "a third thing"
cook init --tick --as-user
