//! What was accepted, held against HEAD by a shell that knows nothing of cook.

use super::world::{GATE, World, squeeze};
use std::path::PathBuf;

/// A proof as it was accepted.
pub struct Accepted {
    pub anchor: String,
    /// The line of a text.
    text: String,
    /// It was already true.
    pub is_old: bool,
    /// `tests/` and `run.sh` as they were then.
    tests: PathBuf,
}

/// A commit's files with these tests.
const TRY: &str = "rm -rf \"$3\" && mkdir \"$3\" && git archive \"$1\" | tar -xC \"$3\" && cd \"$3\" || exit 9\n\
    if [ -n \"$2\" ]; then rm -rf tests run.sh && cp -R \"$2\"/. .; fi\nsh run.sh";

impl World {
    /// What one runner says of the code of a commit, under kept tests or its own.
    pub fn try_tests(&self, commit: &str, tests: &str) -> String {
        let room = self.repo.beside("room");
        self.shell(TRY, &[commit, tests, room.to_str().unwrap()])
            .out
    }

    /// Keeps the tests of a commit.
    pub fn keep_tests(&mut self, commit: &str) -> PathBuf {
        self.count += 1;
        let tests = self.repo.beside(&format!("kept-{}", self.count));
        let script = "mkdir \"$2\"; git ls-tree --name-only \"$1\" tests run.sh |
            xargs git archive \"$1\" -- | tar -xC \"$2\"";
        self.shell(script, &[commit, tests.to_str().unwrap()]).ok();
        tests
    }

    /// Keeps a proof with the tests of a commit.
    pub fn keep(&mut self, name: &str, anchor: &str, commit: &str) {
        let (path, line) = anchor.rsplit_once(':').unwrap();
        let line = line.parse::<usize>().ok();
        let text = line.and_then(|line| Some(self.read(path).lines().nth(line - 1)?.to_owned()));
        let accepted = Accepted {
            anchor: anchor.to_owned(),
            text: text.unwrap_or_default(),
            is_old: false,
            tests: self.keep_tests(commit),
        };
        self.accepted.insert(name.to_owned(), accepted);
    }

    /// Whether what was accepted holds at a commit.
    pub fn holds(&self, name: &str, commit: &str) -> bool {
        let accepted = &self.accepted[name];
        let (form, rest) = accepted.anchor.split_once(':').unwrap();
        let tests = accepted.tests.to_str().unwrap();
        match form {
            "test" => {
                let said = self.try_tests(commit, tests);
                let ok =
                    |line: &str| line.starts_with("ok ") && line.ends_with(&format!(" - {rest}"));
                said.lines().any(ok)
            }
            "cmd" => {
                let line = rest.strip_prefix(GATE).unwrap().trim_start_matches('#');
                self.try_tests(commit, "").lines().any(|said| said == line)
            }
            "gone" => {
                self.try_git(&["cat-file", "-e", &format!("{commit}:{rest}")])
                    .code
                    != 0
            }
            _ => {
                squeeze(&self.git(&["grep", "-hI", "", commit])).contains(&squeeze(&accepted.text))
            }
        }
    }

    /// False dones; none of the new proofs holds at the base, or the oracle sees nothing.
    pub fn violations(&self) -> Vec<String> {
        let mut found = Vec::new();
        for name in self.criteria.keys() {
            match self.accepted.get(name) {
                None => found.push(format!("done, and nobody accepted {name}")),
                Some(accepted) if !self.holds(name, "HEAD") => {
                    found.push(format!("false done: {name} by {}", accepted.anchor));
                }
                Some(accepted) if !accepted.is_old && self.holds(name, &self.base) => {
                    found.push(format!("{name} holds at the base"))
                }
                Some(_) => {}
            }
        }
        found
    }
}
