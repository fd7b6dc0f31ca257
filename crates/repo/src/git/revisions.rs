//! Commits by the names that people give them, settings, and who the user is to git.

use super::Repo;
use super::program::Call;
use cook_protocol::diagnostic::Failure;
use std::path::PathBuf;

/// What names author and committer to git: variables and their values.
pub type Identity = Vec<(&'static str, String)>;

/// git's words for each, and the variables that say the same to another git.
const NAMES: [(&str, [&str; 2]); 2] = [
    ("GIT_AUTHOR_IDENT", ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL"]),
    (
        "GIT_COMMITTER_IDENT",
        ["GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"],
    ),
];

impl Repo {
    /// Whom a commit made here would name, by the user's settings and variables; none where git
    /// would refuse to make one.
    ///
    /// # Errors
    /// When git cannot be asked.
    pub fn identity(&self) -> Result<Option<Identity>, Failure> {
        let mut identity = Identity::new();
        for (asked, variables) in NAMES {
            let heard = self.program.ask(Call::new("var").arg(asked))?;
            let text = String::from_utf8_lossy(&heard.stdout).into_owned();
            let Some((name, address)) = name_and_address(&text).filter(|_| heard.success()) else {
                return Ok(None);
            };
            identity.extend(variables.into_iter().zip([name, address]));
        }
        Ok(Some(identity))
    }

    /// The full id of the commit that a revision names, as `git rev-parse` reads it; none where it
    /// names no commit here.
    ///
    /// # Errors
    /// `git_missing`, or git that does not answer.
    pub fn commit_named(&self, name: &str) -> Result<Option<String>, Failure> {
        if name.is_empty() || name.starts_with('-') || name.contains('\0') {
            return Ok(None);
        }
        let call = Call::new("rev-parse -q --verify").arg(format!("{name}^{{commit}}"));
        self.ask_line(call)
    }

    /// A ref that names another one: a remote's `HEAD` does, and a branch of that name does not.
    ///
    /// # Errors
    /// As [`Repo::commit_named`].
    pub fn is_symbolic(&self, name: &str) -> Result<bool, Failure> {
        let call = Call::new("symbolic-ref -q").arg(name.to_owned());
        Ok(self.ask_line(call)?.is_some())
    }

    /// The branch that the checked out one follows, by its short name.
    ///
    /// # Errors
    /// As [`Repo::commit_named`].
    pub fn upstream(&self) -> Result<Option<String>, Failure> {
        self.ask_line(Call::new("rev-parse --abbrev-ref @{upstream}"))
    }

    /// Where git looks for its hooks, by `core.hooksPath` where that is set.
    ///
    /// # Errors
    /// As [`Repo::commit_named`].
    pub fn hooks_dir(&self) -> Result<PathBuf, Failure> {
        let call = Call::new("config --type=path --get-all core.hooksPath");
        let told = self.program.ask(call)?;
        let text = String::from_utf8_lossy(&told.stdout);
        // The last one is what every call of cook sets, so that no hook runs in it.
        let theirs = text.lines().rev().nth(1);
        let default = || self.common_dir().join("hooks");
        Ok(theirs.map_or_else(default, |path| self.root().join(path)))
    }

    /// A setting of git's as it is in force here, `~` written out; none where nobody set it.
    ///
    /// # Errors
    /// As [`Repo::commit_named`].
    pub fn setting(&self, name: &str) -> Result<Option<String>, Failure> {
        self.ask_line(Call::new("config --type=path --get").arg(name))
    }

    /// One line where git has one; any refusal of the name is none.
    fn ask_line(&self, call: Call) -> Result<Option<String>, Failure> {
        let captured = self.program.ask(call)?;
        let text = String::from_utf8_lossy(&captured.stdout);
        let line = text.trim();
        Ok((captured.code == Some(0) && !line.is_empty()).then(|| line.to_owned()))
    }
}

/// `Name <address> seconds zone`.
fn name_and_address(text: &str) -> Option<(String, String)> {
    let (before, _) = text.rsplit_once('>')?;
    let (name, address) = before.rsplit_once('<')?;
    Some((name.trim().to_owned(), address.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_and_an_address_as_git_says_them() {
        let of = |text| name_and_address(text);
        let both = |name: &str, address: &str| Some((name.to_owned(), address.to_owned()));
        assert_eq!(
            of("Ada B. <ada@example.org> 1700000000 +0100\n"),
            both("Ada B.", "ada@example.org")
        );
        assert_eq!(of("Ada <> 1 +0000"), both("Ada", ""));
        assert_eq!(of(""), None);
    }
}
