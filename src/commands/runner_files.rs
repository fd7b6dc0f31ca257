//! The files by which a step speaks to its CI runner, held while gates run.

use cook_protocol::diagnostic::{Code, Failure, Finding};
use cook_repo::room::RunnerFiles;
use std::io;

/// Does what runs gates; what was written to the runner meanwhile is put back and named, also where
/// the work failed.
pub(super) fn guard<T>(
    work: impl FnOnce() -> Result<T, Failure>,
) -> Result<(T, Option<Finding>), Failure> {
    let failure = |error: io::Error| {
        let what = "the files by which a step speaks to its CI runner";
        Failure::state(Code::NotWritable, what).with_cause(&error)
    };
    let files = RunnerFiles::remember().map_err(failure)?;
    let done = work();
    let written = files.put_back().map_err(failure)?;
    let finding = (!written.is_empty()).then(|| {
        let what = format!(
            "while gates ran, something wrote what `{}` names; it was put back",
            written.join("`, `")
        );
        Finding::new(Code::RunnerFilesWritten, what)
    });
    Ok((done?, finding))
}
