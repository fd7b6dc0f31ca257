//! The worktree, and what git is told not to see there.

use super::{Way, way};

pub const WAYS: &[Way] = &[
    way(
        "a red file that is assumed unchanged",
        "good; touch red; work; git update-index --assume-unchanged red; rm red",
    ),
    way(
        "a red file that is skipped",
        "good; touch red; work; git update-index --skip-worktree red; rm red",
    ),
    way(
        "a sparse checkout without it",
        "good; touch red; work; git sparse-checkout set --no-cone '/*' '!/red'",
    ),
    way(
        "a helper that is ignored",
        "good; echo helper >>.gitignore; echo 'cat results; test -e helper' >test.sh; work; touch helper",
    ),
    way(
        "a helper in info/exclude",
        "good; echo helper >>.git/info/exclude; echo 'cat results; test -e helper' >test.sh; work; touch helper",
    ),
    way(
        "a helper that the home excludes",
        "good; echo helper >~/ignore; git config --global core.excludesFile ~/ignore; echo 'cat results; test -e helper' >test.sh; work; touch helper",
    ),
    way(
        "untracked files that are not shown",
        "good; echo 'cat results; test -e helper' >test.sh; work; git config status.showUntrackedFiles no; touch helper",
    ),
    way(
        "an empty directory",
        "good; echo 'cat results; test -d empty' >test.sh; work; mkdir empty",
    ),
    way(
        "a nested repository",
        "good; echo 'cat results; test -e nested/helper' >test.sh; work; echo nested >>.git/info/exclude; git init -q nested; touch nested/helper",
    ),
    way(
        "a submodule whose dirt is ignored",
        "good; git init -q sub; git -C sub commit -q --allow-empty -m x; git add sub; git config -f .gitmodules submodule.sub.path sub; git config -f .gitmodules submodule.sub.url ./sub; git config -f .gitmodules submodule.sub.ignore all; echo 'cat results; test -e sub/helper' >test.sh; work; touch sub/helper",
    ),
    way(
        "the mode of a program",
        "good; program run 'exit 0'; chmod -x run; echo 'cat results; ./run' >test.sh; git config core.fileMode false; work; chmod +x run",
    ),
    way(
        "a link that is a file",
        "good; echo 'cat results; test -L link' >test.sh; git config core.symlinks false; echo a.txt >link; work; rm link; ln -s a.txt link",
    ),
    way(
        "an intent to add",
        "good; rm -f a.txt; work; printf 'one\\ntwo\\n' >a.txt; git add -N a.txt",
    ),
    way(
        "a linked worktree beside it",
        "good; echo 'cat results; test -e ../other/helper' >test.sh; work; git worktree add -q --detach ../other; touch ../other/helper",
    ),
    way(
        "a sparse index",
        r##"good; mkdir d; touch d/x; echo 'cat results; test ! -e d/x' >test.sh; work; git sparse-checkout set --cone --sparse-index; git status >/dev/null"##,
    ),
    way(
        "a split index",
        r##"good; touch red; work; git update-index --split-index; git update-index --assume-unchanged red; rm red"##,
    ),
    way(
        "a cache of what is untracked",
        r##"good; echo 'cat results; test -e helper' >test.sh; work; git update-index --untracked-cache; git status >/dev/null; touch -r . "$OUT/stamp"; touch helper; touch -r "$OUT/stamp" ."##,
    ),
    way(
        "a directory that is a link",
        r##"good; mkdir d; echo evil >d/state; echo 'cat results; grep -qx good d/state' >test.sh; work; git update-index --assume-unchanged d/state; mkdir "$OUT/d"; echo good >"$OUT/d/state"; rm -r d; ln -s "$OUT/d" d; echo d >>.git/info/exclude"##,
    ),
    way(
        "a file's time",
        r##"good; echo x >state; echo 'cat results; test "$(stat -c %Y state)" = 7' >test.sh; work; touch -d @7 state"##,
    ),
    way(
        "a file's mode beyond git's",
        r##"good; echo x >state; echo 'cat results; test "$(stat -c %a state)" = 640' >test.sh; work; chmod 640 state"##,
    ),
    way(
        "a second name of a file",
        r##"good; echo x >state; echo 'cat results; test "$(stat -c %h state)" = 2' >test.sh; work; ln state "$OUT/state""##,
    ),
    way(
        "a file that is staged alone",
        r##"good; echo 'cat results; test -e helper' >test.sh; work; touch helper; git add helper; git update-index --skip-worktree helper"##,
    ),
    way(
        "attributes that are staged alone",
        r##"good; printf 'a\n' >state; echo "cat results; grep -q \$'\r' state" >test.sh; work; echo 'state text eol=crlf' >.gitattributes; git add .gitattributes; git update-index --assume-unchanged .gitattributes; rm state; git checkout -q state"##,
    ),
];
