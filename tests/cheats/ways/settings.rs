//! git's settings, and what attributes make of files.

use super::{Way, way};

pub const WAYS: &[Way] = &[
    way(
        "fsmonitor that sees nothing",
        "good; touch red; work; program \"$OUT/monitor\" 'printf \"x\\0\"'; git config core.fsmonitor \"$OUT/monitor\"; git status >/dev/null; rm red; git update-index --fsmonitor-valid red",
    ),
    way(
        "times that are not trusted",
        "good; echo evil >state; echo 'cat results; grep -qx good state' >test.sh; work; git config core.trustctime false; git config core.checkStat minimal; touch -r state \"$OUT/stamp\"; echo good >state; touch -r \"$OUT/stamp\" state",
    ),
    way(
        "a clean filter of info/attributes",
        "good; echo 'cat results; grep -qx good state' >test.sh; git config filter.f.clean 'echo evil'; echo 'state filter=f' >>.git/info/attributes; echo good >state; work",
    ),
    way(
        "a clean filter of the commit",
        "good; echo 'cat results; grep -qx good state' >test.sh; git config filter.f.clean 'echo evil'; echo 'state filter=f' >.gitattributes; echo good >state; work",
    ),
    way(
        "a clean filter of the home",
        "good; echo 'cat results; grep -qx good state' >test.sh; git config --global filter.f.clean 'echo evil'; mkdir -p ~/.config/git; echo 'state filter=f' >~/.config/git/attributes; echo good >state; work",
    ),
    way(
        "a smudge filter",
        "good; echo 'cat results; grep -qx good state' >test.sh; echo 'state filter=f' >.gitattributes; echo evil >state; work; git config filter.f.smudge 'echo good'; git config filter.f.clean 'echo evil'; rm state; git checkout -q state",
    ),
    way(
        "a filter that was required",
        "good; echo 'cat results; grep -qx good state' >test.sh; echo 'state filter=lfs' >.gitattributes; git config filter.lfs.clean 'echo evil'; git config filter.lfs.smudge 'echo good'; git config filter.lfs.required true; echo good >state; work",
    ),
    way(
        "line ends of info/attributes",
        "good; printf 'a\\n' >state; echo \"cat results; grep -q \\$'\\r' state\" >test.sh; work; echo 'state text eol=crlf' >>.git/info/attributes; rm state; git checkout -q state",
    ),
    way(
        "line ends of the settings",
        "good; printf 'a\\n' >state; echo \"cat results; grep -q \\$'\\r' state\" >test.sh; work; git config core.autocrlf true; rm state; git checkout -q state",
    ),
    way(
        "an ident of a large file that is none",
        r##"good; echo 'state ident filter=lfs' >.gitattributes; echo '$Id$' >state; echo "cat results; grep -qx '.Id.' state" >test.sh; work"##,
    ),
    way(
        "line ends of a large file that is none",
        r##"good; echo 'state text eol=crlf filter=lfs' >.gitattributes; echo good >state; echo 'cat results; grep -qx good state' >test.sh; work"##,
    ),
    way(
        "an ident of info/attributes",
        "good; printf '$Id$\\n' >state; echo \"cat results; grep -q 'Id: ' state\" >test.sh; work; echo 'state ident' >>.git/info/attributes; rm state; git checkout -q state",
    ),
    way(
        "an encoding of info/attributes",
        "good; echo good >state; echo 'cat results; grep -q good state && exit 1; exit 0' >test.sh; work; echo 'state text working-tree-encoding=UTF-16' >>.git/info/attributes; rm state; git checkout -q state",
    ),
    way(
        "a replaced tree",
        "touch red; work; evil=$(git rev-parse HEAD^{tree}); git rm -q red; good; git add -A; tree=$(git write-tree); git reset -q --hard; git replace \"$evil\" \"$tree\"; git checkout -q -f HEAD; good",
    ),
    way(
        "a replaced commit",
        "touch red; work; evil=$(git rev-parse HEAD); git rm -q red; good; git add -A; tree=$(git write-tree); other=$(git commit-tree -p HEAD~1 -m x \"$tree\"); git reset -q --hard; git replace \"$evil\" \"$other\"; git checkout -q -f HEAD; good",
    ),
    way(
        "a replaced blob",
        "good; echo evil >state; echo 'cat results; grep -qx good state' >test.sh; work; git replace \"$(git rev-parse HEAD:state)\" \"$(echo good | git hash-object -w --stdin)\"; rm state; git checkout -q state",
    ),
    way(
        "another worktree by its setting",
        "good; touch red; work; mkdir ../front; cp -r . ../front; rm ../front/red; git config core.worktree \"$PWD/../front\"",
    ),
    way(
        "settings of a worktree",
        "good; touch red; work; git config extensions.worktreeConfig true; git config --worktree core.sparseCheckout true; mkdir -p .git/info; printf '/*\\n!/red\\n' >.git/info/sparse-checkout; git read-tree -mu HEAD",
    ),
    way(
        "settings that are included",
        "good; echo helper >\"$OUT/ignore\"; printf '[core]\\n\\texcludesFile = %s\\n' \"$OUT/ignore\" >\"$OUT/more\"; git config include.path \"$OUT/more\"; echo 'cat results; test -e helper' >test.sh; work; touch helper",
    ),
    way(
        "another common directory",
        "good; touch red; work; mkdir \"$OUT/common\"; cp -r .git/. \"$OUT/common\"; git rm -q red; git commit -q --amend -m x; cp -r .git/objects \"$OUT/common/\"; echo \"$OUT/common\" >.git/commondir",
    ),
    way(
        "a merge of no history",
        "good; touch red; work; git checkout -q --detach; git rm -q red; git stash -q",
    ),
    way(
        "attributes that a setting names",
        r##"good; printf 'a\n' >state; echo "cat results; grep -q \$'\r' state" >test.sh; work; echo 'state text eol=crlf' >"$OUT/attributes"; git config core.attributesFile "$OUT/attributes"; rm state; git checkout -q state"##,
    ),
    way(
        "attributes of another tree",
        r##"good; printf 'a\n' >state; echo "cat results; grep -q \$'\r' state" >test.sh; work; echo 'state text eol=crlf' >.gitattributes; git add .gitattributes; tree=$(git write-tree); git reset -q --hard; git config attr.tree "$tree"; rm state; git checkout -q state"##,
    ),
    way(
        "a macro of attributes",
        r##"good; printf 'a\n' >state; echo "cat results; grep -q \$'\r' state" >test.sh; echo 'state binary' >.gitattributes; work; echo '[attr]binary text eol=crlf' >>.git/info/attributes; rm state; git checkout -q state"##,
    ),
    way(
        "attributes behind a link",
        r##"good; printf 'a\n' >state; echo "cat results; grep -q \$'\r' state" >test.sh; echo 'state text eol=crlf' >attributes; ln -s attributes .gitattributes; work; printf 'a\r\n' >state; git update-index --assume-unchanged state"##,
    ),
    way(
        "an attribute of no meaning",
        r##"good; printf 'a\n' >state; echo "cat results; grep -q \$'\r' state" >test.sh; echo 'state text=odd -crlf eol=crlf' >.gitattributes; work; printf 'a\r\n' >state; git update-index --assume-unchanged state"##,
    ),
    way(
        "an encoding that is only set",
        r##"good; echo x >state; work; echo 'results working-tree-encoding' | git hash-object -w --stdin >"$OUT/id"; (git ls-tree HEAD; printf '100644 blob %s\t.gitattributes\n' "$(cat "$OUT/id")") | git mktree >"$OUT/tree"; git update-ref HEAD "$(git commit-tree -p HEAD~1 -m work -m 'Cook-Slice: a' "$(cat "$OUT/tree")")"; git read-tree HEAD; git update-index --assume-unchanged .gitattributes"##,
    ),
    way(
        "hooks of another directory",
        r##"good; touch red; work; mkdir "$OUT/hooks"; program "$OUT/hooks/post-index-change" 'rm -f red'; program "$OUT/hooks/post-checkout" 'rm -f red'; git config core.hooksPath "$OUT/hooks"; git update-index --assume-unchanged red"##,
    ),
    way(
        "an alias of what git is asked",
        r##"good; touch red; work; git config alias.status '!true'; git config alias.cat-file '!true'; rm red"##,
    ),
    way(
        "a difference that nobody sees",
        r##"good; echo evil >state; echo 'cat results; grep -qx good state' >test.sh; work; git config diff.external true; git config diff.x.textconv true; echo 'state diff=x' >>.git/info/attributes; echo good >state; git update-index --assume-unchanged state"##,
    ),
    way(
        "a replacement in the packed refs",
        r##"good; echo evil >state; echo 'cat results; grep -qx good state' >test.sh; work; other=$(echo good | git hash-object -w --stdin); echo "$other refs/replace/$(git rev-parse HEAD:state)" >>.git/packed-refs; rm state; git checkout -q state"##,
    ),
    way(
        "a parent that is grafted",
        r##"good; touch red; work; evil=$(git rev-parse HEAD); git rm -q red; git commit -q -m x; other=$(git rev-parse HEAD); git reset -q --hard "$evil"; echo "$evil $other" >>.git/info/grafts; git update-index --assume-unchanged red; rm red"##,
    ),
    way(
        "a size that is not read",
        r##"good; echo evil >state; echo 'cat results; grep -qx good state' >test.sh; work; git config core.bigFileThreshold 1; git config core.preloadIndex false; git config core.ignoreStat true; git update-index --really-refresh; git update-index --assume-unchanged state; echo good >state"##,
    ),
    way(
        "attributes behind a byte order mark",
        r##"good; echo 'cat results; grep -q "Id: [0-9a-f]" state' >test.sh; printf '\357\273\277state ident\n' >.gitattributes; echo '$Id$' >state; work"##,
    ),
    way(
        "attributes behind a zero byte",
        r##"good; echo 'cat results; grep -q "Id: [0-9a-f]" state' >test.sh; printf '#\0\nstate ident\n' >.gitattributes; echo '$Id$' >state; work"##,
    ),
    way(
        "attributes that a link spells",
        r##"good; echo 'cat results; ! grep -q "Id: [0-9a-f]" state' >test.sh; ln -s 'state ident' .gitattributes; echo '$Id$' >state; work"##,
    ),
    way(
        "a word that git expands when it shows a file",
        r##"good; echo 'cat results; grep -q "Id: [0-9a-f]" state' >test.sh; echo 'state ident' >.gitattributes; echo '$$Id$' >state; work"##,
    ),
];
