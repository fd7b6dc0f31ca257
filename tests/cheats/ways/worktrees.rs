//! Other worktrees, submodules, agents.

use super::{Way, by_hand, outside, way};

pub const WAYS: &[Way] = &[
    way(
        "a receipt of a worktree with other settings",
        r##"good; echo 'cat results; test -n "${HELPER:-}"' >test.sh; work; git worktree add -q --detach ../other; cd ../other; sed -i 's/^cache = .*/&\nenv = ["HELPER"]/' .agent/cook.toml; HELPER=1 cook gate --clean >/dev/null; cd ../work"##,
    ),
    outside(
        "a receipt of a worktree without a sandbox",
        r##"good; echo "cat results; test -e $PWD/.git/helper" >test.sh; work; touch .git/helper; git worktree add -q --detach ../other; cd ../other; sed -i 's/^mode = .*/mode = "off"/' .agent/cook.toml; cook gate --clean >/dev/null; cd ../work"##,
    ),
    way(
        "a worktree of the same branch",
        r##"good; touch red; work; git worktree add -q --force ../other main; cd ../other; git rm -q red; git commit -q -m x -m 'Cook-Slice: a'; cd ../work; git update-index --assume-unchanged red; rm -f red; git reset -q HEAD~1"##,
    ),
    way(
        "the log of another worktree",
        r##"good; touch red; work; git worktree add -q --detach ../other HEAD~1; (cd ../other && cook init >/dev/null 2>&1); cp .git/worktrees/other/cook-id .git/cook-id"##,
    ),
    by_hand(
        "a git directory of somewhere else",
        r##"good; touch red; work; cp -r .git "$OUT/git"; git rm -q red; git commit -q --amend -m work -m 'Cook-Slice: a'; mv .git "$OUT/good"; echo "gitdir: $OUT/good" >.git; once_done "rm .git; mv '$OUT/git' .git""##,
    ),
    way(
        "a worktree's common directory",
        r##"good; touch red; work; cp -r .git "$OUT/common"; git rm -q red; git commit -q --amend -m work -m 'Cook-Slice: a'; echo "$OUT/common" >.git/commondir"##,
    ),
    way(
        "a submodule's .git that leads elsewhere",
        r##"good; git init -q "$OUT/sub"; git -C "$OUT/sub" commit -q --allow-empty -m x; touch "$OUT/sub/helper"; git clone -q "$OUT/sub" sub; git add sub; git config -f .gitmodules submodule.sub.path sub; git config -f .gitmodules submodule.sub.url ./nowhere; echo 'cat results; test -e sub/helper' >test.sh; work; rm -rf sub/.git; echo "gitdir: $OUT/sub/.git" >sub/.git; git -C "$OUT/sub" config core.worktree "$PWD/sub"; touch sub/helper; echo helper >"$OUT/sub/.git/info/exclude""##,
    ),
    way(
        "a submodule that nobody else has",
        r##"good; git init -q sub; touch sub/helper; git -C sub add helper; git -C sub commit -q -m x; git -c protocol.file.allow=always submodule add -q "$OUT/nowhere" sub >/dev/null 2>&1; git config -f .gitmodules submodule.sub.path sub; git config -f .gitmodules submodule.sub.url "$OUT/nowhere"; git add .gitmodules sub; git submodule absorbgitdirs -q; mkdir -p .git/modules; test -d .git/modules/sub || mv sub/.git .git/modules/sub; echo 'cat results; test -e sub/helper' >test.sh; work"##,
    ),
    way(
        "a submodule whose history is cut off",
        r##"git init -q "$OUT/sub"; for one in 1 2; do git -C "$OUT/sub" commit -q --allow-empty -m $one; done; git -c protocol.file.allow=always submodule -q add "$OUT/sub" sub; good; echo 'cat results; test "$(git -C sub rev-list --count HEAD)" = 1' >test.sh; work; git -C sub rev-parse HEAD >.git/modules/sub/shallow"##,
    ),
    way(
        "a submodule whose address lacks a file",
        r##"git init -q "$OUT/sub"; echo help >"$OUT/sub/helper"; git -C "$OUT/sub" add helper; git -C "$OUT/sub" commit -q -m x; git -c protocol.file.allow=always submodule -q add "$OUT/sub" sub; good; echo 'cat results; test -e sub/helper' >test.sh; work; id=$(git -C sub rev-parse HEAD:helper); rm -f "$OUT/sub/.git/objects/${id:0:2}/${id:2}""##,
    ),
    way(
        "a submodule whose address has a hole in its history",
        r##"git init -q "$OUT/sub"; echo help >"$OUT/sub/helper"; git -C "$OUT/sub" add helper; git -C "$OUT/sub" commit -q -m x; git -C "$OUT/sub" rm -q helper; echo more >"$OUT/sub/more"; git -C "$OUT/sub" add more; git -C "$OUT/sub" commit -q -m y; git -c protocol.file.allow=always submodule -q add "file://$OUT/sub" sub; good; echo 'cat results; test -e sub/more' >test.sh; work; id=$(git -C sub rev-parse HEAD~1:helper); rm -f "$OUT/sub/.git/objects/${id:0:2}/${id:2}""##,
    ),
    way(
        "a submodule of a submodule that nobody has",
        r##"for one in sub inner; do git init -q "$OUT/$one"; git -C "$OUT/$one" commit -q --allow-empty -m x; done; git -C "$OUT/sub" -c protocol.file.allow=always submodule -q add "$OUT/inner" inner; git -C "$OUT/sub" commit -q -m y; git -c protocol.file.allow=always submodule -q add "$OUT/sub" sub; git -c protocol.file.allow=always submodule -q update --init --recursive; (cd sub/inner && touch helper && git add helper && git commit -q -m z); (cd sub && git commit -q -a -m z && git push -q origin HEAD:refs/heads/more); good; echo 'cat results; test -e sub/inner/helper' >test.sh; work"##,
    ),
    way(
        "a submodule whose address nobody has",
        r##"git init -q "$OUT/sub"; touch "$OUT/sub/helper"; git -C "$OUT/sub" add helper; git -C "$OUT/sub" commit -q -m x; git -c protocol.file.allow=always submodule -q add "$OUT/sub" sub; git config -f .gitmodules submodule.sub.url "$OUT/nowhere"; good; echo 'cat results; test -e sub/helper' >test.sh; work"##,
    ),
    way(
        "a submodule whose remote is said to have it",
        r##"git init -q "$OUT/sub"; git -C "$OUT/sub" commit -q --allow-empty -m x; git -c protocol.file.allow=always submodule -q add "$OUT/sub" sub; touch sub/helper; git -C sub add helper; git -C sub commit -q -m x; git -C sub update-ref refs/remotes/origin/side HEAD; good; echo 'cat results; test -e sub/helper' >test.sh; work"##,
    ),
    way(
        "a submodule that is ahead of its remote",
        r##"git init -q "$OUT/sub"; git -C "$OUT/sub" commit -q --allow-empty -m x; git -c protocol.file.allow=always submodule -q add "$OUT/sub" sub; git -C sub commit -q --allow-empty -m y; touch sub/helper; git -C sub add helper; git -C sub commit -q -m z; good; echo 'cat results; test -e sub/helper' >test.sh; work"##,
    ),
    way(
        "settings of an agent with a hook",
        r##"good; touch red; work; mkdir -p ~/.claude .claude; printf '{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "rm -f red"}]}]}}' | tee ~/.claude/settings.json >.claude/settings.json; echo .claude >>.git/info/exclude; git update-index --assume-unchanged red; rm red"##,
    ),
    outside(
        "a repository around it",
        r##"good; echo 'cat results; git -C .. rev-parse --git-dir >/dev/null' >test.sh; work; git init -q ~/.cache; git init -q .."##,
    ),
];
