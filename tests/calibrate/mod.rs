//! `cook calibrate`: judges with known error rates are counted as what they are, and nothing of a planted
//! case reaches the workflow.
#![cfg(unix)]

mod refusals;
mod shown;

use crate::support::agents::add_sandbox_setting;
use crate::support::{Repo, Run};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// What slice `a` brings beside what the story's does: gates notice none of its faults.
const TOOL: &str = "#!/bin/sh\nset -eu\nif [ $# -lt 1 ]; then\n  echo 'usage: tool WORD' >&2\n  exit 2\nfi\ncount=0\nfor word in \"$@\"; do\n  count=$((count + 1))\n  echo \"$count $word\"\ndone\n[ \"$count\" -gt 0 ] || exit 1\n";
const MANUAL: &str = "# tool\n\nA tool.\n\nIt must be given a word, and fails without one.\nIt never writes a file.\nAt most 20 words are read.\n";

/// A repository and a judge.
struct Bench {
    repo: Repo,
    state: PathBuf,
}

impl Bench {
    /// Slice `a` is selected, and a judge named `judge` plays whoever judges.
    fn with_selection(name: &str) -> Self {
        let judge = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/calibrate/judge.sh");
        let tables = format!(
            "[agents.judge]\nbin = {judge:?}\nstart = []\nevents = \"text\"\n\
             [agents.other]\nbin = {judge:?}\nstart = [\"--other\"]\nevents = \"text\"\n\
             [roles.default]\nagent = \"judge\"\ntimeout = \"60s\"\n{}",
            add_sandbox_setting("")
        );
        let repo = Repo::stage(name, || {
            let repo = Repo::set_up();
            let settings = repo.read(".agent/cook.toml");
            repo.write(".agent/cook.toml", format!("{settings}\n{tables}"));
            repo.commit("Name who judges", None);
            repo.cook(&["init", "--as-user"]).exits(0);
            for args in [&[][..], &["--agent", "other"]] {
                let refused = repo.cook(&[&["calibrate"], args].concat());
                let words = refused.err.split("cook trust '").nth(1);
                let words = words.unwrap_or_else(|| panic!("{refused:?}"));
                let words = words.split('\'').next().unwrap().to_owned();
                if words.starts_with("agent ") {
                    repo.cook(&["trust", &words, "--as-user"]).exits(0);
                }
            }
            repo.select_a();
            repo
        });
        let state = repo.beside("state");
        std::fs::create_dir_all(&state).unwrap();
        let tmp = repo.beside("tmp");
        std::fs::create_dir_all(&tmp).unwrap();
        repo.extra.borrow_mut().extend([
            ("STATE".to_owned(), state.display().to_string()),
            ("TMPDIR".to_owned(), tmp.display().to_string()),
        ]);
        let bench = Self { repo, state };
        bench.errs(0, 0);
        bench
    }

    /// `a` is implemented: it is its reviewer's turn.
    fn with_commit() -> Self {
        let bench = Self::with_selection("judges, a selected");
        let repo = &bench.repo;
        repo.write("results", "ok 1 - one\nok 2 - two\n");
        repo.write("a.txt", "one\ntwo\n");
        repo.write("tool.sh", TOOL);
        repo.write("README.md", MANUAL);
        let sha = repo.commit("do a", Some("a"));
        repo.record("implementer", repo.implementation("a", &sha))
            .exits(0);
        let trees = repo.git(&["log", "--format=%T"]);
        std::fs::write(bench.state.join("honest"), trees).unwrap();
        bench
    }

    /// Judges are due.
    fn wave() -> Self {
        let bench = Self::with_commit();
        bench.repo.look_at_a();
        bench.repo.leave_judges();
        bench
    }

    /// The project is done, by reports that no session gave.
    fn with_done() -> Self {
        let bench = Self::wave();
        bench.repo.judges_say_yes();
        bench.repo.conclude_done().exits(0);
        bench
    }

    /// One fault of so many is missed, one clean case of so many refused; 0 = none.
    fn errs(&self, misses: u32, alarms: u32) {
        std::fs::write(self.state.join("errs"), format!("{misses} {alarms}\n")).unwrap();
    }

    fn calls(&self) -> usize {
        let text = std::fs::read_to_string(self.state.join("calls")).unwrap_or_default();
        text.trim().parse().unwrap_or_default()
    }

    fn calibrate(&self, more: &[&str]) -> Run {
        self.repo.cook(&[&["calibrate", "--json"], more].concat())
    }

    /// The one judge that was measured.
    #[track_caller]
    fn judge(&self, role: &str, more: &[&str]) -> Value {
        let run = self.calibrate(&[&["--role", role], more].concat());
        let answer = run.exits(0).json();
        let judges = answer["judges"].as_array().unwrap();
        assert_eq!(judges.len(), 1, "{answer}");
        assert_eq!(judges[0]["role"], format!("completion-{role}"));
        judges[0].clone()
    }
}

fn counts(judge: &Value) -> [u64; 4] {
    let of = |share: &str, part: &str| judge[share][part].as_u64().unwrap();
    [
        of("caught", "hits"),
        of("caught", "of"),
        of("alarms", "hits"),
        of("alarms", "of"),
    ]
}

#[test]
fn a_judge_that_says_the_same_to_everything_is_shown_as_one_that_catches_nothing() {
    let bench = Bench::with_done();
    bench.errs(1, 0);
    let judge = bench.judge("reviewer", &["--cases", "4"]);
    assert_eq!(counts(&judge), [0, 4, 0, 4]);
    assert_eq!(judge["tells_apart"], false);
    let calibrate = ["calibrate", "--role", "reviewer", "--cases", "4"];
    bench.repo.cook(&calibrate).exits(0).says(
        "judge caught 0 of 4 planted faults (0 to 49 %), 0 of 4 false alarms (0 to 49 %); it catches nothing",
    );
    bench.errs(0, 1);
    let judge = bench.judge("reviewer", &["--cases", "4", "--again"]);
    assert_eq!(counts(&judge), [4, 4, 4, 4]);
    assert_eq!(judge["tells_apart"], false);
    bench
        .repo
        .cook(&calibrate)
        .exits(0)
        .says("that does not tell faults from clean work");
}
