//! What the refs of a log are called on a remote.

use serde::{Deserialize, Serialize};

/// Where a branch stands for itself in a pattern.
const BRANCH: &str = "{branch}";
const USUAL: &str = "refs/cook/log/{branch}";
/// Bytes of a pattern.
const MAX_PATTERN: usize = 200;

/// Whether git takes a name for a branch's.
pub fn is_branch_name(name: &str) -> bool {
    let is_refused = |c: char| c.is_ascii_control() || " ~^:?*[\\".contains(c);
    let is_part =
        |part: &str| !part.is_empty() && !part.starts_with('.') && !part.ends_with(".lock");
    name.split('/').all(is_part)
        && !name.starts_with('-')
        && !name.ends_with('.')
        && !name.contains("..")
        && !name.contains("@{")
        && name != "@"
        && name != "HEAD"
        && !name.contains(is_refused)
}

/// What the refs of a log are called on a remote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LogRefs {
    pattern: String,
}

impl TryFrom<String> for LogRefs {
    type Error = String;

    fn try_from(pattern: String) -> Result<Self, String> {
        Self::parse(&pattern).map_err(|why| format!("`{pattern}`: {why}"))
    }
}

impl From<LogRefs> for String {
    fn from(refs: LogRefs) -> Self {
        refs.pattern
    }
}

impl Default for LogRefs {
    fn default() -> Self {
        Self {
            pattern: USUAL.to_owned(),
        }
    }
}

impl LogRefs {
    /// By a pattern that holds `{branch}` once.
    ///
    /// # Errors
    /// What is wrong with the pattern.
    pub fn parse(pattern: &str) -> Result<Self, String> {
        let (before, after) = pattern
            .split_once(BRANCH)
            .ok_or_else(|| format!("it must hold `{BRANCH}`"))?;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '-' | '_');
        let parts_are_named = before
            .strip_suffix('/')
            .unwrap_or(before)
            .split('/')
            .all(|part| !part.is_empty());
        if !pattern.starts_with("refs/")
            || pattern.len() > MAX_PATTERN
            || !before.ends_with('/')
            || before.matches('/').count() < 3
            || !after.is_empty()
            || !before.chars().all(is_plain)
            || !parts_are_named
        {
            return Err(format!(
                "it must be like `{USUAL}` or `refs/heads/cook/{BRANCH}`"
            ));
        }
        Ok(Self {
            pattern: pattern.to_owned(),
        })
    }

    fn of(&self, name: &str) -> String {
        self.pattern.replace(BRANCH, name)
    }

    /// Of a kind beside the logs. No branch is escaped to a name that begins so.
    fn beside(&self, kind: &str, name: &str) -> String {
        match self.pattern == USUAL {
            true => format!("refs/cook/{kind}/{name}"),
            false => self.of(&format!("%{kind}/{name}")),
        }
    }

    /// The log of a branch.
    pub fn log(&self, branch: &str) -> String {
        self.of(&escape_branch(branch))
    }

    /// The log by which a commit was found done; `*` for all of them.
    pub fn name_done(&self, commit: &str) -> String {
        self.beside("done", commit)
    }

    /// Commits that the log of a branch cites.
    pub fn keep(&self, branch: &str) -> String {
        self.beside("keep", &escape_branch(branch))
    }

    /// A log that ended without being done, by its first transition; `*` for all of them.
    pub fn old(&self, first: &str) -> String {
        self.beside("old", first)
    }
}

/// A branch as one part of a ref's name.
pub fn escape_branch(branch: &str) -> String {
    branch.replace('%', "%25").replace('/', "%2F")
}

/// The branch of such a name.
pub fn unescape_branch(name: &str) -> String {
    name.replace("%2F", "/").replace("%25", "%")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_branches_have_one_ref() {
        let names = LogRefs::default();
        let mut seen = std::collections::BTreeSet::new();
        for branch in [
            "a", "a/b", "a%2Fb", "a%252Fb", "a%b", "%", "%25", "done/x", "%done",
        ] {
            let log = names.log(branch);
            assert_eq!(log.matches('/').count(), 3, "{log}");
            assert!(seen.insert(log), "{branch}");
            assert_eq!(unescape_branch(&escape_branch(branch)), branch);
        }
        assert_eq!(names.log("feature/x"), "refs/cook/log/feature%2Fx");
        assert_eq!(names.name_done("abc"), "refs/cook/done/abc");
    }

    #[test]
    fn a_pattern_below_heads_keeps_the_other_kinds_apart() {
        let names = LogRefs::parse("refs/heads/cook/{branch}").unwrap();
        assert_eq!(names.log("a/b"), "refs/heads/cook/a%2Fb");
        assert_eq!(names.keep("a/b"), "refs/heads/cook/%keep/a%2Fb");
        for bad in [
            "refs/heads/cook",
            "heads/cook/{branch}",
            "refs/heads/{branch}",
            "refs/cook//{branch}",
            "refs/cook/{branch}/x",
            "refs/cook/{branch}{branch}",
            "refs/cook/../x/{branch}",
            "refs/cook/a b/{branch}",
            "refs/cook/x{branch}",
        ] {
            assert!(LogRefs::parse(bad).is_err(), "{bad}");
        }
    }
}
