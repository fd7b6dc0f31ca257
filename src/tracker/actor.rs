//! Who this session is to a tracker.

use cook_os::process::{Short, capture};
use std::path::Path;
use std::time::Duration;

/// Variables that name the actor, the first that is set counts.
const NAMED_BY: [&str; 3] = ["BR_ACTOR", "BD_ACTOR", "BEADS_ACTOR"];
/// How long git may take to say a name.
const DEADLINE: Duration = Duration::from_secs(2);

/// A name, and the other names the same person goes by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// What claims are made under.
    pub name: String,
    /// Names under which the tracker may know the same person.
    pub also: Vec<String>,
}

impl Actor {
    /// The variable that a tracker's own programs read, and then nobody else; else
    /// git's `user.name`, with the login and the mail address beside it.
    pub fn of(root: &Path) -> Self {
        let variable = |name: &&str| std::env::var(name).ok().filter(|value| usable(value));
        if let Some(name) = NAMED_BY.iter().find_map(variable) {
            return Self {
                name,
                also: Vec::new(),
            };
        }
        let login = ["USER", "LOGNAME"].iter().find_map(variable);
        let mut names: Vec<String> = [
            setting(root, "user.name"),
            login,
            setting(root, "user.email"),
        ]
        .into_iter()
        .flatten()
        .collect();
        if names.is_empty() {
            names.push("cook".to_owned());
        }
        Self {
            name: names.remove(0),
            also: names,
        }
    }

    /// Whether a name is this actor's.
    pub fn is(&self, name: &str) -> bool {
        name == self.name || self.also.iter().any(|also| also == name)
    }
}

/// A name that can stand in an argument.
fn usable(name: &str) -> bool {
    !name.trim().is_empty() && name.len() <= 200 && !name.chars().any(char::is_control)
}

/// A git setting; git that does not answer leaves the name to the next source.
fn setting(root: &Path, name: &str) -> Option<String> {
    let captured = capture(&Short {
        argv: ["git", "config", "--get", name].map(Into::into).to_vec(),
        dir: root,
        env: Vec::new(),
        stdin: Vec::new(),
        deadline: DEADLINE,
        limit: 4096,
        group: false,
    })
    .ok()?;
    let value = String::from_utf8(captured.stdout).ok()?;
    let value = value.trim();
    usable(value).then(|| value.to_owned())
}
