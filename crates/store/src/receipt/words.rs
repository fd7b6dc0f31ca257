//! The words of a command.

use super::ReceiptError;

/// The words of a command, as a shell would split them. No shell runs it, so that what only a shell does is refused.
///
/// # Errors
/// When a quote is open, there is no word, or an operator of a shell stands outside of quotes.
pub fn words(command: &str) -> Result<Vec<String>, ReceiptError> {
    let words = split(command)?;
    match needs_shell(command) {
        false => Ok(words),
        true => Err(ReceiptError::Command(command.to_owned())),
    }
}

/// The words of a command that is not run: an older list of trust may hold an operator of a shell.
///
/// # Errors
/// When a quote is open or there is no word.
pub(super) fn split(command: &str) -> Result<Vec<String>, ReceiptError> {
    match shell_words::split(command) {
        Ok(words) if words.first().is_some_and(|word| !word.is_empty()) => Ok(words),
        _ => Err(ReceiptError::Command(command.to_owned())),
    }
}

/// Whether an operator of a shell stands outside of quotes: `&&`, a pipe, a redirection.
fn needs_shell(command: &str) -> bool {
    let (mut quote, mut is_escaped) = (None, false);
    for c in command.chars() {
        match (c, quote) {
            _ if is_escaped => is_escaped = false,
            ('\\', None | Some('"')) => is_escaped = true,
            (_, Some(open)) => quote = (c != open).then_some(open),
            ('"' | '\'', None) => quote = Some(c),
            ('|' | '&' | ';' | '<' | '>' | '(' | ')' | '`', None) => return true,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_a_shell_does_is_no_command() {
        for command in [
            "a && b", "a | b", "a; b", "a >b", "a $(b)", "a `b`", "a &", "'a", "",
        ] {
            assert!(words(command).is_err(), "{command}");
        }
        assert_eq!(
            words("a '&&' \"b | c\" d\\;").unwrap(),
            ["a", "&&", "b | c", "d;"]
        );
        assert_eq!(words("sh -c 'a && b'").unwrap().len(), 3);
    }
}
