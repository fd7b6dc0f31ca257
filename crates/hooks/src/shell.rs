//! Command lines, as far as cook looks into them. Pure.
//!
//! A line is split at `&&`, `||`, `;`, `|`, `&` and line ends outside quotes, each
//! part into words as a shell would. What cannot be split says nothing: it is
//! allowed, and what it did is found afterwards.

/// Longest command line that is looked into.
const MAX_LINE: usize = 64 * 1024;

/// One simple command: its program's name without the path, and the other words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// The program.
    pub program: String,
    /// Its arguments.
    pub words: Vec<String>,
}

/// Options of git that take the next word.
const GIT_OPTIONS: [&str; 7] = [
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--exec-path",
    "--config-env",
];

/// git commands that put commits on HEAD, or move it.
const GIT_COMMITS: [&str; 8] = [
    "commit",
    "merge",
    "rebase",
    "cherry-pick",
    "revert",
    "am",
    "reset",
    "pull",
];

impl Segment {
    /// The first word that is not an option, and the words behind it.
    pub fn subcommand(&self) -> Option<(&str, &[String])> {
        let mut at = 0;
        while let Some(word) = self.words.get(at) {
            if self.program == "git" && GIT_OPTIONS.contains(&word.as_str()) {
                at += 2;
            } else if word.starts_with('-') {
                at += 1;
            } else {
                return Some((word, &self.words[at + 1..]));
            }
        }
        None
    }

    /// A git command that writes history.
    pub fn writes_history(&self) -> bool {
        self.program == "git"
            && self
                .subcommand()
                .is_some_and(|(word, _)| GIT_COMMITS.contains(&word))
    }

    /// `cook` with that command.
    pub fn is_cook(&self, command: &str) -> bool {
        self.program == "cook" && self.subcommand().is_some_and(|(word, _)| word == command)
    }
}

/// The simple commands of a line; empty when it cannot be split.
pub fn segments(line: &str) -> Vec<Segment> {
    if line.len() > MAX_LINE {
        return Vec::new();
    }
    parts(line)
        .into_iter()
        .filter_map(|part| shell_words::split(&part).ok())
        .filter_map(segment)
        .collect()
}

fn segment(words: Vec<String>) -> Option<Segment> {
    let is_setting = |word: &String| {
        word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        })
    };
    let mut words = words.into_iter().skip_while(|word| {
        is_setting(word) || ["env", "command", "exec", "time"].contains(&word.as_str())
    });
    let program = words.next()?;
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
    Some(Segment {
        program: name.strip_suffix(".exe").unwrap_or(name).to_owned(),
        words: words.collect(),
    })
}

/// The line cut at its operators, quotes respected.
fn parts(line: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut quote = None;
    let mut characters = line.chars().peekable();
    while let Some(c) = characters.next() {
        let part = match parts.last_mut() {
            Some(part) => part,
            None => break,
        };
        match (quote, c) {
            (None | Some('"'), '\\') => {
                part.push(c);
                part.extend(characters.next());
            }
            (None, '\'' | '"') => {
                quote = Some(c);
                part.push(c);
            }
            (Some(open), _) => {
                if open == c {
                    quote = None;
                }
                part.push(c);
            }
            (None, ';' | '|' | '&' | '\n' | '\r' | '(' | ')') => {
                while characters.peek().is_some_and(|next| "|&".contains(*next)) {
                    characters.next();
                }
                parts.push(String::new());
            }
            (None, _) => part.push(c),
        }
    }
    parts
}

/// The first word of a tracker's command line.
pub(super) fn tracker_word(segment: &Segment) -> Option<&str> {
    ["br", "bd"]
        .contains(&segment.program.as_str())
        .then(|| segment.subcommand().map(|(word, _)| word))
        .flatten()
}

/// What a command line asks of the tracker, directly or through `cook issue`: the
/// word, and the words behind it.
pub fn issue_call(segment: &Segment) -> Option<(&str, &[String])> {
    let (word, rest) = segment.subcommand()?;
    match (segment.program.as_str(), word) {
        ("br" | "bd", word) => Some((word, rest)),
        ("cook", "issue") => {
            let at = rest.iter().position(|word| !word.starts_with('-'))?;
            Some((&rest[at], &rest[at + 1..]))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn programs(line: &str) -> Vec<String> {
        segments(line).into_iter().map(|s| s.program).collect()
    }

    #[test]
    fn operators_cut_and_quotes_do_not() {
        assert_eq!(
            programs("a && b||c;d|e\nf & g"),
            ["a", "b", "c", "d", "e", "f", "g"]
        );
        assert_eq!(
            programs("echo 'a && br close x' \"; br close y\""),
            ["echo"]
        );
        assert_eq!(programs("echo a\\;b"), ["echo"]);
        assert_eq!(programs("FOO=1 BAR='x y' /usr/bin/git commit"), ["git"]);
        assert_eq!(programs("(cd x && git commit)"), ["cd", "git"]);
        assert!(programs("echo 'open").is_empty());
        assert!(segments(&"x".repeat(MAX_LINE + 1)).is_empty());
    }

    #[test]
    fn history_is_written_whatever_stands_before_the_word() {
        for line in [
            "git commit -qm x",
            "git -C sub -c a=b commit",
            "cd x && git --no-pager commit --amend",
            "git rebase main",
            "GIT_EDITOR=true git merge x",
        ] {
            assert!(segments(line).iter().any(Segment::writes_history), "{line}");
        }
        for line in [
            "git log --grep commit",
            "git status",
            "echo git commit",
            "git -c commit=x diff",
        ] {
            assert!(
                !segments(line).iter().any(Segment::writes_history),
                "{line}"
            );
        }
    }
}
