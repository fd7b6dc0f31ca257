# shellcheck shell=bash
# What only shows, in four states of a job, and as JSON.
# shellcheck source=tests/contract/stages.sh
source "$CONTRACT/stages.sh"
readers() {
  cook next
  json next
  folded cook next --why -- why
  folded json next --why -- why
  cook status
  json status
  folded json status --ready -- ready
  folded json status --graph -- graph
  folded json status --cost -- cost
  folded json plan criteria -- criteria
}
at 09:10
selected first
note "a slice is selected"
readers
folded cook status --ready -- ready
folded cook status --graph -- graph
folded cook plan criteria -- criteria
record "cook next --prompt, its headings and its form" text sh -c "cook next --prompt | sed -n '/^#/p; /^## Your report/,\$p'"
at 09:30
implemented_words second
note "it is committed"
cook next
json next
cook status
folded cook next --why -- why
at 10:00
accepted_words third
note "it is accepted"
cook next
cook status
folded cook plan criteria words -- criteria words
folded cook plan criteria no-such -- criteria no-such
cook log
folded cook log 3 -- show 3
folded json log 3 -- show 3
folded cook log 999 -- show 999
codes log -n 0
folded json log 2..3 -- diff 2 3
json doctor
cook doctor --config
folded cook doctor fsck -- fsck
folded json doctor fsck -- fsck
folded cook doctor rescue list -- rescue list
folded json doctor rescue list -- rescue list
folded cook doctor agents -- agents
json gate
cook gate no-such-gate
codes brief
folded cook brief recover -- recover
folded json brief recover -- recover
folded cook brief checkpoint 'DONE: words; NEXT: top' -- checkpoint 'DONE: words; NEXT: top'
folded json brief checkpoint 'DONE: words; NEXT: top' -- checkpoint 'DONE: words; NEXT: top'
cook run --estimate
json run --estimate
