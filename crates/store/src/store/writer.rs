//! The name of this process, in each transition that it writes.
//!
//! The rest of a commit may be equal to what another machine decides in the same second, and git
//! would tell both that they were the first to push it.

use super::error::{During, StoreError};
use cook_core::digest::hex;
use cook_os::clock::TEST_VARIABLE;
use std::sync::OnceLock;

/// Random bytes of a name.
const BYTES: usize = 16;

/// A name for tests that compare commits. Honoured only while `COOK_TEST=1` is set too.
const NAME_VARIABLE: &str = "COOK_WRITER";

/// 32 hexadecimal digits, the same for as long as the process lives.
pub(super) fn name() -> Result<&'static str, StoreError> {
    static NAME: OnceLock<String> = OnceLock::new();
    if let Some(name) = NAME.get() {
        return Ok(name);
    }
    let name = match read_name_for_tests() {
        Some(name) => name,
        None => {
            let mut bytes = [0; BYTES];
            getrandom::fill(&mut bytes).writing("the writer's name")?;
            hex(&bytes)
        }
    };
    Ok(NAME.get_or_init(|| name))
}

fn read_name_for_tests() -> Option<String> {
    if std::env::var(TEST_VARIABLE).as_deref() != Ok("1") {
        return None;
    }
    std::env::var(NAME_VARIABLE)
        .ok()
        .filter(|name| is_name(name))
}

/// Whether another process can have been called so.
pub(super) fn is_name(text: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    text.len() == 2 * BYTES && text.bytes().all(is_digit)
}
