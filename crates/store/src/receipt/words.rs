//! The words of a command.

use super::ReceiptError;

/// The words of a command, as a shell would split them.
///
/// # Errors
/// When a quote is open or there is no word.
pub fn words(command: &str) -> Result<Vec<String>, ReceiptError> {
    match shell_words::split(command) {
        Ok(words) if words.first().is_some_and(|word| !word.is_empty()) => Ok(words),
        _ => Err(ReceiptError::Command(command.to_owned())),
    }
}
