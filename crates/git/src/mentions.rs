//! Which of some words the repository's files name.

use super::Repo;
use super::history::path_text;
use super::program::Call;
use cook_core::diagnostic::Failure;
use std::collections::BTreeMap;

/// What is read by people and not by programs.
const PROSE: [&str; 5] = [
    ":(exclude)*.md",
    ":(exclude)*.rst",
    ":(exclude)*.txt",
    ":(exclude)*.adoc",
    ":(exclude).agent/",
];

impl Repo {
    /// For each of these words that a staged file has, the first such file; prose is passed over. A
    /// partial clone that lacks contents answers nothing.
    ///
    /// # Errors
    /// `git_missing`, or git that does not answer.
    pub fn mentions(&self, words: &[String]) -> Result<BTreeMap<String, String>, Failure> {
        let mut found = BTreeMap::new();
        if words.is_empty() {
            return Ok(found);
        }
        let options = [
            "grep",
            "--cached",
            "--no-recurse-submodules",
            "--full-name",
            "--no-color",
            "--no-line-number",
            "--no-column",
            "-IwFoz",
        ];
        let mut call = Call::new(&options);
        for word in words {
            call = call.arg("-e").arg(word);
        }
        call = call.arg("--").arg(".");
        for place in PROSE {
            call = call.arg(place);
        }
        let answer = self.program.ask(call)?;
        for line in answer.stdout.split(|byte| *byte == b'\n') {
            let Some(end) = line.iter().position(|byte| *byte == 0) else {
                continue;
            };
            let word = String::from_utf8_lossy(&line[end + 1..]).into_owned();
            found.entry(word).or_insert_with(|| path_text(&line[..end]));
        }
        Ok(found)
    }
}
