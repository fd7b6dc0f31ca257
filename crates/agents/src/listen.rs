//! Interprets a program's events by the rules of its preset as they arrive, and decides at the end whether there is a
//! result.

use super::Preset;
use super::preset::{applies, find_text, find_values, name_node, program_file};
use super::usage::{Bounds, Counter, Meter};
use cook_protocol::diagnostic::{Lines, clean};
use cook_protocol::model::{EventFormat, Rule};
use cook_repo::clock::Clock;
use cook_repo::process::{ControlFlow, Ending, Line, Listener, Outcome, Source};
use cook_repo::room;
use cook_repo::session::SupplierErrorKind;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;
use strum::IntoStaticStr;

/// The maximum length of an answer in bytes.
pub(super) const MAX_ANSWER: usize = 4 * 1024 * 1024;

/// The message for an answer without visible characters.
pub(super) const EMPTY: &str = "the answer is empty";

/// The progress of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress<'a> {
    /// The process id.
    Started(u32),
    /// A tool call.
    Tool(&'a str),
    /// An answer so far, or a line of text.
    Said(&'a str),
    /// The reason why it waits or retries.
    Notice(&'a str),
    /// Sent periodically.
    Pulse {
        /// The time since the start.
        elapsed: Duration,
        /// The time since its last output.
        quiet: Duration,
    },
}

/// The result of reading a program's output.
#[derive(Default)]
pub(super) struct StreamResult {
    /// The answer, unchanged.
    pub text: String,
    /// Structured data beside it.
    pub data: Option<Value>,
    /// The program's id of the session.
    pub session: Option<String>,
    /// Whether the session can be forked; only ACP agents are asked.
    pub can_fork: bool,
    /// The reported tokens.
    pub usage: Counter,
    /// The reported cost in dollars.
    pub cost: Counter,
    /// The summary, if it compacted its context.
    pub compaction: Option<String>,
    /// The reported context window of its model, in tokens.
    pub window: Option<u64>,
    /// The sum of the tokens that were reported for each request.
    pub spent: Option<Value>,
    /// The type of its last event.
    pub last_event: Option<String>,
    /// The reason why there is no result.
    pub failure: Option<AgentFailure>,
}

/// The state while a program's output is read.
pub(super) struct Reader<'a> {
    preset: &'a Preset,
    watch: &'a mut dyn FnMut(Progress) -> ControlFlow,
    result: StreamResult,
    text: Option<String>,
    delta: String,
    /// The next text delta begins a new text.
    breaks: bool,
    too_long: bool,
    error: Option<String>,
    reset_at: Option<String>,
    done: bool,
    events: u64,
    unreadable: Option<String>,
    meter: Meter,
    /// The limit that it exceeded.
    over: Option<String>,
    /// The reason why it waits, if it has made no progress since.
    notice: Option<String>,
}

impl<'a> Reader<'a> {
    pub(super) fn of(
        preset: &'a Preset,
        bounds: Bounds,
        watch: &'a mut dyn FnMut(Progress) -> ControlFlow,
    ) -> Self {
        Self {
            preset,
            watch,
            result: StreamResult {
                can_fork: true,
                ..StreamResult::default()
            },
            text: None,
            delta: String::new(),
            breaks: false,
            too_long: false,
            error: None,
            reset_at: None,
            done: false,
            events: 0,
            unreadable: None,
            meter: Meter::of(bounds),
            over: None,
            notice: None,
        }
    }

    fn event(&mut self, event: &Value) -> ControlFlow {
        if self.over.is_some() {
            // Events that arrive while it is being ended are ignored.
            return ControlFlow::Stop;
        }
        self.events += 1;
        let kind = event.get("type").and_then(Value::as_str);
        self.result.last_event = kind.map(line);
        let preset = self.preset;
        let mut flow = ControlFlow::Continue;
        for rule in preset.rules() {
            if applies(rule, event) {
                flow = strongest(flow, self.take(rule, event));
            }
        }
        if self.done {
            return strongest(flow, ControlFlow::Finished);
        }
        let (usage, cost) = (&self.result.usage, &self.result.cost);
        self.over = self.meter.exceeds(preset, usage, cost);
        match self.over {
            Some(_) => ControlFlow::Stop,
            None => flow,
        }
    }

    fn take(&mut self, rule: &Rule, event: &Value) -> ControlFlow {
        let set = &rule.set;
        let text = |path: &Option<String>| path.as_ref().and_then(|path| find_text(event, path));
        let value = |path: &Option<String>| {
            let found = path.as_ref().map(|path| find_values(event, path));
            found.and_then(|found| found.into_iter().next().cloned())
        };
        let mut flow = ControlFlow::Continue;
        if let Some(session) = text(&set.session).filter(|id| is_session_id(id)) {
            self.result.session = Some(session);
        }
        self.meter.take(rule, event);
        if set.text.is_some() || set.text_delta.is_some() || set.progress.is_some() {
            self.notice = None;
        }
        if let Some(notice) = text(&set.notice).map(|notice| line(&notice)) {
            flow = strongest(flow, (self.watch)(Progress::Notice(&notice)));
            self.notice = Some(notice);
        }
        if set.again {
            self.error = None;
        }
        self.breaks |= set.text_break;
        if let Some(delta) = text(&set.text_delta) {
            if std::mem::take(&mut self.breaks) {
                self.delta.clear();
            }
            self.add(&delta);
        }
        if let Some(said) = text(&set.text).filter(|said| !said.trim().is_empty()) {
            flow = strongest(flow, (self.watch)(Progress::Said(&said)));
            self.too_long |= said.len() > MAX_ANSWER;
            self.text = Some(said);
        }
        if let Some(data) = value(&set.data).filter(|data| !data.is_null()) {
            self.result.data = Some(data);
        }
        if self.error.is_none()
            && let Some(error) = text(&set.error)
        {
            self.error = Some(error);
        }
        if let Some(usage) = value(&set.usage).filter(Value::is_object) {
            self.result
                .usage
                .report(self.preset.usage_counting(), &usage);
        }
        let windows = set.window.iter().flat_map(|path| find_values(event, path));
        self.result.window = windows
            .filter_map(Value::as_u64)
            .max()
            .or(self.result.window);
        if let Some(cost) = value(&set.cost).filter(Value::is_number) {
            self.result.cost.report(self.preset.cost_counting(), &cost);
        }
        if let Some(recap) = text(&set.compaction).filter(|recap| !recap.trim().is_empty()) {
            self.result.compaction = Some(recap);
        }
        if let Some(at) = text(&set.reset_at) {
            self.reset_at = moment(&at);
        }
        if let Some(tool) = text(&set.progress) {
            flow = strongest(flow, (self.watch)(Progress::Tool(&tool)));
        }
        self.done |= set.done;
        flow
    }

    fn add(&mut self, delta: &str) {
        if self.delta.len() + delta.len() > MAX_ANSWER {
            self.too_long = true;
        } else {
            self.delta.push_str(delta);
        }
    }

    /// The result of the run.
    pub(super) fn end(mut self, outcome: &Outcome) -> StreamResult {
        self.result.text = self.answer(outcome);
        self.result.spent = self.meter.sum_tokens().cloned();
        self.result.failure = self.verdict(outcome, &self.result.text);
        self.result
    }

    fn answer(&self, outcome: &Outcome) -> String {
        let text = match (self.preset.events(), &self.text) {
            (EventFormat::Text, _) => String::from_utf8_lossy(&outcome.stdout.bytes()).into_owned(),
            (EventFormat::Json, Some(text)) => text.clone(),
            (EventFormat::Json, None) => self.delta.clone(),
        };
        match (&self.result.data, text.trim().is_empty()) {
            (Some(data), true) => data.to_string(),
            _ => text,
        }
    }

    /// The reason why it was waiting at its end, if the environment is at fault.
    fn waits_outside(&self) -> Option<&str> {
        let notice = self.notice.as_deref()?;
        (classify(notice) == FailureClass::Environment).then_some(notice)
    }

    /// The reason why there is no result; `None` if there is one.
    fn verdict(&self, outcome: &Outcome, answer: &str) -> Option<AgentFailure> {
        let fail = |class, failure| {
            let said = self.reset_at.clone();
            let reset_at = said.or_else(|| self.error.as_deref().and_then(moment));
            Some(AgentFailure {
                class,
                failure,
                reset_at,
            })
        };
        let failed = |text: &str| fail(classify(text), SupplierErrorKind::Failed(line(text)));
        let odd = |why: String| fail(FailureClass::Agent, SupplierErrorKind::Unparseable(why));
        // Checked first, because it may have exited by itself before it was ended.
        if let Some(why) = &self.over
            && outcome.ending != Ending::Interrupted
        {
            return fail(
                FailureClass::Agent,
                SupplierErrorKind::TimedOut(why.clone()),
            );
        }
        if let Some(cut_short) = AgentFailure::of_ending(outcome.ending) {
            // A program that was waiting to retry was not too slow.
            return match self
                .waits_outside()
                .filter(|_| cut_short.class == FailureClass::Agent)
            {
                Some(notice) => {
                    let why = format!("{notice}; {}", cut_short.why());
                    fail(FailureClass::Environment, SupplierErrorKind::Failed(why))
                }
                None => Some(cut_short),
            };
        }
        if let Some(error) = &self.error {
            return failed(if error.trim().is_empty() {
                "an error event without a text"
            } else {
                error
            });
        }
        let left_by_itself = outcome.ending == Ending::Exited;
        if left_by_itself && outcome.code != Some(0) {
            let mut exit = judge_exit(self.preset, outcome);
            if let Some(notice) = &self.notice {
                let words = format!("{notice}; {}", exit.why());
                return failed(&words);
            }
            exit.reset_at.clone_from(&self.reset_at);
            return Some(exit);
        }
        if self.preset.events() == EventFormat::Json && !self.done {
            if let Some(unreadable) = &self.unreadable {
                return odd(format!("a line is not an event: {unreadable}"));
            }
            if let Some(notice) = self.waits_outside() {
                return failed(notice);
            }
            return match self.events {
                0 => failed(&format!("it ended without a word; {}", last_words(outcome))),
                // stderr may say why, for example that an operation was not permitted.
                _ => odd(format!(
                    "its events end before its work is done; {}",
                    line(&last_words(outcome))
                )),
            };
        }
        let long = self.too_long
            || (self.preset.events() == EventFormat::Text
                && outcome.stdout.total > MAX_ANSWER as u64);
        if long {
            return odd("the answer is longer than cook takes".to_owned());
        }
        if says_nothing(answer) {
            return fail(
                FailureClass::Agent,
                SupplierErrorKind::Failed(EMPTY.to_owned()),
            );
        }
        None
    }
}

impl Listener for Reader<'_> {
    fn note_start(&mut self, pid: u32) {
        (self.watch)(Progress::Started(pid));
    }

    fn line(&mut self, line: Line) -> ControlFlow {
        if line.source == Source::Stderr {
            let said = clean(&String::from_utf8_lossy(line.bytes), Lines::Fold);
            return match said.get(..7).map(str::to_ascii_lowercase).as_deref() {
                Some("warning") => (self.watch)(Progress::Notice(&said)),
                _ => ControlFlow::Continue,
            };
        }
        if line.bytes.iter().all(u8::is_ascii_whitespace) {
            return ControlFlow::Continue;
        }
        if self.preset.events() == EventFormat::Text {
            return (self.watch)(Progress::Said(&String::from_utf8_lossy(line.bytes)));
        }
        let event = serde_json::from_slice::<Value>(line.bytes)
            .ok()
            .filter(|event| event.is_object() && line.whole);
        match event {
            Some(event) => self.event(&event),
            None => {
                self.unreadable.get_or_insert_with(|| {
                    let begin = &line.bytes[..line.bytes.len().min(200)];
                    clean(&String::from_utf8_lossy(begin), Lines::Fold)
                });
                ControlFlow::Continue
            }
        }
    }

    fn pulse(&mut self, elapsed: Duration, quiet: Duration) -> ControlFlow {
        (self.watch)(Progress::Pulse { elapsed, quiet })
    }
}

/// Combines the control flow of two handlers of the same message.
pub(super) fn strongest(one: ControlFlow, two: ControlFlow) -> ControlFlow {
    match (one, two) {
        (ControlFlow::Stop, _) | (_, ControlFlow::Stop) => ControlFlow::Stop,
        (ControlFlow::Finished, _) | (_, ControlFlow::Finished) => ControlFlow::Finished,
        (ControlFlow::Continue, ControlFlow::Continue) => ControlFlow::Continue,
    }
}

/// Whether an id is safe as an argument and in the name of a file to look for.
pub(super) fn is_session_id(id: &str) -> bool {
    (1..=200).contains(&id.len())
        && !id.starts_with('-')
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':'))
}

/// Whether an answer has no visible characters.
pub(super) fn says_nothing(answer: &str) -> bool {
    clean(answer, Lines::Fold).is_empty()
}

/// A text of the program as one line of a message.
pub(super) fn line(text: &str) -> String {
    clean(text, Lines::Fold).chars().take(500).collect()
}

/// The reason why it ended: from stderr, otherwise its exit code or signal. If the first line of stderr rejects the way
/// it was started, that line is used, because a usage text may follow; otherwise the last lines.
pub(super) fn last_words(outcome: &Outcome) -> String {
    let head = String::from_utf8_lossy(&outcome.stderr.head);
    let first = head.lines().map(str::trim).find(|line| !line.is_empty());
    if let Some(refusal) = first.filter(|line| classify(line) == FailureClass::Config) {
        return refusal.to_owned();
    }
    let stderr = outcome.stderr.last_lines(600);
    match (stderr.trim(), outcome.code) {
        ("", Some(code)) => format!("it ended with exit code {code}"),
        ("", None) => match outcome.signal {
            Some(signal) => format!("it was ended by signal {signal}"),
            None => "it was ended by a signal".to_owned(),
        },
        (words, _) => words.to_owned(),
    }
}

/// Judges a program that exited with a failure before its work was done.
pub(super) fn judge_exit(preset: &Preset, outcome: &Outcome) -> AgentFailure {
    let words = last_words(outcome);
    let words = match program_file(preset.bin(), Path::new(".")) {
        Some(program) => name_node(words, &program),
        None => words,
    };
    if room::never_began(outcome.code, outcome.stdout.total, &outcome.stderr.head) {
        let why = format!("its sandbox cannot be set up: {}", line(&words));
        return AgentFailure::new(FailureClass::Environment, SupplierErrorKind::Failed(why));
    }
    let words = line(&words);
    match is_start_failure(outcome) {
        true => AgentFailure::new(FailureClass::Environment, SupplierErrorKind::Absent(words)),
        false => AgentFailure::new(classify(&words), SupplierErrorKind::Failed(words)),
    }
}

/// Whether starting the program failed, and not the program itself: by the exit codes of a shell, the message of the
/// sandbox, or an error of node about a missing file.
fn is_start_failure(outcome: &Outcome) -> bool {
    let said = String::from_utf8_lossy(&outcome.stderr.head);
    let is_node = said.contains("\nNode.js v") && said.contains("node:internal/");
    let is_start = matches!(outcome.code, Some(126 | 127));
    outcome.stdout.total == 0 && (is_start || is_node || said.starts_with("bwrap: execvp "))
}

// Classification of failures by who is at fault: only the agent's own failures cost an attempt.

/// Who is at fault for a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// Not installed, no login, no network, a rate limit: waiting may help.
    Environment,
    /// The agent: an error event, an empty result, a time limit.
    Agent,
    /// A model or an option that does not exist.
    Config,
    /// Cook was asked to stop.
    Interrupted,
}

/// A run without a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentFailure {
    /// Who is at fault.
    pub class: FailureClass,
    /// The failure as the conversation records it.
    pub failure: SupplierErrorKind,
    /// The RFC 3339 time at which a limit ends, if the program named it.
    pub reset_at: Option<String>,
}

/// The program's description of an error.
pub fn describe_error(error: &SupplierErrorKind) -> &str {
    let (SupplierErrorKind::Absent(why)
    | SupplierErrorKind::Failed(why)
    | SupplierErrorKind::TimedOut(why)
    | SupplierErrorKind::Unparseable(why)) = error;
    why
}

impl FailureClass {
    pub(super) fn id(self) -> &'static str {
        self.into()
    }
}

impl AgentFailure {
    pub(super) fn new(class: FailureClass, failure: SupplierErrorKind) -> Self {
        Self {
            class,
            failure,
            reset_at: None,
        }
    }

    /// The program's description of the failure.
    pub fn why(&self) -> &str {
        describe_error(&self.failure)
    }

    /// Whether it is a limit or an overload, which ends by itself, even if the program named no time.
    pub fn passes(&self) -> bool {
        self.class == FailureClass::Environment && is_passing(self.why())
    }

    /// Whether the network or the supplier's server is unreachable.
    pub fn is_offline(&self) -> bool {
        let lower = self.why().to_lowercase();
        self.class == FailureClass::Environment && is_offline(&lower) && !is_lasting(&lower)
    }

    /// Whether the program is missing or incomplete: it may be in the middle of an update.
    pub fn is_absent(&self) -> bool {
        matches!(self.failure, SupplierErrorKind::Absent(_))
    }

    /// Whether its events, options or answer differ from cook's table for it, so that the program may be another
    /// release.
    pub(super) fn may_be_by_release(&self) -> bool {
        let is_odd = matches!(self.failure, SupplierErrorKind::Unparseable(_));
        is_odd || self.class == FailureClass::Config || self.why() == EMPTY
    }

    /// Appends to the description.
    pub(super) fn add(&mut self, words: &str) {
        let (SupplierErrorKind::Absent(why)
        | SupplierErrorKind::Failed(why)
        | SupplierErrorKind::TimedOut(why)
        | SupplierErrorKind::Unparseable(why)) = &mut self.failure;
        why.push_str("; ");
        why.push_str(words);
    }

    /// The delay after which the program said to retry.
    pub fn read_retry_after(&self) -> Option<Duration> {
        read_retry_after(self.why())
    }

    /// The failure for a run that cook ended before its work was done; `None` if it did not.
    pub(super) fn of_ending(ending: Ending) -> Option<Self> {
        let (class, failure) = match ending {
            Ending::Exited | Ending::Finished => return None,
            Ending::Interrupted | Ending::Stopped => (
                FailureClass::Interrupted,
                SupplierErrorKind::Failed("it was stopped".to_owned()),
            ),
            Ending::WallClock => (
                FailureClass::Agent,
                SupplierErrorKind::TimedOut("it took longer than it may in all".to_owned()),
            ),
            Ending::IdleClock => (
                FailureClass::Agent,
                SupplierErrorKind::TimedOut("it said nothing for longer than it may".to_owned()),
            ),
        };
        Some(Self::new(class, failure))
    }
}

/// Known phrases of error messages in lower case, and status codes.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ErrorWords {
    config: Vec<String>,
    lasting: Vec<String>,
    lasting_codes: Vec<String>,
    offline: Vec<String>,
    passing: Vec<String>,
    passing_codes: Vec<String>,
}

/// The tests below ensure that the file can be parsed.
static WORDS: LazyLock<ErrorWords> =
    LazyLock::new(|| toml::from_str(include_str!("failures.toml")).unwrap_or_default());

/// Who is at fault by the text of an error.
pub(super) fn classify(text: &str) -> FailureClass {
    let lower = text.to_lowercase();
    if holds(&lower, &WORDS.config) {
        return FailureClass::Config;
    }
    if is_lasting(&lower) || is_offline(&lower) || is_passing(text) {
        FailureClass::Environment
    } else {
        FailureClass::Agent
    }
}

fn holds(lower: &str, words: &[String]) -> bool {
    words.iter().any(|words| lower.contains(words.as_str()))
}

fn has_code(lower: &str, codes: &[String]) -> bool {
    let mut words = lower.split(|c: char| !c.is_ascii_alphanumeric());
    words.any(|word| codes.iter().any(|code| code == word))
}

fn is_lasting(lower: &str) -> bool {
    has_code(lower, &WORDS.lasting_codes) || holds(lower, &WORDS.lasting)
}

fn is_offline(lower: &str) -> bool {
    holds(lower, &WORDS.offline)
}

fn is_passing(text: &str) -> bool {
    let lower = text.to_lowercase();
    has_code(&lower, &WORDS.passing_codes) || holds(&lower, &WORDS.passing)
}

/// Parses the delay after `try again in` or `retry after`: `8s`, `3 minutes`, `1h`.
fn read_retry_after(text: &str) -> Option<Duration> {
    let lower = text.to_lowercase();
    let rest = ["try again in ", "retry after ", "retry-after: "]
        .iter()
        .find_map(|words| lower.split_once(words))?
        .1;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let number: u64 = rest.get(..digits)?.parse().ok()?;
    let unit = match rest[digits..].trim_start().bytes().next() {
        Some(b'm') if !rest[digits..].trim_start().starts_with("ms") => 60,
        Some(b'h') => 3600,
        Some(b'd') => 86_400,
        _ => 1,
    };
    Some(Duration::from_secs(number.saturating_mul(unit)))
}

/// Parses a time: RFC 3339, or seconds or milliseconds since 1970; it may follow the last `|` of a message.
pub(super) fn moment(text: &str) -> Option<String> {
    let text = text.rsplit('|').next().unwrap_or(text).trim();
    if let Some(seconds) = Clock::parse_seconds(text) {
        return Some(Clock::of_epoch(seconds));
    }
    let number: i64 = text.parse().ok()?;
    match number {
        1_000_000_000..=9_999_999_999 => Some(Clock::of_epoch(number)),
        1_000_000_000_000..=9_999_999_999_999 => Some(Clock::of_epoch(number / 1000)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_by_whose_fault_they_are() {
        use FailureClass::{Agent, Config, Environment};
        for (text, class) in [
            ("API Error: 529 overloaded_error", Environment),
            ("HTTP 429", Environment),
            ("Claude usage limit reached|1735689600", Environment),
            ("Not logged in. Please run /login", Environment),
            ("connect ECONNREFUSED 127.0.0.1:1", Environment),
            ("model not found: gpt-9", Config),
            ("error: unknown option '--frob'", Config),
            ("tool call failed 4291 times", Agent),
            ("", Agent),
        ] {
            assert_eq!(classify(text), class, "{text}");
        }
    }

    #[test]
    fn limits_pass_and_a_missing_login_does_not() {
        for (text, passes, after) in [
            ("API Error: 529 overloaded_error", true, None),
            ("usage limit reached", true, None),
            ("Rate limited. Please try again in 8s", true, Some(8)),
            ("429: retry after 2 minutes", true, Some(120)),
            ("Not logged in. Please run /login", false, None),
            ("connection refused", false, None),
        ] {
            assert_eq!(is_passing(text), passes, "{text}");
            assert_eq!(
                read_retry_after(text),
                after.map(Duration::from_secs),
                "{text}"
            );
        }
    }

    #[test]
    fn a_network_that_is_away_is_told_from_a_missing_login() {
        for (text, is_away) in [
            ("connect ECONNREFUSED 127.0.0.1:1", true),
            ("TypeError: fetch failed", true),
            ("network error: 401 unauthorized", false),
            ("Not logged in. Please run /login", false),
            ("the network of tests is green", true),
            ("it took longer than it may in all", false),
        ] {
            let failure = SupplierErrorKind::Failed(text.to_owned());
            let failed = AgentFailure::new(classify(text), failure);
            assert_eq!(failed.is_offline(), is_away, "{text}");
        }
    }

    #[test]
    fn moments() {
        let wanted = Some("2025-01-01T00:00:00Z".to_owned());
        for text in [
            "limit reached|1735689600",
            "1735689600000",
            "2025-01-01T00:00:00Z",
        ] {
            assert_eq!(moment(text), wanted, "{text}");
        }
        assert_eq!(moment("in 3 hours"), None);
    }
}
