//! What changes while somebody looks.

use super::{Way, by_hand, way};

pub const WAYS: &[Way] = &[
    way(
        "a commit after the report",
        "good; work; program .git/hooks/post-index-change 'touch red'; touch red; work",
    ),
    way(
        "another branch",
        "good; touch red; work; git branch evil; git rm -q red; git commit -q -m x -m 'Cook-Slice: a'; git symbolic-ref HEAD refs/heads/evil; git reset -q",
    ),
    way(
        "a HEAD that is moved by a hook",
        "good; touch red; work; program .git/hooks/reference-transaction 'rm -f red'",
    ),
    way(
        "a daemon that swaps a file and puts it back",
        r##"good; echo evil >state; echo 'cat results; sleep 0.02; grep -qx good state' >test.sh; work; daemon sh -c 'while :; do for f in ~/.cache/clean-rooms/*/src/work/state; do test -e "$f" || continue; mv "$f" "$f.was" 2>/dev/null && { echo good >"$f"; sleep 0.03; mv "$f.was" "$f"; }; done; done'"##,
    ),
    way(
        "a daemon that moves the branch",
        r##"good; work; was=$(git rev-parse HEAD); touch red; work; now=$(git rev-parse HEAD); rm red; git update-index --assume-unchanged red; daemon sh -c "while :; do git update-ref HEAD $was; sleep 0.02; git update-ref HEAD $now; sleep 0.02; done""##,
    ),
    way(
        "a daemon that swaps an object",
        r##"good; echo evil >state; echo 'cat results; grep -qx good state' >test.sh; work; id=$(git rev-parse HEAD:state); file=$PWD/.git/objects/${id:0:2}/${id:2}; chmod u+w "$file"; cp "$file" "$OUT/was"; perl -MCompress::Zlib -e 'print compress("blob 5\0good\n")' >"$OUT/other"; chmod u+w .git/objects/${id:0:2}; daemon sh -c "while :; do cp '$OUT/other' '$file.new'; mv -f '$file.new' '$file'; sleep 0.01; cp '$OUT/was' '$file.new'; mv -f '$file.new' '$file'; sleep 0.01; done"; echo good >state; git update-index --assume-unchanged state"##,
    ),
    way(
        "a daemon that swaps the settings",
        r##"good; touch red; work; git update-index --assume-unchanged .agent/cook.toml; cp .agent/cook.toml "$OUT/was"; sed 's/^run = .*/run = "cat results"/' .agent/cook.toml >"$OUT/other"; daemon sh -c "while :; do cp '$OUT/other' .agent/cook.toml; sleep 0.02; cp '$OUT/was' .agent/cook.toml; sleep 0.02; done""##,
    ),
    way(
        "a daemon that clears the index",
        r##"good; touch red; work; rm red; daemon sh -c 'while :; do git update-index --assume-unchanged red 2>/dev/null; sleep 0.02; git update-index --no-assume-unchanged red 2>/dev/null; sleep 0.02; done'"##,
    ),
    way(
        "a commit after the end",
        r##"good; work; once_done 'touch red; git add red; git commit -q -m later'"##,
    ),
    by_hand(
        "a daemon that adds a file to the rooms",
        r##"good; echo 'cat results; sleep 0.05; test -e helper' >test.sh; work; daemon sh -c 'while :; do for d in ~/.cache/clean-rooms/*/src/work; do test -e "$d/test.sh" && touch "$d/helper"; done; sleep 0.005; done'"##,
    ),
    by_hand(
        "a daemon that swaps a directory of the rooms",
        r##"good; mkdir d; echo evil >d/state; echo 'cat results; sleep 0.05; grep -qx good d/state' >test.sh; work; daemon sh -c 'while :; do for d in ~/.cache/clean-rooms/*/src/work/d; do test -e "$d/state" || continue; mv "$d" "$d.was" && mkdir "$d" && echo good >"$d/state"; sleep 0.2; rm -r "$d"; mv "$d.was" "$d"; done; sleep 0.005; done'"##,
    ),
];
