//! What a commit points at.

use super::{Way, only_apart, outside, way};

pub const WAYS: &[Way] = &[
    way(
        "a link into the git directory",
        "good; ln -s \"$PWD/.git/helper\" helper; echo 'cat results; test -e helper' >test.sh; work; touch .git/helper",
    ),
    only_apart(
        "a link to the home",
        "good; touch ~/helper; ln -s ~/helper helper; echo 'cat results; test -e helper' >test.sh; work",
    ),
    outside(
        "a whole path into the worktree",
        "good; echo \"cat results; test -e $PWD/helper\" >test.sh; echo helper >>.gitignore; work; touch helper",
    ),
    only_apart(
        "a whole path beside it",
        "good; echo \"cat results; test -e $OUT/helper\" >test.sh; work; touch \"$OUT/helper\"",
    ),
    way(
        "a file in the home",
        "good; echo 'cat results; test -e ~/helper' >test.sh; work; touch ~/helper",
    ),
    outside(
        "an agent's directory",
        "good; mkdir -p ~/.claude; touch ~/.claude/helper; echo \"cat results; test -e $HOME/.claude/helper\" >test.sh; work",
    ),
    way(
        "a link that leads out by another link",
        r##"good; ln -s . d; up=$(printf 'd/%.0s' $(seq 20); printf '../%.0s' $(seq 20)); ln -s "$up${PWD#/}/.git/helper" helper; echo 'cat results; test -e helper' >test.sh; work; touch .git/helper"##,
    ),
    outside(
        "a link into a directory of an agent",
        r##"good; mkdir -p ~/.claude; touch ~/.claude/helper; ln -s ~/.claude/helper helper; echo 'cat results; test -e helper' >test.sh; work"##,
    ),
    outside(
        "a whole path into the git directory",
        r##"good; echo "cat results; test -e $PWD/.git/helper" >test.sh; work; touch .git/helper"##,
    ),
    only_apart(
        "a path that is put together",
        r##"good; echo "cat results; a=${PWD%/*}; test -e \$a/outside/helper" >test.sh; work; touch "$OUT/helper""##,
    ),
];
