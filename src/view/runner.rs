//! What a job on GitHub shows and hands on: its summary and its outputs. Written when the last gate is over.

use super::Results;
use super::formats::{markdown, outputs};
use cook_core::diagnostic::{Code, Failure};
use cook_os::disk::open_to_append;
use std::io::Write;
use std::path::Path;

/// Writes them where the runner wants them; nothing without a runner.
pub(super) fn write_down(results: &Results) -> Result<(), Failure> {
    let texts = [
        ("GITHUB_STEP_SUMMARY", markdown(results)),
        ("GITHUB_OUTPUT", outputs(results)),
    ];
    for (name, text) in texts {
        let Some(path) = std::env::var_os(name).filter(|path| !path.is_empty()) else {
            continue;
        };
        let write = |path: &Path| open_to_append(path)?.write_all(text.as_bytes());
        write(Path::new(&path)).map_err(|error| {
            let what = format!("the file that `{name}` names could not be written");
            Failure::state(Code::OutputUnwritable, what).with_cause(&error)
        })?;
    }
    Ok(())
}
