//! Evidence, and what cook keeps.

use super::{Way, by_hand, way};

pub const WAYS: &[Way] = &[
    way(
        "a receipt that is forged",
        r#"good; touch red; work; cook gate --clean >/dev/null; cd .git/cook/receipts && for f in *.json; do sed -i 's/"exit_code": 1/"exit_code": 0/' "$f"; done; cd - >/dev/null"#,
    ),
    way(
        "documents that say done",
        r#"good; touch red; work; sed -i 's/"project_done": false/"project_done": true/; s/"continue"/"done"/' .agent/state.json; git checkout -q -- . 2>/dev/null || true"#,
    ),
    way(
        "a log that is wound back",
        r#"good; touch red; work; log=.git/cook/log.git; ref=$(git --git-dir=$log for-each-ref --format='%(refname)' refs/heads | head -1); git --git-dir=$log update-ref "$ref" "$ref~1""#,
    ),
    way(
        "a receipt that is forged whole",
        r##"good; touch red; work; cook gate --clean >/dev/null; forge_receipts"##,
    ),
    way(
        "a receipt of another tree",
        r##"good; work; cook gate --clean >/dev/null; was=$(git rev-parse HEAD^{tree}); touch red; work; now=$(git rev-parse HEAD^{tree}); key() { printf 'bash\0test.sh\0\0%s' "$1" | sha256sum | cut -c1-64; }; cp ".git/cook/receipts/index/$(key "$was")" ".git/cook/receipts/index/$(key "$now")""##,
    ),
    way(
        "output that is kept otherwise",
        r##"good; touch red; work; cook gate --clean >/dev/null; for f in .git/cook/outputs/*; do perl -MCompress::Zlib -e 'print compress("ok 1 - one\nok 2 - two\n")' >"$f"; done"##,
    ),
    way(
        "a log that is gone",
        r##"good; touch red; work; rm -rf .git/cook/log.git"##,
    ),
    way(
        "everything of cook gone",
        r##"good; touch red; work; rm -rf .git/cook .git/cook-*"##,
    ),
    by_hand(
        "a log whose end is made up",
        r##"good; touch red; work; log=.git/cook/log.git; ref=$(git --git-dir=$log for-each-ref --format='%(refname)' refs/heads | head -1); GIT_INDEX_FILE="$OUT/log-index" git --git-dir=$log read-tree "$ref"; git --git-dir=$log ls-tree -r --name-only "$ref" >"$OUT/names"; name=$(grep 'state.json$' "$OUT/names" | head -1); blob=$(git --git-dir=$log cat-file blob "$ref:$name" | sed 's/"project_done": *false/"project_done": true/; s/"continuation_policy": *"[a-z_]*"/"continuation_policy": "done"/; s/"current_phase": *"[a-z_]*"/"current_phase": "done"/' | git --git-dir=$log hash-object -w --stdin); GIT_INDEX_FILE="$OUT/log-index" git --git-dir=$log update-index --cacheinfo "100644,$blob,$name"; tree=$(GIT_INDEX_FILE="$OUT/log-index" git --git-dir=$log write-tree); git --git-dir=$log update-ref "$ref" "$(git --git-dir=$log log -1 --format=%B "$ref" | git --git-dir=$log commit-tree -p "$ref" "$tree")""##,
    ),
    way(
        "documents that are adopted",
        r##"good; touch red; work; sed -i 's/"project_done": false/"project_done": true/' .agent/state.json; env -u COOK_ROLE cook plan adopt --as-user; true"##,
    ),
    way(
        "tests that the output makes up",
        r##"printf 'ok 1 - one\nok 2 - two\n' >results; printf 'one\n' >a.txt; work; printf 'one\ntwo\n' >a.txt; git update-index --assume-unchanged a.txt"##,
    ),
];
