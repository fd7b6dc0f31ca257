//! Whose an entry is: what the user says is told from what an agent says by the name that stands
//! beside it.

use crate::diagnostic::{Code, Refusal};

/// The user, when they give no name.
const USER: &str = "user";

/// Names of cook's own and of the user's, which nobody else may use.
const TAKEN: [&str; 5] = [USER, "script", "cook", "undo", "human"];

/// The name beside an entry of the user's.
pub fn name_user(by: &str) -> String {
    match is_users(by) {
        true => by.to_owned(),
        false => format!("{USER} ({by})"),
    }
}

/// The entry is the user's.
pub fn is_users(by: &str) -> bool {
    by == USER || by.starts_with("user (")
}

/// A name that is not the user's.
///
/// # Errors
/// `user_only` when it reads as the user's or cook's own.
pub fn not_user(by: String) -> Result<String, Refusal> {
    let first = by
        .split(|c: char| !c.is_alphanumeric())
        .find(|word| !word.is_empty());
    let first = first.unwrap_or_default().to_lowercase();
    match TAKEN.contains(&first.as_str()) {
        false => Ok(by),
        true => Err(Refusal::new(
            Code::UserOnly,
            format!("only the user, or a script with `--as-user`, may sign as `{by}`"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_else_signs_as_the_user() {
        for by in [
            "user",
            "User",
            " user",
            "user (me)",
            "the-user",
            "USER-1",
            "script",
            "cook",
        ] {
            assert_eq!(not_user(by.to_owned()).is_err(), by != "the-user", "{by}");
        }
        assert!(is_users(&name_user("ann")) && is_users(&name_user("user")));
        assert!(!is_users("username") && !is_users("ann"));
    }
}
