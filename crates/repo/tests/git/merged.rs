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
