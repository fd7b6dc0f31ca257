# shellcheck shell=bash disable=SC2016
# No done where a clone would fail: gates that are red, that need what is not committed, and a lying report.
# shellcheck source=tests/contract/stages.sh
source "$CONTRACT/stages.sh"
selected tally
note "a commit that is not there"
implemented "C-words, C-top" words "count the words of a file" |
  sed 's/^Commit SHA: .*/Commit SHA: 0123456789012345678901234567890123456789/' | hand_in implementer
note "no commit of the slice"
implemented "C-words, C-top" words "count the words of a file" | hand_in implementer

note "a red gate, whatever the report says"
write_words
sed -i 's/wc -w/wc -l/' tally
commit words "Count words"
implemented "C-words, C-top" words "count the words of a file" | hand_in implementer
cook next
json next
json gate

note "green in the worktree alone"
sed -i 's/wc -l/wc -w/' tally
printf 'tally.local\n' >>.git/info/exclude
cook gate
cook gate --clean
implemented "C-words, C-top" words "count the words of a file" | hand_in implementer

note "a file that git ignores is needed"
printf 'wc -w <"$1"\n' >tally.local
sed -i 's/wc -w <"$2"/bash tally.local "$2"/' tally
commit words "Count words by a helper"
cook gate
cook gate --clean
implemented "C-words, C-top" words "count the words of a file" | hand_in implementer
cook status
cook log
json log -n 2
