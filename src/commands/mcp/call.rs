//! One call: this program once more, with `--json`, and what it answered.

use super::tools::Line;
use cook_protocol::diagnostic::{Lines, clean};
use cook_repo::process::{Captured, ProcessError, Short, capture_until};
use rmcp::model::{CallToolResult, ContentBlock, ErrorData};
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

/// Commands have limits of their own; this one is for a command that hangs.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
/// Bytes of an answer that are read.
const MAX_ANSWER: usize = 32 << 20;

/// Runs the command of a call in `dir`, for a session that a variable names.
pub(super) fn run(
    dir: &Path,
    line: Line,
    session: Option<(String, String)>,
    is_over: impl FnMut() -> bool,
) -> Result<CallToolResult, ErrorData> {
    let program = program().map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    let mut argv = vec![program, "--json".into()];
    argv.extend(line.words.into_iter().map(Into::into));
    let command = Short {
        argv,
        dir,
        env: session
            .iter()
            .map(|(name, id)| (name.as_str(), id.into()))
            .collect(),
        stdin: line.input,
        deadline: LONGEST,
        limit: MAX_ANSWER,
        group: false,
    };
    match capture_until(&command, None, is_over) {
        Ok(captured) => result(&captured),
        Err(ProcessError::Interrupted(_)) => {
            Err(ErrorData::internal_error("the call was cancelled", None))
        }
        Err(error) => Err(ErrorData::internal_error(error.to_string(), None)),
    }
}

/// The file that runs here, even where another one has taken its place since.
fn program() -> std::io::Result<std::ffi::OsString> {
    if cfg!(target_os = "linux") {
        return Ok("/proc/self/exe".into());
    }
    std::env::current_exe().map(Into::into)
}

/// The answer of a command: what it printed, as a value and as text. A check that failed is an answer;
/// what was refused, or could not be done, is an error of the tool.
fn result(captured: &Captured) -> Result<CallToolResult, ErrorData> {
    let Ok(answer) = serde_json::from_slice::<Value>(&captured.stdout) else {
        let ending = match captured.code {
            Some(code) => format!("cook ended with {code} and no answer"),
            None => "cook was ended by a signal".to_owned(),
        };
        let said = captured.stderr.lines().next_back().unwrap_or_default();
        let said = clean(said, Lines::Fold);
        return Err(ErrorData::internal_error(format!("{ending}: {said}"), None));
    };
    let text = ["prompt", "text"]
        .iter()
        .find_map(|field| Some(answer.get(field)?.as_str()?.to_owned()))
        .unwrap_or_else(|| answer.to_string());
    let content = vec![ContentBlock::text(text)];
    let mut result = match captured.code {
        Some(0 | 1) => CallToolResult::success(content),
        _ => CallToolResult::error(content),
    };
    result.structured_content = Some(answer);
    Ok(result)
}
