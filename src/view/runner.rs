//! What a job on GitHub shows and hands on: its summary and its outputs. Written when the last gate is over.

use super::Results;
use super::formats::{markdown, outputs};
use cook_core::diagnostic::{Code, Failure};
use cook_os::disk::open_to_append;
use std::io::Write;
use std::path::Path;

/// Writes them where the runner wants them; nothing without a runner.
pub(super) fn write_down(results: &Results) -> Result<(), Failure> {
    // People read the summary: it does not say what the outputs could not.
    let texts = [
        ("GITHUB_OUTPUT", outputs(results)),
        ("GITHUB_STEP_SUMMARY", markdown(results)),
    ];
    for (name, text) in texts {
        let Some(path) = std::env::var_os(name).filter(|path| !path.is_empty()) else {
            continue;
        };
        let write = |path: &Path| open_to_append(path)?.write_all(text.as_bytes());
        write(Path::new(&path)).map_err(|error| {
            let file = Path::new(&path).display();
            let what = format!("`{file}`, which `{name}` names, could not be written");
            Failure::state(Code::OutputUnwritable, what)
                .with_cause(&error)
                .replace_hints([format!(
                    "let `{name}` name a file that can be written, or unset it"
                )])
        })?;
    }
    Ok(())
}
