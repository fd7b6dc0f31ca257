//! `cook push --sign`: a person vouches for what the log records, and whoever reads the log knows who.

use crate::support::{Repo, Run};
use crate::verify::attest::{has_ssh_keygen, make_key};
use crate::verify::from::{bare, make_clone, make_pushed};

/// A pushed job with the keys `one` and `other` beside it; the base of its remote lists `one`.
struct Signing {
    repo: Repo,
    public: String,
}

impl Signing {
    fn new() -> Option<Self> {
        let repo = make_pushed();
        if !has_ssh_keygen(&repo) {
            return None;
        }
        let public = make_key(&repo, "one");
        make_key(&repo, "other");
        repo.git(&["remote", "add", "origin", bare(&repo).to_str().unwrap()]);
        let signing = Self { repo, public };
        signing.list("namespaces=\"cook\"");
        Some(signing)
    }

    /// What the base says of the key `one`.
    fn list(&self, options: &str) {
        let repo = &self.repo;
        repo.git(&["checkout", "-q", "main"]);
        let line = format!("one@example.org {options} {}", self.public);
        repo.write(".agent/allowed_signers", line);
        repo.commit("Who may sign", None);
        repo.git(&["push", "-q", "origin", "main"]);
        repo.git(&["checkout", "-q", "work"]);
    }

    fn key(&self, name: &str) -> String {
        self.repo.beside(name).display().to_string()
    }

    fn push(&self, more: &[&str]) -> Run {
        let words = ["push", "origin", "--sign", "--yes"];
        self.repo.cook(&[&words[..], more].concat())
    }

    fn number(&self) -> u64 {
        let shown = self.repo.cook(&["log", "@", "--json"]).ok().json();
        shown["seq"].as_u64().unwrap()
    }

    /// What a stranger's clone is told.
    fn verify_in_clone(&self) -> Run {
        let clone = make_clone(&self.repo, &["-b", "work"]);
        clone.cook(&["verify", "slice", "a", "--from", "origin"])
    }
}

/// A clone that never saw the base asks the remote who may sign.
#[test]
fn a_key_that_is_not_listed_signs_nothing_where_the_base_is_not_here() {
    let Some(signing) = Signing::new() else {
        return;
    };
    let repo = &signing.repo;
    repo.git(&["remote", "remove", "origin"]);
    repo.git(&["branch", "-q", "-D", "main"]);
    let at = bare(repo).to_str().unwrap().to_owned();
    repo.git(&["remote", "add", "-t", "work", "origin", &at]);
    let before = signing.number();
    signing
        .push(&["--key", &signing.key("other")])
        .fails(4, "signer_not_listed");
    assert_eq!(signing.number(), before, "nothing was recorded");
    signing.push(&["--key", &signing.key("one")]).ok();
    signing.verify_in_clone().ok();
}
