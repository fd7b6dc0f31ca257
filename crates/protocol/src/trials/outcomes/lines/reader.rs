//! What reads the lines of a runner.

use crate::trials::outcomes::found::Found;

/// Reads the lines of a runner, one after the other.
pub(in crate::trials::outcomes) trait Reader {
    /// Reads a line without escapes; says whether it was this runner's.
    fn read(&mut self, line: &str, found: &mut Found) -> bool;
    /// There is no other line.
    fn end(&mut self, _found: &mut Found) {}
}
