//! Commands, outputs and the summary of a workflow on GitHub.
//!
//! Invariant: each line is one command of ours. The runner reads `::name …::` at the start of a line
//! and the older `##[name …]` anywhere in one, so a text of somebody's stands only behind a command
//! and is escaped as the runner's own toolkit does.

use super::markdown::markdown;
use crate::view::results::{Found, Results};
use cook_protocol::diagnostic::{Code, Failure};
use cook_repo::disk::open_to_append;
use std::io::Write;
use std::path::Path;

/// The verdict, then a command for each finding: GitHub shows ten of a kind for each step.
pub fn commands(results: &Results) -> String {
    let level = match results.passed {
        true => "notice",
        false => "error",
    };
    let verdict = format!("{}: {}", results.word(), results.verdict);
    let mut text = command(level, &[("title", results.command)], &verdict);
    for found in &results.found {
        text.push_str(&finding(results, found));
    }
    text
}

fn finding(results: &Results, found: &Found) -> String {
    let level = found.weight.level().replace("note", "notice");
    let title = format!("{}: {}", results.command, found.code);
    let line = found.file.as_ref().and_then(|file| file.line);
    let line = line.map(|line| line.to_string());
    let mut properties = vec![("title", title.as_str())];
    if let Some(file) = &found.file {
        properties.push(("file", &file.path));
        properties.extend(line.as_deref().map(|line| ("line", line)));
    }
    command(&level, &properties, &found.with_next(&found.message))
}

fn command(name: &str, properties: &[(&str, &str)], message: &str) -> String {
    let properties: Vec<String> = properties
        .iter()
        .map(|(key, value)| format!("{key}={}", escape_property(value)))
        .collect();
    let message = escape_data(message);
    format!("::{name} {}::{message}\n", properties.join(","))
}

fn escape_data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

fn escape_property(text: &str) -> String {
    escape_data(text).replace(':', "%3A").replace(',', "%2C")
}

/// Text beside the commands, on whatever stream: no line of it is one.
pub fn harmless(text: &str) -> String {
    let mut harmless = String::with_capacity(text.len());
    for line in text.replace("##[", "## [").split_inclusive('\n') {
        if line.trim_start().starts_with("::") {
            harmless.push_str("| ");
        }
        harmless.push_str(line);
    }
    harmless
}

/// Writes what a job on GitHub shows and hands on, its summary and the step's outputs, where the runner wants
/// them; nothing without a runner. It is written when the last gate is over.
pub fn write_down(results: &Results) -> Result<(), Failure> {
    let head = results.head.as_deref().unwrap_or_default();
    // One line each: no text in the results holds a line end.
    let outputs = format!(
        "passed={}\nverdict={}\nhead={head}\nfailing={}\nfindings={}\n",
        results.passed,
        results.verdict,
        results.list_failing().len(),
        results.found.len()
    );
    // People read the summary: it does not say what the outputs could not.
    let texts = [
        ("GITHUB_OUTPUT", outputs),
        ("GITHUB_STEP_SUMMARY", markdown(results)),
    ];
    for (name, text) in texts {
        let Some(path) = std::env::var_os(name).filter(|path| !path.is_empty()) else {
            continue;
        };
        let path = Path::new(&path);
        let written = open_to_append(path).and_then(|mut it| it.write_all(text.as_bytes()));
        written.map_err(|error| {
            let file = path.display();
            let what = format!("`{file}`, which `{name}` names, could not be written");
            let hint = format!("let `{name}` name a file that can be written, or unset it");
            Failure::state(Code::OutputUnwritable, what)
                .with_cause(&error)
                .replace_hints([hint])
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_becomes_a_command() {
        let text = "100%\r\n::error::x, a:b";
        assert_eq!(
            command("error", &[("title", text)], text),
            "::error title=100%25%0D%0A%3A%3Aerror%3A%3Ax%2C a%3Ab::100%25%0D%0A::error::x, a:b\n"
        );
        assert_eq!(
            harmless(" ::add-mask::x\n##[error]y\n"),
            "|  ::add-mask::x\n## [error]y\n"
        );
    }
}
