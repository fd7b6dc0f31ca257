//! The results of `cook verify` and `cook check`, in the one form from which every format is made.
//!
//! Invariant: each text is one line of at most [`LONGEST`] characters, without control, direction or hidden characters.
//! A format only has to escape its own special characters.

use super::page::json_text;
use crate::anchor::Anchor;
use crate::check::{FilePlace, Line};
use crate::prelude::*;
use crate::verify::{Criterion, ProofVerdict};
use clap::ValueEnum;
use cook_repo::disk::open_to_append;
use maud::{Markup, PreEscaped, html};
use std::fmt::Write as _;
use std::io::Write as _;

/// The maximum length of a text in characters.
const LONGEST: usize = 2000;

/// The weight of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Weight {
    /// The command fails because of it.
    Fails,
    /// Needs attention.
    Look,
    /// For information.
    Note,
}

impl Weight {
    /// The weight of a finding, by whether the verification fails because of it.
    pub fn of(finding: &Finding, fails: bool) -> Self {
        match (fails, finding.severity()) {
            (true, _) => Self::Fails,
            (false, Severity::Note) => Self::Note,
            (false, _) => Self::Look,
        }
    }

    /// The name in SARIF and on GitHub, except that GitHub says `notice`.
    pub fn level(self) -> &'static str {
        match self {
            Self::Fails => "error",
            Self::Look => "warning",
            Self::Note => "note",
        }
    }
}

/// A finding.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub code: Code,
    pub weight: Weight,
    /// The message, with the slice or field that it is about.
    pub message: String,
    pub file: Option<FilePlace>,
    /// The next step, or the command that shows more.
    pub next: String,
    /// Whether it concerns the proof of one criterion.
    pub is_of_criterion: bool,
}

impl Found {
    /// The message after its file and line.
    pub fn with_place(&self) -> String {
        let message = &self.message;
        match &self.file {
            None => message.clone(),
            Some(FilePlace { path, line: None }) => format!("{path}: {message}"),
            Some(FilePlace {
                path,
                line: Some(line),
            }) => format!("{path}:{line}: {message}"),
        }
    }

    /// Adds the next step to a text, on its own line.
    pub fn with_next(&self, text: &str) -> String {
        match self.next.as_str() {
            "" => text.to_owned(),
            next => format!("{text}\nnext: {next}"),
        }
    }
}

/// The results of a command.
#[derive(Debug, Clone)]
pub struct Results {
    /// `cook verify` or `cook check`.
    pub(super) command: &'static str,
    pub(super) passed: bool,
    /// Whether the command could not do its work, so that nothing is known.
    pub(super) is_failure: bool,
    /// The question and its answer.
    pub(crate) verdict: String,
    /// The commit in question.
    pub(crate) head: Option<String>,
    /// The criteria with the status of their proof, and whether the command fails because of it.
    pub(super) proofs: Vec<(Criterion, bool)>,
    /// The findings, worst first.
    pub(crate) found: Vec<Found>,
    /// The completed checks.
    pub(super) checked: Vec<String>,
}

impl Results {
    /// Results with only a verdict.
    pub(crate) fn new(command: &'static str, passed: bool, verdict: &str) -> Self {
        Self {
            command,
            passed,
            is_failure: false,
            verdict: plain(verdict),
            head: None,
            proofs: Vec::new(),
            found: Vec::new(),
            checked: Vec::new(),
        }
    }

    /// Results of a command that could not do its work.
    pub(super) fn of_failure(command: &'static str, failure: &Failure) -> Self {
        let verdict = format!("not answered: {}", failure.message);
        let mut results = Self::new(command, false, &verdict);
        results.is_failure = true;
        let next = failure.hints.join("; ");
        let whole = Finding::new(failure.code, failure.message.clone());
        results.find(&whole, Weight::Fails, &next);
        for part in &failure.findings {
            if part.message != failure.message {
                results.find(part, Weight::Fails, &next);
            }
        }
        if failure.kind != FailureKind::Usage {
            let causes = failure.causes.iter();
            results.note_looked_at(causes.map(|cause| format!("because: {cause}")));
        }
        results
    }

    pub(crate) fn note_looked_at(&mut self, lines: impl IntoIterator<Item = impl AsRef<str>>) {
        let lines = lines.into_iter().map(|line| plain(line.as_ref()));
        self.checked.extend(lines);
    }

    /// Adds a criterion. With `strict`, proof that can be neither looked up nor run fails.
    pub(super) fn prove(&mut self, criterion: &Criterion, strict: bool) {
        let verdict = criterion.verdict;
        let fails = verdict.is_lost() || strict && verdict == ProofVerdict::NotReproducible;
        let criterion = Criterion {
            slice: plain(&criterion.slice),
            text: plain(&criterion.text),
            anchor: criterion.anchor.as_deref().map(plain),
            why: plain(&criterion.why),
            ..criterion.clone()
        };
        self.proofs.push((criterion, fails));
    }

    /// Adds a finding of a verification; the criteria must be added before.
    pub(super) fn find(&mut self, finding: &Finding, weight: Weight, next: &str) {
        let place = finding.place.as_deref().map(plain).unwrap_or_default();
        let message = plain(&finding.message);
        let proof = self.proofs.iter().find(|(proof, _)| {
            proof.slice == place && message.starts_with(&format!("`{}`", proof.text))
        });
        let file = match proof {
            Some((proof, _)) => proof.anchor.as_deref().and_then(find_file),
            None if place.starts_with(".agent/") => {
                let path = place.split(['#', ':']).next().unwrap_or_default();
                let path = path.to_owned();
                Some(FilePlace { path, line: None })
            }
            None => None,
        };
        let is_said = place.is_empty() || message.contains(&place);
        self.found.push(Found {
            code: finding.code,
            weight,
            is_of_criterion: proof.is_some(),
            file,
            next: plain(next),
            message: match is_said {
                true => message,
                false => plain(&format!("{place}: {message}")),
            },
        });
    }

    /// Adds a line of a check.
    pub(crate) fn add_line(&mut self, line: &Line) {
        let next = match &line.declare {
            Some(declare) => format!("{}; or declare it: {declare}", line.show),
            None => line.show.clone(),
        };
        self.found.push(Found {
            code: line.code,
            weight: match line.weight {
                cook_protocol::trials::Weight::Refuses
                | cook_protocol::trials::Weight::NotKnown => Weight::Fails,
                cook_protocol::trials::Weight::Shown => Weight::Look,
            },
            message: plain(&line.message),
            file: line.file.as_ref().map(|file| FilePlace {
                path: plain(&file.path),
                line: file.line,
            }),
            next: plain(&next),
            is_of_criterion: false,
        });
    }

    /// The word that precedes the verdict.
    pub(super) fn word(&self) -> &'static str {
        if self.passed { "passed" } else { "failed" }
    }

    /// The findings because of which the command fails.
    pub(crate) fn list_failing(&self) -> Vec<&Found> {
        let found = self.found.iter();
        found.filter(|it| it.weight == Weight::Fails).collect()
    }
}

/// The file of an anchor, unless the anchor says that it is gone.
fn find_file(anchor: &str) -> Option<FilePlace> {
    let anchor = Anchor::parse(anchor).ok()?;
    let line = match &anchor {
        Anchor::Gone { .. } => return None,
        Anchor::Lines { first, .. } => Some(*first),
        _ => None,
    };
    let path = anchor.file()?.to_owned();
    Some(FilePlace { path, line })
}

/// Puts text of others on one line.
pub(crate) fn plain(text: &str) -> String {
    let text = without_tags(&clean(text, Lines::Fold));
    shorten(&text, LONGEST)
}

/// How a command answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    /// Text for people
    #[default]
    Human,
    /// JSON, the same as --json
    Json,
    /// Annotations, job summary and outputs of a GitHub workflow
    Github,
    /// A table for a pull request
    Markdown,
    /// JUnit XML, with a suite for each slice and a case for each criterion
    Junit,
    /// SARIF 2.1.0, with a rule for each code
    Sarif,
}

impl Format {
    /// Renders the results; `None` for formats that use the answer's own text.
    pub(super) fn render(self, results: &Results) -> Option<String> {
        match self {
            Self::Human | Self::Json => None,
            Self::Github => Some(commands(results)),
            Self::Markdown => Some(markdown(results)),
            Self::Junit => Some(junit(results)),
            Self::Sarif => Some(json_text(&sarif(results))),
        }
    }
}

// SARIF 2.1.0: one rule for each code, one result for each finding.

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Makes the document.
pub fn sarif(results: &Results) -> Value {
    let mut codes: Vec<Code> = results.found.iter().map(|found| found.code).collect();
    codes.sort();
    codes.dedup();
    let found = results.found.iter();
    let proofs = results.proofs.iter().map(|(proof, _)| proof);
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "cook",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": codes.iter().map(|code| rule(*code)).collect::<Vec<_>>(),
            }},
            // One category for each command, so that the uploads of both are kept side by side.
            "automationDetails": {"id": format!("{}/", results.command.replace(' ', "-"))},
            "invocations": [{"executionSuccessful": !results.is_failure}],
            "columnKind": "unicodeCodePoints",
            "results": found.map(|found| result(found, &codes)).collect::<Vec<_>>(),
            "properties": {
                "passed": results.passed,
                "verdict": results.verdict,
                "head": results.head,
                "checked": results.checked,
                "criteria": proofs.collect::<Vec<_>>(),
            },
        }],
    })
}

fn rule(code: Code) -> Value {
    let mut rule = json!({
        "id": code.id(),
        "shortDescription": {"text": code.meaning()},
        "fullDescription": {"text": code.meaning()},
    });
    if !code.hint().is_empty() {
        rule["help"] = json!({"text": code.hint()});
    }
    rule
}

fn result(found: &Found, codes: &[Code]) -> Value {
    let path = found.file.as_ref().map(|file| file.path.as_str());
    let key = format!("{}\n{}\n{}", found.code, path.unwrap_or(""), found.message);
    json!({
        "ruleId": found.code.id(),
        "ruleIndex": codes.iter().position(|code| *code == found.code),
        "level": found.weight.level(),
        "message": {"text": found.with_next(&found.message)},
        "locations": [location(found)],
        "partialFingerprints": {"cook/v1": sha256(key)},
    })
}

/// Code scanning requires a file for each result, so a finding about the whole commit names a placeholder.
fn location(found: &Found) -> Value {
    let Some(file) = &found.file else {
        return json!({"physicalLocation": {"artifactLocation": {
            "uri": "the-commit-as-a-whole",
            "description": {"text": "no file of it"},
        }}});
    };
    let mut place = json!({"artifactLocation": {
        "uri": uri(&file.path),
        "uriBaseId": "%SRCROOT%",
    }});
    if let Some(line) = file.line {
        place["region"] = json!({"startLine": line});
    }
    json!({"physicalLocation": place})
}

/// Encodes a path below the root as a relative reference.
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

// Commands, outputs and the summary of a GitHub workflow.
//
// Invariant: each line is one command of cook's. The runner reads `::name …::` at the start of a line and the older
// `##[name …]` anywhere in a line, so text of others only follows a command, and is escaped as the runner's own toolkit
// does it.

/// Returns the verdict and a command for each finding; GitHub shows ten of a kind for each step.
pub fn commands(results: &Results) -> String {
    let level = if results.passed { "notice" } else { "error" };
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

/// Text outside the commands, on any stream: changed so that no line is a command.
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

/// Writes the job's summary and the step's outputs if a GitHub runner provides files for them. Called after the last
/// gate.
pub fn write_down(results: &Results) -> Result<()> {
    let head = results.head.as_deref().unwrap_or_default();
    // Each value is one line, because texts in the results contain no line ends.
    let outputs = format!(
        "passed={}\nverdict={}\nhead={head}\nfailing={}\nfindings={}\n",
        results.passed,
        results.verdict,
        results.list_failing().len(),
        results.found.len()
    );
    // People read the summary, so it does not mention a failure to write the outputs.
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

// JUnit XML as Jenkins and others read it: a suite for each slice with a case for each criterion, and one suite for the
// commit as a whole.

/// The outcome of a case.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    Passed,
    Skipped,
    Failed,
    /// The result is unknown.
    Broken,
}

struct Case {
    name: String,
    ending: Ending,
    /// The type of the failure.
    kind: &'static str,
    why: String,
}

/// Makes the document.
pub fn junit(results: &Results) -> String {
    let mut suites = vec![(results.command, list_of_whole(results))];
    for (proof, fails) in &results.proofs {
        let anchor = proof.anchor.as_deref().unwrap_or("nothing");
        let kind = proof.verdict.id();
        let case = Case {
            name: proof.text.clone(),
            ending: match (fails, proof.verdict) {
                (true, _) => Ending::Failed,
                (false, ProofVerdict::NotReproducible) => Ending::Skipped,
                (false, _) => Ending::Passed,
            },
            kind,
            why: format!("{kind}: {anchor}: {}", proof.why),
        };
        let of_slices = &mut suites[1..];
        match of_slices.iter_mut().find(|(name, _)| *name == proof.slice) {
            Some((_, cases)) => cases.push(case),
            None => suites.push((&proof.slice, vec![case])),
        }
    }
    write_xml(results.command, &suites)
}

/// The suite for the commit: the verdict with the completed checks, and the findings that concern no criterion.
fn list_of_whole(results: &Results) -> Vec<Case> {
    let case = |name: &str, ending, kind, why| Case {
        name: name.to_owned(),
        ending,
        kind,
        why,
    };
    let mut cases = Vec::new();
    if !results.is_failure {
        // A verdict without any finding must be a case too, because readers count cases.
        let ending = match results.passed || !results.list_failing().is_empty() {
            true => Ending::Passed,
            false => Ending::Failed,
        };
        // Readers find a case at the next commit by its name, so commits and counts are in its text.
        let verdict = format!("{}: {}", results.word(), results.verdict);
        let lines = std::iter::once(&verdict).chain(&results.checked);
        let why = lines.map(String::as_str).collect::<Vec<_>>().join("\n");
        cases.push(case("answered", ending, "failed", why));
    }
    for found in results.found.iter().filter(|found| !found.is_of_criterion) {
        let ending = match found.weight {
            Weight::Fails if results.is_failure => Ending::Broken,
            Weight::Fails => Ending::Failed,
            Weight::Look | Weight::Note => Ending::Passed,
        };
        let why = found.with_next(&found.with_place());
        cases.push(case(found.code.id(), ending, found.code.id(), why));
    }
    cases
}

fn write_xml(command: &str, suites: &[(&str, Vec<Case>)]) -> String {
    fn count<'a>(cases: impl Iterator<Item = &'a Case>, ending: Ending) -> usize {
        cases.filter(|case| case.ending == ending).count()
    }
    let all = || suites.iter().flat_map(|(_, cases)| cases);
    let text = html! {
        (PreEscaped("<?xml version=\"1.0\" encoding=\"UTF-8\"?>"))
        testsuites name=(command) tests=(all().count())
            failures=(count(all(), Ending::Failed)) errors=(count(all(), Ending::Broken)) {
            @for (name, cases) in suites {
                testsuite name=(name) tests=(cases.len())
                    failures=(count(cases.iter(), Ending::Failed))
                    errors=(count(cases.iter(), Ending::Broken))
                    skipped=(count(cases.iter(), Ending::Skipped)) {
                    @for case in cases {
                        testcase classname=(name) name=(without_nothing(&case.name)) { (explain(case)) }
                    }
                }
            }
        }
    };
    text.into_string() + "\n"
}

/// Removes characters that XML cannot contain.
fn without_nothing(text: &str) -> String {
    text.replace(['\u{fffe}', '\u{ffff}'], "")
}

/// The element for the outcome of a case.
fn explain(case: &Case) -> Markup {
    let why = without_nothing(&case.why);
    let first = why.lines().next().unwrap_or_default();
    html! {
        @match case.ending {
            Ending::Passed if why.is_empty() => {}
            Ending::Passed => system-out { (why) },
            Ending::Skipped => skipped { (why) },
            Ending::Failed => failure type=(case.kind) message=(first) { (why) },
            Ending::Broken => error type=(case.kind) message=(first) { (why) },
        }
    }
}

// Markdown for a pull request or a job's summary.
//
// Invariant: each character of others' text that has a meaning in Markdown or HTML is written as a character reference,
// so that it neither formats text nor closes a table. Words that a forge would link, such as names of people, issues
// and addresses, are written as code, in which nothing is linked.

/// The limits of a cell in characters, and of a table in rows.
const CELL: usize = 300;
const ROWS: usize = 100;
/// The limit in bytes: GitHub drops a step's summary of more than 1 MiB.
const SUMMARY: usize = 900_000;

/// The verdict, the criteria with the status of their proof, the findings, and the completed checks.
pub fn markdown(results: &Results) -> String {
    let sign = sign(results.passed);
    let mut text = format!("### {sign} `{}` {}\n\n", results.command, results.word());
    let _ = writeln!(text, "{}\n", words(&results.verdict));
    tables(&mut text, results);
    if let Some(head) = &results.head {
        let _ = writeln!(text, "Commit {}", code(head));
    }
    cut(text, SUMMARY)
}

/// Cuts text that is too long for a forge at a line end, and says so.
pub(crate) fn cut(mut text: String, longest: usize) -> String {
    if text.len() > longest {
        let line = text.as_bytes()[..longest].iter().rposition(|b| *b == b'\n');
        text.truncate(line.map_or(0, |at| at + 1));
        text.push_str("\n*Cut here, at the forge's limit. `cook verify` prints everything.*\n");
    }
    text
}

pub(crate) fn sign(passed: bool) -> &'static str {
    if passed { "✅" } else { "❌" }
}

/// The criteria, the findings, and the completed checks.
pub(crate) fn tables(text: &mut String, results: &Results) {
    if !results.proofs.is_empty() {
        let rows = results.proofs.iter().map(|(proof, fails)| {
            let sign = match (fails, proof.verdict) {
                (true, _) => "❌",
                (false, ProofVerdict::Recorded | ProofVerdict::NotReproducible) => "⚠️",
                (false, _) => "✅",
            };
            [
                sign.to_owned(),
                code(&proof.slice),
                words(&proof.text),
                proof.verdict.id().replace('_', " "),
                proof.anchor.as_deref().map_or("none".to_owned(), code),
            ]
        });
        let heads = ["", "slice", "criterion", "proof", "evidence"];
        table(text, heads, rows, ("criterion", "criteria"));
    }
    if !results.found.is_empty() {
        let rows = results.found.iter().map(|found| {
            let weight = match found.weight {
                Weight::Fails => "❌ fails",
                Weight::Look => "⚠️ look",
                Weight::Note => "ℹ️ note",
            };
            [
                weight.to_owned(),
                format!("`{}`", found.code),
                words(&found.with_place()),
                words(&found.next),
            ]
        });
        let heads = ["", "found", "what", "next"];
        table(text, heads, rows, ("finding", "findings"));
    }
    if !results.checked.is_empty() {
        let count = count_noun(results.checked.len(), "line");
        let _ = writeln!(
            text,
            "<details><summary>What was looked at ({count})</summary>\n"
        );
        for line in results.checked.iter().take(ROWS) {
            let _ = writeln!(text, "- {}", words(line));
        }
        text.push_str("\n</details>\n\n");
    }
}

/// Writes a table of cells in Markdown. If rows are left out, their number and noun follow.
pub(crate) fn table<const N: usize>(
    text: &mut String,
    heads: [&str; N],
    rows: impl ExactSizeIterator<Item = [String; N]>,
    (one, many): (&str, &str),
) {
    let more = rows.len().saturating_sub(ROWS);
    let _ = writeln!(text, "| {} |", heads.join(" | "));
    let _ = writeln!(text, "|{}", "---|".repeat(N));
    for row in rows.take(ROWS) {
        let _ = writeln!(text, "| {} |", row.join(" | "));
    }
    if more > 0 {
        let noun = if more == 1 { one } else { many };
        let _ = writeln!(text, "\n{more} more {noun} not shown here.");
    }
    text.push('\n');
}

/// Quotes several lines of others' text.
pub(crate) fn quote_lines(text: &str, longest: usize) -> String {
    let text = without_tags(&clean(text, Lines::Keep));
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let mut quoted = String::new();
    for line in lines.iter().take(longest) {
        let _ = writeln!(quoted, "> {}  ", words(line.trim()));
    }
    if lines.len() > longest {
        quoted.push_str("> …\n");
    }
    quoted.push('\n');
    quoted
}

/// Text of others on one line; text in backquotes becomes code.
pub(crate) fn words(text: &str) -> String {
    let text = shorten(text, CELL);
    let parts = text.split('`').enumerate();
    let shown = parts.map(|(at, part)| match at % 2 {
        1 => code(part),
        _ => part.split(' ').map(word).collect::<Vec<_>>().join(" "),
    });
    shown.collect()
}

/// Writes a word, as code if a forge would turn it into a link.
fn word(word: &str) -> String {
    let is_linked = word.contains(['@', '#', '!', '$', '~', '%']) && word.len() > 1
        || word.contains(":/")
        || word.to_ascii_lowercase().starts_with("gh-")
        || word.to_ascii_lowercase().contains("www.");
    match is_linked {
        true => code(word),
        false => escape(word),
    }
}

/// Text of others on one line, as code.
pub(crate) fn code(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    format!("<code>{}</code>", escape(&shorten(text, CELL)))
}

/// Writes special characters of Markdown and HTML as references, and breaks the beginning of links.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    let mut before = [' '; 3];
    while let Some(c) = rest.next() {
        let is_link = match c {
            ':' => rest.peek() == Some(&'/'),
            '.' => before.iter().all(|c| c.eq_ignore_ascii_case(&'w')),
            c => "&<>|*_`[]\\~$@#!".contains(c),
        };
        match is_link {
            true => {
                let _ = write!(escaped, "&#{};", u32::from(c));
            }
            false => escaped.push(c),
        }
        before = [before[1], before[2], c];
    }
    escaped
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

#[cfg(test)]
mod markdown_tests {
    use super::*;

    /// Text stays text and code stays code; neither links to a person or an address.
    #[test]
    fn sentences_are_no_code() {
        for (text, shown) in [
            ("`a.rs` has 1 test", "<code>a.rs</code> has 1 test"),
            (
                "see @someone, #1 and 50 %",
                "see <code>&#64;someone,</code> <code>&#35;1</code> and 50 %",
            ),
            (
                "at http://a | <b>",
                "at <code>http&#58;//a</code> &#124; &#60;b&#62;",
            ),
            ("run `a @b", "run <code>a &#64;b</code>"),
        ] {
            assert_eq!(words(text), shown);
        }
    }

    #[test]
    fn what_somebody_wrote_is_only_shown() {
        for (text, shown) in [
            ("a | b", "a &#124; b"),
            ("`</code>`", "&#96;&#60;/code&#62;&#96;"),
            (
                "@someone #1 ![x](y)",
                "&#64;someone &#35;1 &#33;&#91;x&#93;(y)",
            ),
            (
                "http://a www.b src/a.rs:1",
                "http&#58;//a www&#46;b src/a.rs:1",
            ),
        ] {
            assert_eq!(code(text), format!("<code>{shown}</code>"));
        }
        assert_eq!(cut("é\né\n".to_owned(), 6), "é\né\n");
        assert!(cut("é\né\n".to_owned(), 5).starts_with("é\n\n*Cut here"));
    }
}
