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

    /// A transition that leaves the work where it stands.
    fn note(&self, text: &str) {
        let words = ["brief", "note", "learned", text, "--source", "s"];
        self.repo.cook(&words).ok();
    }

    /// What a stranger's clone is told.
    fn verify_in_clone(&self) -> Run {
        let clone = make_clone(&self.repo, &["-b", "work"]);
        clone.cook(&["verify", "slice", "a", "--from", "origin"])
    }
}

#[test]
fn a_signed_log_is_the_word_of_whoever_signed_it() {
    let Some(signing) = Signing::new() else {
        return;
    };
    let repo = &signing.repo;
    signing
        .verify_in_clone()
        .exits(1)
        .says("word_unsigned")
        .says("cook push --sign");
    let clone = make_clone(repo, &["-b", "work"]);
    clone.cook(&["pull"]).ok().says("word_unsigned");

    let before = signing.number();
    let key = signing.key("one");
    let pushed = signing.push(&["--key", &key, "--json"]).ok().json();
    assert_eq!(pushed["pushed"], true);
    assert!(
        pushed["key"].as_str().unwrap().starts_with("SHA256:"),
        "{pushed}"
    );
    assert_eq!(signing.number(), before + 1);
    signing
        .verify_in_clone()
        .ok()
        .says("its records are signed by one@example.org");
    clone
        .cook(&["pull"])
        .ok()
        .says("one@example.org")
        .never_says("word_unsigned");
    clone.cook(&["verify", "control-plane"]).ok();
    // It moved nothing: the work is done as it was, and its log is sound.
    repo.cook(&["verify", "--strict"]).ok();
    repo.cook(&["doctor", "fsck"]).ok();
    repo.cook(&["log", "-n", "1"])
        .ok()
        .says("signed")
        .says("the user signs what the log records");

    // Once is enough, with whichever key; what is recorded afterwards nobody has signed.
    signing
        .push(&["--key", &key])
        .ok()
        .says("has everything already")
        .says("SHA256:");
    assert_eq!(signing.number(), before + 1);
    signing.note("a note");
    repo.cook(&["push", "origin"]).ok();
    signing.verify_in_clone().exits(1).says("word_unsigned");
    signing.push(&["--key", &key]).ok().says("signed by");
    signing.verify_in_clone().ok();
}

/// The job was pushed as done, and is signed afterwards: what was merged counts by the signed log.
#[test]
fn done_work_that_is_signed_later_is_signed_where_it_was_merged() {
    let Some(signing) = Signing::new() else {
        return;
    };
    let repo = &signing.repo;
    let key = signing.key("one");
    let ask = || {
        let clone = make_clone(repo, &["-b", "main"]);
        clone.git(&["merge", "-q", "--no-ff", "--no-edit", "origin/work"]);
        clone.cook(&["verify", "--from", "origin", "--rerun", "--trust-repo"])
    };
    ask().exits(1).says("word_unsigned");
    signing.push(&["--key", &key]).ok();
    ask().ok().says("signed by one@example.org");
    // Where each transition is pushed by itself too.
    for sync in ["push", "each"] {
        signing.note(sync);
        repo.cook(&["push", "origin"]).ok();
        ask().exits(1).says("word_unsigned");
        let settings = repo.read(".agent/cook.toml");
        let log = format!("[log]\nsync = \"{sync}\"\nremote = \"origin\"\n");
        repo.write(".agent/cook.toml", settings.clone() + &log);
        signing.push(&["--key", &key]).ok();
        repo.write(".agent/cook.toml", settings);
        ask().ok().says("signed by one@example.org");
    }
}

#[test]
fn the_key_is_found_where_it_is_named() {
    let Some(signing) = Signing::new() else {
        return;
    };
    let repo = &signing.repo;
    let home = repo
        .command("sh")
        .args(["-c", "echo $HOME"])
        .output()
        .unwrap();
    let home = String::from_utf8(home.stdout).unwrap();
    for name in ["one", "one.pub"] {
        std::fs::copy(
            repo.beside(name),
            std::path::Path::new(home.trim()).join(name),
        )
        .unwrap();
    }
    std::fs::copy(repo.beside("one"), repo.root.join(".git/one")).unwrap();
    let signs = |more: &[&str]| {
        let before = signing.number();
        signing.push(more).ok().says("SHA256:");
        assert_eq!(signing.number(), before + 1, "{more:?}");
    };
    signs(&["--key=~/one"]);
    // As whoever types it sees it: `ssh-keygen` works elsewhere.
    signing.note("a relative path");
    signs(&["--key=.git/one"]);
    for named in ["~/one", ".git/one"] {
        signing.note(named);
        repo.git(&["config", "cook.signingkey", named]);
        signs(&[]);
    }
    // cook's own key goes before git's, which signs something else here.
    repo.git(&["config", "user.signingkey", "/nowhere"]);
    signing.note("git has a key");
    signs(&[]);
    repo.git(&["config", "--unset", "cook.signingkey"]);
    signing
        .push(&[])
        .fails(3, "signing_format")
        .says("gpg.format");
    repo.git(&["config", "gpg.format", "ssh"]);
    signing
        .push(&[])
        .fails(3, "signing_key_missing")
        .says("/nowhere");
    repo.git(&["config", "user.signingkey", "~/one"]);
    signing.note("git signs so too");
    signs(&[]);
    repo.git(&["config", "--unset", "user.signingkey"]);
    signing
        .push(&[])
        .fails(3, "signing_key_missing")
        .says("cook.signingkey");
}

#[test]
fn a_signature_that_would_not_count_is_not_made() {
    let Some(signing) = Signing::new() else {
        return;
    };
    let repo = &signing.repo;
    let before = signing.number();
    let [one, other] = ["one", "other"].map(|name| signing.key(name));
    let no_key = repo.beside("no-key");
    std::fs::write(&no_key, "not a key\n").unwrap();
    let no_key = no_key.display().to_string();
    for (key, exit, code) in [
        ("/nowhere", 3, "signing_key_missing"),
        (no_key.as_str(), 3, "signing_failed"),
        (other.as_str(), 4, "signer_not_listed"),
    ] {
        signing.push(&["--key", key]).fails(exit, code);
    }
    for (options, code) in [
        ("namespaces=\"git\"", "signer_not_listed"),
        (
            "namespaces=\"cook\",valid-before=\"20250101\"",
            "signer_out_of_time",
        ),
        (
            "namespaces=\"cook\",valid-after=\"20400101\"",
            "signer_out_of_time",
        ),
    ] {
        signing.list(options);
        signing
            .push(&["--key", &one])
            .fails(4, code)
            .says("--key FILE");
    }
    // A person signs, and a script that says so.
    signing.list("namespaces=\"cook\"");
    repo.cook(&["push", "origin", "--sign", "--key", &one])
        .fails(4, "user_only")
        .says("--yes");
    let role = ("COOK_ROLE".to_owned(), "implementer".to_owned());
    repo.extra.borrow_mut().push(role);
    signing.push(&["--key", &one]).fails(4, "user_only");
    repo.extra.borrow_mut().pop();
    repo.cook(&["push", "origin", "--key", &one])
        .exits(2)
        .says("--sign");
    repo.cook(&["push", "origin", "--sign", "--yes", "--dry-run"])
        .exits(2);
    assert_eq!(signing.number(), before, "nothing was recorded");
    signing.push(&["--key", &one]).ok();
    signing.verify_in_clone().ok();
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
