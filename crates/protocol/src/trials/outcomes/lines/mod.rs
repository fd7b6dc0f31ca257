//! Lines of runners that are known: a table, each with what reads its lines.

mod ava;
mod bun;
mod deno;
mod forms;
mod go;
mod phpunit;
mod reader;
mod rust;
mod tap;

use super::found::Found;
use super::text::without_escapes;

pub(super) use reader::Reader;
pub(super) use tap::Tap;

/// A longer line is no line with a result.
const LONGEST: usize = 8_000;
/// What stands in kept output where its middle was let go.
const GAP: &str = "[cook: ";

/// The runners in the order in which they are asked.
const RUNNERS: [fn() -> Box<dyn Reader>; 9] = [
    || Box::new(go::Go::default()),
    || Box::new(rust::Cargo::default()),
    || Box::new(rust::Nextest::default()),
    || Box::new(bun::Bun::default()),
    || Box::new(deno::Deno::default()),
    || Box::new(phpunit::Phpunit::default()),
    || Box::new(ava::Ava::default()),
    || Box::new(tap::Tap::default()),
    || Box::new(forms::Forms::default()),
];

/// Reads what a command printed, its standard output and then its standard error.
pub(super) fn read(stdout: &str, stderr: &str, found: &mut Found) {
    let mut readers = RUNNERS.map(|make| make());
    for (at, line) in stdout.lines().chain(stderr.lines()).enumerate() {
        found.line = Some(at);
        found.is_partial |= line.starts_with(GAP) && line.ends_with(" bytes left out]");
        if line.len() > LONGEST {
            continue;
        }
        let line = without_escapes(line);
        let line = line.trim_end();
        for reader in &mut readers {
            if reader.read(line, found) {
                break;
            }
        }
    }
    found.line = None;
    for reader in &mut readers {
        reader.end(found);
    }
}
