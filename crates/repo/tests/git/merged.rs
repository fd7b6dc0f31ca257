//! A commit that is exactly the merge of a finished one is told from every other, by git's own
//! merge made again.

use crate::scratch::Scratch;
use cook_repo::git::{MergedAs, MergedFrom};

const WAYS: [MergedAs; 3] = [MergedAs::Merge, MergedAs::Squash, MergedAs::Rebase];

/// What happened to the base meanwhile.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Base {
    Stands,
    Moved,
    MovedNear,
}

const BASES: [Base; 3] = [Base::Stands, Base::Moved, Base::MovedNear];

/// A base, and work of three commits on it that is finished.
struct Work {
    scratch: Scratch,
    start: String,
    done: String,
    base: String,
}

fn numbers() -> Vec<String> {
    (1..=40).map(|number| number.to_string()).collect()
}

impl Work {
    fn new(moved: Base) -> Self {
        let scratch = Scratch::unborn(&[]);
        let mut lines = numbers();
        let text = |lines: &[String]| lines.join("\n") + "\n";
        scratch.write("f", text(&lines));
        let start = scratch.commit("base");
        scratch.git(&["checkout", "-qb", "work"]);
        for step in 1..=3 {
            lines[step * 3 + 9] = format!("work {step}");
            scratch.write("f", text(&lines));
            scratch.write(&format!("n{step}"), step.to_string());
            scratch.commit(&format!("w{step}"));
        }
        let done = scratch.git(&["rev-parse", "HEAD"]);
        scratch.git(&["checkout", "-q", "main"]);
        match moved {
            Base::Stands => {}
            Base::Moved => scratch.write("other", "x\n"),
            Base::MovedNear => {
                let mut lines = numbers();
                lines[20] = "near".to_owned();
                scratch.write("f", text(&lines));
            }
        }
        if moved != Base::Stands {
            scratch.commit("moved");
        }
        let base = scratch.git(&["rev-parse", "HEAD"]);
        Self {
            scratch,
            start,
            done,
            base,
        }
    }

    /// Brings the work in, from the base on.
    fn bring(&self, how: MergedAs) {
        let git = |words: &[&str]| self.scratch.git(words);
        git(&["checkout", "-q", "--detach", &self.base]);
        match how {
            MergedAs::Merge => drop(git(&["merge", "-q", "--no-ff", "-m", "m", &self.done])),
            MergedAs::Squash => {
                git(&["merge", "-q", "--squash", &self.done]);
                git(&["commit", "-qm", "s"]);
            }
            MergedAs::Rebase => {
                git(&["cherry-pick", &format!("{}..{}", self.start, self.done)]);
            }
        }
    }

    fn tamper(&self, path: &str) {
        let was = std::fs::read_to_string(self.scratch.path(path)).unwrap_or_default();
        self.scratch.write(path, was + "hidden\n");
        self.scratch.git(&["add", "-A"]);
        self.scratch.git(&["commit", "-q", "--amend", "--no-edit"]);
    }

    fn find_merge(&self) -> Option<MergedFrom> {
        let head = self.scratch.git(&["rev-parse", "HEAD"]);
        self.scratch.repo().find_merge(&head, &self.done).unwrap()
    }
}

#[test]
fn each_way_of_merging_is_recomputed_and_each_tampered_one_refused() {
    for moved in BASES {
        let work = Work::new(moved);
        for how in WAYS {
            work.bring(how);
            let head = work.scratch.git(&["rev-parse", "HEAD"]);
            let found = work.find_merge();
            // Where nothing moved, the same commits come of picking them.
            if head != work.done {
                let base = work.base.clone();
                assert_eq!(found, Some(MergedFrom { base, how }), "{moved:?}");
            }
            for path in ["f", "n2", "new"] {
                work.scratch.git(&["checkout", "-q", "--detach", &head]);
                work.tamper(path);
                assert_eq!(work.find_merge(), None, "{moved:?} {how:?} {path}");
            }
        }
    }
}

#[test]
fn what_comes_with_a_commit_in_the_middle_of_a_rebase_is_noticed() {
    let work = Work::new(Base::Moved);
    let picks = work.scratch.git(&[
        "rev-list",
        "--reverse",
        &format!("{}..{}", work.start, work.done),
    ]);
    let picks: Vec<&str> = picks.lines().collect();
    for at in 0..picks.len() {
        for amends in [true, false] {
            work.scratch
                .git(&["checkout", "-q", "--detach", &work.base]);
            for (number, pick) in picks.iter().enumerate() {
                if !amends && number == at {
                    work.scratch.write("evil", "evil\n");
                    work.scratch.commit("fix typo");
                }
                work.scratch.git(&["cherry-pick", pick]);
                if amends && number == at {
                    work.tamper("f");
                }
            }
            // Before all of the work it is the base's own.
            let expected = (!amends && at == 0).then_some(MergedAs::Rebase);
            assert_eq!(
                work.find_merge().map(|found| found.how),
                expected,
                "{at} {amends}"
            );
        }
    }
}

#[test]
fn a_part_of_the_work_and_a_conflict_solved_by_hand_are_no_merge_of_it() {
    let work = Work::new(Base::Moved);
    work.scratch
        .git(&["checkout", "-q", "--detach", &work.base]);
    work.scratch.git(&[
        "cherry-pick",
        &format!("{}~2", work.done),
        &format!("{}~1", work.done),
    ]);
    assert_eq!(work.find_merge(), None);

    let mut lines = numbers();
    lines[12] = "theirs".to_owned();
    work.scratch
        .git(&["checkout", "-q", "--detach", &work.start]);
    work.scratch.write("f", lines.join("\n") + "\n");
    work.scratch.commit("on the same line");
    let tip = work.scratch.git(&["rev-parse", "HEAD"]);
    lines[12] = "both".to_owned();
    work.scratch
        .git(&["read-tree", "--reset", "-u", &work.done]);
    work.scratch.write("f", lines.join("\n") + "\n");
    work.scratch.git(&["add", "-A"]);
    let tree = work.scratch.git(&["write-tree"]);
    let solved = work.scratch.git(&[
        "commit-tree",
        &tree,
        "-p",
        &tip,
        "-p",
        &work.done,
        "-m",
        "solved",
    ]);
    let found = work.scratch.repo().find_merge(&solved, &work.done).unwrap();
    assert_eq!(found, None);
}

#[test]
fn the_branch_that_was_merged_into_the_work_is_its_base() {
    let work = Work::new(Base::Moved);
    work.scratch.git(&["checkout", "-q", "work"]);
    work.scratch
        .git(&["merge", "-q", "--no-ff", "-m", "m", &work.base]);
    let (base, how) = (work.base.clone(), MergedAs::Merge);
    assert_eq!(work.find_merge(), Some(MergedFrom { base, how }));
}

/// Git makes one base of the two, as the merge did.
#[test]
fn a_merge_after_both_sides_had_taken_each_other_in_is_recomputed() {
    let work = Work::new(Base::Moved);
    let git = |words: &[&str]| work.scratch.git(words);
    git(&["checkout", "-q", "-B", "one", "work"]);
    git(&["merge", "-q", "--no-ff", "-m", "m1", &work.base]);
    let one = git(&["rev-parse", "HEAD"]);
    git(&["checkout", "-q", "-B", "two", &work.base]);
    git(&["merge", "-q", "--no-ff", "-m", "m2", "work"]);
    work.scratch.write("two", "2\n");
    let two = work.scratch.commit("two");
    git(&["checkout", "-q", "one"]);
    work.scratch.write("one", "1\n");
    let done = work.scratch.commit("one");
    assert_ne!(one, done);
    git(&["checkout", "-q", "--detach", &two]);
    git(&["merge", "-q", "--no-ff", "-m", "m3", &done]);
    let head = git(&["rev-parse", "HEAD"]);
    assert_eq!(
        git(&["merge-base", "--all", &two, &done]).lines().count(),
        2
    );
    let found = work.scratch.repo().find_merge(&head, &done).unwrap();
    assert_eq!(found.map(|found| found.base), Some(two));
}

#[test]
fn attributes_of_the_base_count_and_settings_and_drivers_of_nobody_do() {
    let work = Work::new(Base::Stands);
    let git = |words: &[&str]| work.scratch.git(words);
    work.scratch
        .write(".gitattributes", "log.txt merge=union\n*.bin merge=evil\n");
    work.scratch.write("log.txt", "begin\n");
    work.scratch.write("a.bin", "1\n");
    let start = work.scratch.commit("attributes");
    work.scratch.write("log.txt", "begin\nmine\n");
    work.scratch.write("a.bin", "2\n");
    let done = work.scratch.commit("mine");
    git(&["checkout", "-q", "--detach", &start]);
    work.scratch.write("log.txt", "begin\ntheirs\n");
    let base = work.scratch.commit("theirs");
    git(&["merge", "-q", "--no-ff", "-m", "m", &done]);
    let head = git(&["rev-parse", "HEAD"]);
    let ran = work.scratch.path("../ran");
    let driver = format!("touch {}", ran.display());
    git(&["config", "merge.evil.driver", &driver]);
    git(&["config", "merge.renames", "false"]);
    let objects = || git(&["count-objects", "-v"]);
    let before = objects();
    let how = MergedAs::Merge;
    let found = work.scratch.repo().find_merge(&head, &done).unwrap();
    assert_eq!(found, Some(MergedFrom { base, how }));
    assert!(!ran.exists());
    assert_eq!(objects(), before, "the user's objects are never written");
}

#[test]
fn a_repository_of_the_other_object_format_and_of_an_odd_path_is_merged_too() {
    let scratch = Scratch::empty();
    let odd = scratch.path("a:b \"c\"");
    std::fs::create_dir(&odd).unwrap();
    let scratch = Scratch {
        root: odd,
        dir: scratch.dir,
    };
    scratch.git(&["init", "-q", "-b", "main", "--object-format=sha256"]);
    scratch.identify();
    scratch.write("f", "1\n");
    let start = scratch.commit("start");
    scratch.write("g", "1\n");
    let done = scratch.commit("done");
    scratch.git(&["checkout", "-q", "--detach", &start]);
    scratch.write("h", "1\n");
    let base = scratch.commit("base");
    scratch.git(&["merge", "-q", "--squash", &done]);
    scratch.git(&["commit", "-qm", "s"]);
    let head = scratch.git(&["rev-parse", "HEAD"]);
    let how = MergedAs::Squash;
    let found = scratch.repo().find_merge(&head, &done).unwrap();
    assert_eq!(found, Some(MergedFrom { base, how }));
}
