//! Objects, and what leads to them.

use super::{Way, by_hand, way};

pub const WAYS: &[Way] = &[
    way(
        "a loose object with other bytes",
        r#"good; echo evil >state; echo 'cat results; grep -qx good state' >test.sh; work; id=$(git rev-parse HEAD:state); file=.git/objects/${id:0:2}/${id:2}; chmod u+w "$file"; perl -MCompress::Zlib -e 'print compress("blob 5\0good\n")' >"$file"; rm state; echo good >state"#,
    ),
    way(
        "objects of somewhere else",
        "good; echo evil >state; echo 'cat results; grep -qx good state' >test.sh; work; git init -q \"$OUT/evil\"; echo good | git -C \"$OUT/evil\" hash-object -w --stdin >/dev/null; echo \"$OUT/evil/.git/objects\" >>.git/objects/info/alternates; echo good >state; git update-index --assume-unchanged state",
    ),
    way(
        "a blob that nothing names",
        "good; blob=$(echo x | git hash-object -w --stdin); echo \"cat results; git cat-file -e $blob\" >test.sh; work",
    ),
    way(
        "a branch that is not pushed",
        "good; git branch helper; echo 'cat results; git rev-parse -q --verify refs/heads/helper' >test.sh; work",
    ),
    way(
        "a note",
        "good; echo 'cat results; git notes list | grep -q .' >test.sh; work; git notes add -m x",
    ),
    way(
        "a setting that the gate reads",
        "good; echo 'cat results; git config cheat.on' >test.sh; work; git config cheat.on true",
    ),
    way(
        "a file in the git directory",
        "good; echo 'cat results; test -e .git/helper' >test.sh; work; touch .git/helper",
    ),
    way(
        "a shallow clone of itself",
        "good; echo 'cat results; test -e .git/shallow' >test.sh; work; git rev-parse HEAD >.git/shallow",
    ),
    way(
        "a pack whose index lies",
        r##"good; echo good >state; work; was=$(git rev-parse HEAD:state); echo evil >state; echo 'cat results; grep -qx good state' >test.sh; work; git repack -qad; lead_astray "$(git rev-parse HEAD:state)" "$was"; rm state; git checkout -q state"##,
    ),
    way(
        "an index of many packs that lies",
        r##"good; echo good >state; work; was=$(git rev-parse HEAD:state); echo evil >state; echo 'cat results; grep -qx good state' >test.sh; work; git repack -qad; git multi-pack-index write; lead_astray_in_many "$(git rev-parse HEAD:state)" "$was"; rm state; git checkout -q state"##,
    ),
    way(
        "an object of an older commit with other bytes",
        r##"good; echo evil >state; work; git rm -q state; echo 'cat results; test "$(git cat-file blob HEAD~1:state)" = good' >test.sh; work; forge "$(git rev-parse HEAD~1:state)" "blob 5\0good\n""##,
    ),
    way(
        "a pack whose index lies of an older commit",
        r##"good; echo good >state; work; was=$(git rev-parse HEAD:state); echo evil >state; work; git rm -q state; echo 'cat results; test "$(git cat-file blob HEAD~1:state)" = good' >test.sh; work; git repack -qad; lead_astray "$(git rev-parse HEAD~1:state)" "$was""##,
    ),
    way(
        "history whose bytes are others",
        r##"echo evil >state; git add state; git commit -q -m x; git rm -q state; good; work; forge "$(git rev-parse HEAD~1:state)" "blob 5\0good\n""##,
    ),
    way(
        "history with a hole",
        r##"echo evil >state; git add state; git commit -q -m x; git rm -q state; good; work; id=$(git rev-parse HEAD~1:state); rm -f ".git/objects/${id:0:2}/${id:2}""##,
    ),
    way(
        "a commit graph that lies",
        r##"good; echo 'cat results; git ls-files --error-unmatch helper >/dev/null' >test.sh; work; evil=$(git rev-parse HEAD^{tree}); touch helper; git add helper; tree=$(git write-tree); git reset -q --hard; rm -f helper; git commit-graph write --reachable; lie .git/objects/info/commit-graph "$evil" "$tree""##,
    ),
    way(
        "a commit graph that lies of an older commit",
        r##"touch helper; good; work; good_tree=$(git rev-parse HEAD^{tree}); git rm -q helper; git commit -q -m x; evil=$(git rev-parse HEAD^{tree}); echo 'cat results; git cat-file -e HEAD~1:helper' >test.sh; work; git commit-graph write --reachable; lie .git/objects/info/commit-graph "$evil" "$good_tree""##,
    ),
    way(
        "a tree that names a file twice",
        r##"good; echo evil >state; echo 'cat results; grep -qx good state' >test.sh; work; (git ls-tree HEAD; git ls-tree HEAD state | sed "s/[0-9a-f]\{40\}/$(echo good | git hash-object -w --stdin)/") | git mktree >"$OUT/tree" && git reset -q --soft "$(git commit-tree -p HEAD~1 -m work -m 'Cook-Slice: a' "$(cat "$OUT/tree")")"; echo good >state; git update-index --assume-unchanged state"##,
    ),
    way(
        "an entry of no mode",
        r##"good; echo 'cat results; grep -qx good state' >test.sh; work; (git cat-file tree HEAD; printf '0 state\0'; echo good | git hash-object -w --stdin | perl -ne 'chomp; print pack("H*", $_)') | git hash-object -t tree -w --literally --stdin >"$OUT/tree" && git reset -q --soft "$(git commit-tree -p HEAD~1 -m work -m 'Cook-Slice: a' "$(cat "$OUT/tree")")"; git reset -q; echo good >state; echo state >>.git/info/exclude"##,
    ),
    way(
        "a commit whose tree was written over",
        r##"good; touch red; work; evil=$(git rev-parse HEAD^{tree}); git rm -q --cached red; tree=$(git write-tree); git reset -q; git cat-file tree "$tree" >"$OUT/tree"; perl -MCompress::Zlib -e 'local $/; my $t = <STDIN>; print compress("tree ".length($t)."\0$t")' <"$OUT/tree" >"$OUT/object"; chmod u+w .git/objects/${evil:0:2}/${evil:2}; cp "$OUT/object" .git/objects/${evil:0:2}/${evil:2}; rm red"##,
    ),
    way(
        "objects whose alternates have alternates",
        r##"good; echo evil >state; echo 'cat results; grep -qx good state' >test.sh; work; id=$(git rev-parse HEAD:state); mkdir -p "$OUT/a/info" "$OUT/b/${id:0:2}"; echo "$OUT/b" >"$OUT/a/info/alternates"; echo "$OUT/a" >>.git/objects/info/alternates; perl -MCompress::Zlib -e 'print compress("blob 5\0good\n")' >"$OUT/b/${id:0:2}/${id:2}"; rm -f ".git/objects/${id:0:2}/${id:2}"; echo good >state; git update-index --assume-unchanged state"##,
    ),
    way(
        "a shallow history that is taken back",
        r##"good; echo 'cat results; test "$(git rev-list --count HEAD)" = 1' >test.sh; work; git rev-parse HEAD >.git/shallow; once_done 'rm -f .git/shallow'"##,
    ),
    by_hand(
        "a tag that is taken back",
        r##"good; echo 'cat results; git rev-parse -q --verify refs/tags/helper' >test.sh; work; git tag helper; once_done 'git tag -d helper'"##,
    ),
    way(
        "a directory that holds nothing",
        r##"good; echo 'cat results; echo >sub/x' >test.sh; work; empty=$(git hash-object -t tree -w /dev/null); tree=$( (git ls-tree HEAD; printf "040000 tree $empty\tsub\n") | git mktree); git reset -q --hard "$(git commit-tree -p HEAD -m work -m 'Cook-Slice: a' "$tree")""##,
    ),
    way(
        "a branch that lost an object",
        r##"good; work; git branch side; id=$(echo precious | git hash-object -w --stdin); tree=$(printf "100644 blob $id\tp\n" | git mktree); git branch -f side "$(git commit-tree -p HEAD -m side "$tree")"; rm -f ".git/objects/${id:0:2}/${id:2}""##,
    ),
    way(
        "a commit graph that lies",
        r##"good; work; git commit-graph write --reachable; graph=.git/objects/info/commit-graph; chmod u+w "$graph"; perl -MDigest::SHA=sha1 -e 'my ($f, $a, $b) = @ARGV; ($a, $b) = map { pack "H*", $_ } $a, $b; open F, "+<:raw", $f; local $/; my $d = <F>; $d = substr($d, 0, -20); my $at = rindex($d, $a); substr($d, $at, 20) = $b; seek F, 0, 0; print F $d . sha1($d)' "$graph" "$(git rev-parse HEAD~1^{tree})" "$(git rev-parse HEAD^{tree})""##,
    ),
    way(
        "bitmaps that lie",
        "good; work; git repack -qadb; lie_in_bitmaps",
    ),
    way(
        "a large file that a clone does not fetch",
        r##"good; mkdir -p .git/lfs/objects; echo good >state; id=$(sha256sum <state | cut -c1-64); dir=.git/lfs/objects/${id:0:2}/${id:2:2}; mkdir -p "$dir"; cp state "$dir/$id"; printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize 5\n' "$id" >state; echo 'state filter=lfs' >.gitattributes; git config -f .lfsconfig lfs.fetchexclude state; echo 'cat results; grep -qx good state' >test.sh; work"##,
    ),
    way(
        "grafts",
        "good; work; git rev-parse HEAD~1 >.git/info/grafts",
    ),
    way(
        "a HEAD that no clone is shown",
        "good; work; git config uploadpack.hideRefs HEAD",
    ),
    way(
        "a tag that no clone is shown",
        "good; echo 'cat results; git rev-parse -q --verify refs/tags/helper' >test.sh; work; git tag helper; git config transfer.hideRefs refs/tags",
    ),
    way(
        "a branch of no commit",
        "good; work; echo junk >.git/refs/heads/odd",
    ),
    way(
        "settings by which nothing is sent",
        "good; work; git config pack.indexVersion 9",
    ),
    way(
        "objects that a remote is said to have",
        r##"good; work; git checkout -q --orphan side; echo x >side; git add side; git commit -q -m side; id=$(git rev-parse HEAD:side); git checkout -q main; git config remote.x.promisor true; git config remote.x.url "$OUT/nowhere"; rm -f ".git/objects/${id:0:2}/${id:2}""##,
    ),
];
