//! Reads a program's events by its preset's rules while they come, and judges at the end
//! whether there is a result (agents fact 1).

use super::Preset;
use super::event_rules::{applies, find_text, find_values};
use super::failure::{AgentFailure, FailureClass, classify, moment};
use super::usage::{Bounds, Counter, Meter};
use cook_protocol::diagnostic::{Lines, clean};
use cook_protocol::model::{EventFormat, Rule};
use cook_repo::process::{ControlFlow, Ending, Line, Listener, Outcome, Source};
use cook_repo::session::SupplierErrorKind;
use serde_json::Value;
use std::time::Duration;

/// Longest answer that is taken, in bytes.
pub(super) const MAX_ANSWER: usize = 4 * 1024 * 1024;

/// What a run shows while it goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress<'a> {
    /// It runs under this process id.
    Started(u32),
    /// It uses a tool.
    Tool(&'a str),
    /// It said something: an answer so far, or a line of text.
    Said(&'a str),
    /// It waits for something or tries again, and says why.
    Notice(&'a str),
    /// Time passes.
    Pulse {
        /// Since the start.
        elapsed: Duration,
        /// Since its last output.
        quiet: Duration,
    },
}

/// What came of listening to a program.
#[derive(Default)]
pub(super) struct StreamResult {
    /// The answer, byte for byte.
    pub text: String,
    /// Structured data beside it.
    pub data: Option<Value>,
    /// The program's own name for the session.
    pub session: Option<String>,
    /// Whether the program said that it can fork the session, where it is asked.
    pub can_fork: bool,
    /// Tokens, as reported.
    pub usage: Counter,
    /// Dollars, as reported.
    pub cost: Counter,
    /// A summary, when it compacted its context.
    pub compaction: Option<String>,
    /// Tokens that were told request by request.
    pub spent: Option<Value>,
    /// What its last event was.
    pub last_event: Option<String>,
    /// Why there is no result.
    pub failure: Option<AgentFailure>,
}

/// What a program said, as far as it is read.
pub(super) struct Reader<'a> {
    preset: &'a Preset,
    watch: &'a mut dyn FnMut(Progress) -> ControlFlow,
    result: StreamResult,
    text: Option<String>,
    delta: String,
    too_long: bool,
    error: Option<String>,
    reset_at: Option<String>,
    done: bool,
    events: u64,
    unreadable: Option<String>,
    meter: Meter,
    /// The limit that it went over.
    over: Option<String>,
    /// What it waited for last, if it did nothing since.
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
            // What comes while it is being ended is no part of it.
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
        if set.text_break {
            self.delta.clear();
        }
        if let Some(delta) = text(&set.text_delta) {
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

    /// What came of it.
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

    /// What it waited for at its end, where that is no fault of its own.
    fn waits_outside(&self) -> Option<&str> {
        let notice = self.notice.as_deref()?;
        (classify(notice) == FailureClass::Environment).then_some(notice)
    }

    /// Why there is no result; none when there is one.
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
        // It may have left by itself before it was ended.
        if let Some(why) = &self.over
            && outcome.ending != Ending::Interrupted
        {
            return fail(
                FailureClass::Agent,
                SupplierErrorKind::TimedOut(why.clone()),
            );
        }
        if let Some(cut_short) = AgentFailure::of_ending(outcome.ending) {
            // One that was still told to try again later did not work too slowly.
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
            let words = last_words(outcome);
            return match self.waits_outside() {
                Some(notice) => failed(&format!("{notice}; {words}")),
                None => failed(&words),
            };
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
                _ => odd("its events end before its work is done".to_owned()),
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
                SupplierErrorKind::Failed("the answer is empty".to_owned()),
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
        if line.source == Source::Stderr || line.bytes.iter().all(u8::is_ascii_whitespace) {
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

/// What two looks at one message ask for together.
pub(super) fn strongest(one: ControlFlow, two: ControlFlow) -> ControlFlow {
    match (one, two) {
        (ControlFlow::Stop, _) | (_, ControlFlow::Stop) => ControlFlow::Stop,
        (ControlFlow::Finished, _) | (_, ControlFlow::Finished) => ControlFlow::Finished,
        (ControlFlow::Continue, ControlFlow::Continue) => ControlFlow::Continue,
    }
}

/// A session's id goes into an argument and into the name of a file that is looked for.
pub(super) fn is_session_id(id: &str) -> bool {
    (1..=200).contains(&id.len())
        && !id.starts_with('-')
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':'))
}

/// Whether nobody would see anything of it.
pub(super) fn says_nothing(answer: &str) -> bool {
    clean(answer, Lines::Fold).is_empty()
}

/// A text of the program's as one line of a message.
pub(super) fn line(text: &str) -> String {
    clean(text, Lines::Fold).chars().take(500).collect()
}

/// Why it ended, in its words on stderr, else how it ended. Its first line where that refuses how
/// it was started, because the usage text may follow; else its last lines.
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
