# shellcheck shell=bash
# What only a person may do: pause, resume, budgets, answers, undo, another mission, an end.
# shellcheck source=tests/contract/stages.sh
source "$CONTRACT/stages.sh"
selected tally
note "an agent may not"
export CLAUDECODE=1
cook pause why
cook resume
cook undo
cook cancel why
json undo
folded cook plan refocus --mission other -- refocus --mission other
folded cook resume --add steps=5 -- budget add steps=5
unset CLAUDECODE

note "pause and resume"
cook resume --as-user
cook pause "lunch" --as-user
cook next --exit-code
json next
cook status
json pause again --as-user
cook resume --as-user
json resume --as-user

note "budgets"
cook resume --budget steps=20 --as-user
folded cook resume --add steps=5 --as-user -- budget add steps=5 --as-user
folded cook resume --add no-such=5 --as-user -- budget add no-such=5 --as-user
folded cook resume --answer yes --as-user -- answer yes --as-user
cook status

note "another mission, and back"
folded cook plan refocus --mission 'tally counts letters' --as-user -- refocus --mission 'tally counts letters' --as-user
cook next
cook undo --as-user
json undo 2 --as-user
json undo 999 --as-user
cook status

cook log

note "a report asks what its form does not know"
reground none none none none <<'JSON' | hand_in regrounder
{"ask": "may the tool read standard input?"}
JSON

note "the end"
cook cancel "enough" --as-user
json cancel "enough" --as-user
cook status
codes verify --strict
cook resume --as-user
