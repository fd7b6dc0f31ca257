//! Commands, outputs and the summary of a workflow on GitHub.
//!
//! Invariant: each line is one command of ours. The runner reads `::name …::` at the start of a line
//! and the older `##[name …]` anywhere in one, so a text of somebody's stands only behind a command
//! and is escaped as the runner's own toolkit does.

use crate::view::results::{Found, Results, Weight};

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
    let level = match found.weight {
        Weight::Fails => "error",
        Weight::Look => "warning",
        Weight::Note => "notice",
    };
    let title = format!("{}: {}", results.command, found.code);
    let line = found.file.as_ref().and_then(|file| file.line);
    let line = line.map(|line| line.to_string());
    let mut properties = vec![("title", title.as_str())];
    if let Some(file) = &found.file {
        properties.push(("file", &file.path));
        properties.extend(line.as_deref().map(|line| ("line", line)));
    }
    let message = match found.next.is_empty() {
        true => found.message.clone(),
        false => format!("{}\nnext: {}", found.message, found.next),
    };
    command(level, &properties, &message)
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

/// The step's outputs, one line each: no text in [`Results`] holds a line end.
pub fn outputs(results: &Results) -> String {
    let head = results.head.as_deref().unwrap_or_default();
    format!(
        "passed={}\nverdict={}\nhead={head}\nfailing={}\nfindings={}\n",
        results.passed,
        results.verdict,
        results.failing(),
        results.found.len()
    )
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
