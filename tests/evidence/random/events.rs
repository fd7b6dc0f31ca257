//! What others do between two reports, in shell.

use super::world::{SLICES, World};

/// What the events are made of.
const WORDS: &str = r#"
commit() { git add -A; git commit -q --allow-empty -m "$1 $n" -m "$trailer"; }
edit() { perl -pi -e "s/$value/$1/" $(git ls-files "$2"); }
both() { edit other code; edit other tests; }
small() { case $((n % 4)) in 0) edit broken code;; 1) edit bent tests;; 2) both;; *) echo "Word $n." >> notes.md;; esac; }
aside() { git checkout -q -B aside "$near"; small; commit Aside; git checkout -q main; }
undo() { [ -z "$1" ] || git revert --no-edit -X theirs "$1" || { git revert --abort; git reset -q --hard; }; }
amend() { [ "$(git rev-parse HEAD)" = "$base" ] || git commit -q -a --allow-empty --amend "$@"; }
shift_all() { if ls "$1"/deep/*.sh; then git mv -k "$1"/deep/*.sh "$1"; else mkdir -p "$1/deep"; git mv -k "$1"/*.sh "$1/deep"; fi; }
collect() { git branch -qD aside; git reflog expire --expire=now --all; git gc -q --prune=now; }
"#;

const EVENTS: [(&str, &str); 26] = [
    ("amend", r#"amend -m "Amended $n" -m "$trailer""#),
    ("break code", "edit broken code; commit Edit"),
    (
        "rebase",
        "aside; git rebase -q -X $side --onto aside $near main || git rebase --abort",
    ),
    ("delete test", "git rm -qf $test; commit Drop"),
    ("squash", "git reset -q --soft $near; commit All"),
    ("bend test", "edit bent tests; commit Bend"),
    (
        "merge",
        "aside; git merge -q --no-ff -X $side -m Merge aside || git merge --abort",
    ),
    ("break and bend", "both; commit Both"),
    ("revert", "undo $any"),
    (
        "format",
        r#"perl -pi -e 's/^\s+/\t/; s/$/\n/ if /\}/' $(git ls-files code tests); commit Format"#,
    ),
    ("reset", "git reset -q --hard $near"),
    ("empty test", "echo true > $test; commit Ease"),
    (
        "empty test, broken code",
        "echo true > $test; edit broken code; commit Ease",
    ),
    (
        "revert of a revert",
        "undo \"$(git rev-list -1 --grep '^Revert' $base..HEAD)\"",
    ),
    (
        "rename test",
        "git mv $test ${test%/*}/named-$n.sh; commit Rename",
    ),
    ("collect", "collect"),
    (
        "lax runner",
        r#"perl -pi -e 's/if sh "\$file"/if sh "\$file" || true/' run.sh; edit broken code; commit Lax"#,
    ),
    (
        "rename code",
        "git mv $code ${code%/*}/named-$n.sh; commit Rename",
    ),
    (
        "add test",
        r#"echo '. ./lib.sh; [ "$(add 2 2)" = 4 ]' > tests/sum-$n.sh; commit Ask"#,
    ),
    ("move tests", "shift_all tests; commit Move"),
    ("amend with text", "small; amend --no-edit"),
    (
        "delete code",
        r#"perl -0pi -e "s/$name\(\)\s*\{.*?\}\n//s" $(git ls-files code); commit Remove"#,
    ),
    ("move code", "shift_all code; commit Move"),
    ("runner", "echo \"# $n\" >> run.sh; commit Note"),
    ("put back", "git checkout -q $base -- old; commit Back"),
    ("amend and collect", "small; amend --no-edit; collect"),
];

impl World {
    /// That event in turn, or one by chance.
    pub fn event(&mut self, number: usize) {
        let at = match self.rng.chance(60) {
            true => number,
            false => self.rng.below(EVENTS.len()),
        };
        let (name, event) = EVENTS[at % EVENTS.len()];
        let since = format!("{}..HEAD", self.base);
        let any = self.pick_line(&["rev-list", "--no-merges", &since]);
        let near = self.pick_line(&["rev-list", "--first-parent", "-6", &since]);
        let built: Vec<String> = self.values.keys().cloned().collect();
        let built = self.rng.pick(&built).unwrap_or_else(|| "add".to_owned());
        let value = self
            .values
            .get(&built)
            .cloned()
            .unwrap_or_else(|| "none".to_owned());
        let trailer = self.rng.chance(20).then(|| self.rng.pick(&SLICES).unwrap());
        self.count += 1;
        self.due = None;
        let settings = [
            ("n", self.count.to_string()),
            (
                "near",
                [near, self.base.clone()]
                    .into_iter()
                    .find(|it| !it.is_empty())
                    .unwrap(),
            ),
            ("any", any),
            ("base", self.base.clone()),
            ("name", built),
            ("value", value),
            ("code", self.pick_line(&["ls-files", "code"])),
            ("test", self.pick_line(&["ls-files", "tests"])),
            (
                "side",
                self.rng.pick(&["ours", "theirs"]).unwrap().to_owned(),
            ),
            (
                "trailer",
                trailer.map_or_else(String::new, |id| format!("Cook-Slice: {id}")),
            ),
        ];
        let mut command = self.repo.command("sh");
        command
            .args(["-c", &format!("{WORDS}{event}")])
            .envs(settings);
        crate::support::run_alone(&mut command);
        self.say(format!("== {name}: {}", self.repo.head()));
        self.note(format!("event {name}"));
        let left = self.git(&["status", "--porcelain", "--branch"]);
        assert_eq!(left, "## main", "{}", self.log.join("\n"));
    }

    fn pick_line(&mut self, words: &[&str]) -> String {
        let lines: Vec<String> = self.git(words).lines().map(str::to_owned).collect();
        self.rng.pick(&lines).unwrap_or_default()
    }
}
