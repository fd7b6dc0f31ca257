# shellcheck shell=bash
# The log of a done job travels: push, pull in a fresh clone, verify there and from afar, attest, report, pr.
# shellcheck source=tests/contract/stages.sh
source "$CONTRACT/stages.sh"
done_job tally
quietly git init --quiet --bare --initial-branch=main "$ROOM/hub.git"
git remote add origin "$ROOM/hub.git"
quietly git push --quiet --set-upstream origin main
cook push --dry-run
cook push
cook push --yes
json push
quietly git clone --quiet "$ROOM/hub.git" "$ROOM/clone"
cd "$ROOM/clone" || exit
cook next
cook verify --strict
codes verify --strict --from origin
cook verify --strict --rerun --trust-repo --from origin
json verify --strict --rerun --trust-repo --from origin
cook pull
json pull
codes verify --strict --rerun --trust-repo
json attest --strict --rerun --trust-repo
cook attest --strict --rerun --trust-repo --out "$ROOM/proof.intoto.jsonl"
record "the statements" json jq -s . "$ROOM/proof.intoto.jsonl"
: >"$ROOM/signers"
cook attest verify "$ROOM/proof.intoto.jsonl" --allowed-signers "$ROOM/signers"
json attest verify "$ROOM/proof.intoto.jsonl" --allowed-signers "$ROOM/signers"
printf '{}\n' >"$ROOM/bad.intoto.jsonl"
cook attest verify "$ROOM/bad.intoto.jsonl" --allowed-signers "$ROOM/signers"
cook attest verify "$ROOM/bad.intoto.jsonl"
json report --html "$ROOM/page.html"
record "the page's headings" text sh -c "grep -oE '<(h[1-3]|title)[^>]*>[^<]*' '$ROOM/page.html' | sed 's/<[^>]*>//'"
folded codes report --format pr -- pr
record "the headings of the pull request" text sh -c "grep '^##' '$ROOM/out'"
folded json report --format pr -- pr

note "two sides that both went on"
cd "$ROOM/tally" || exit
printf 'more\n' >>README.md
git commit --quiet --all --message "More"
cook resume --as-user
cook push
cd "$ROOM/clone" || exit
cook pause here --as-user
cook pull
cook pull --keep-mine
cook push
cook pull --accept --as-user
cook status
note "addresses that are wrong"
cook push no-such-remote
cook pull no-such-remote
cook verify --from "$ROOM/no-such.git"
