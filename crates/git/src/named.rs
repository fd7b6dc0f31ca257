//! Commits by the names that people give them, and where a branch left its remote.

use super::Repo;
use super::program::Call;
use cook_core::diagnostic::Failure;
use std::path::PathBuf;

impl Repo {
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
