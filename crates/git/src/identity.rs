//! Who the user is to git.

use super::program::{Call, Program};
use super::{Repo, RepoError};
use cook_core::diagnostic::Failure;

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
        let git = Program::at(self.root());
        let mut identity = Identity::new();
        for (asked, variables) in NAMES {
            let heard = git.ask(Call::new("var").arg(asked));
            let heard = heard.map_err(|error: RepoError| Failure::from(error))?;
            let text = String::from_utf8_lossy(&heard.stdout).into_owned();
            let Some((name, address)) = name_and_address(&text).filter(|_| heard.success()) else {
                return Ok(None);
            };
            identity.extend(variables.into_iter().zip([name, address]));
        }
        Ok(Some(identity))
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
