//! Agents that speak the Agent Client Protocol, version 1, over stdio: one process for each
//! call, in it one session, in it one prompt.
//!
//! Invariants: cook offers neither files nor terminals; a permission is given by the
//! role's access alone, and for one time only; an earlier session is forked, never loaded,
//! because whoever loads one goes on in it; the turn's stop reason decides, not the exit
//! code of a process whose input cook has closed.

mod answer;
mod message;

use self::answer::{choice_of_model, error_text, permission};
use self::message::Message;
use super::failure::{AgentFailure, FailureClass, class_of, moment};
use super::listen::{
    MAX_ANSWER, Progress, Told, harmless, is_session_id, last_words, line, strongest,
};
use super::task::Task;
use super::usage::Counter;
use cook_core::diagnostic::{Lines, clean};
use cook_core::model::Access;
use cook_os::process::{Heed, Line, Listener, Outcome, Source};
use cook_store::session::Failure;
use serde_json::{Value, json};
use std::time::Duration;

/// The version of the protocol.
const VERSION: u64 = 1;
/// How long an agent may take at most until it has a session: it has nothing to think about.
const OPENING: Duration = Duration::from_secs(60);
/// The error code of an agent that wants a login first.
const LOGIN_REQUIRED: i64 = -32000;

/// How far a conversation has come: each stage waits for the answer to one request, which
/// carries its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
enum Stage {
    Greeting = 0,
    Opening = 1,
    ChoosingModel = 2,
    Prompting = 3,
    Over = 4,
}

/// One turn with an agent.
pub(super) struct Conversation<'a> {
    task: &'a Task<'a>,
    prompt: &'a str,
    watch: &'a mut dyn FnMut(Progress) -> Heed,
    stage: Stage,
    /// The agent's name for the session, as it gave it.
    id: String,
    forks: bool,
    leaving: bool,
    to_say: Vec<u8>,
    /// What it said since it last used a tool.
    text: String,
    /// What it said before that.
    earlier: String,
    /// How much of the text was shown.
    shown: usize,
    too_long: bool,
    usage: Counter,
    cost: Counter,
    broken: Option<AgentFailure>,
    /// The first that made no sense.
    odd: Option<String>,
    /// What it was last refused permission for: some agents end their turn then.
    denied: Option<String>,
}

impl<'a> Conversation<'a> {
    pub(super) fn of(
        task: &'a Task<'a>,
        prompt: &'a str,
        watch: &'a mut dyn FnMut(Progress) -> Heed,
    ) -> Self {
        Self {
            task,
            prompt,
            watch,
            stage: Stage::Greeting,
            id: String::new(),
            forks: false,
            leaving: false,
            to_say: Vec::new(),
            text: String::new(),
            earlier: String::new(),
            shown: 0,
            too_long: false,
            usage: Counter::default(),
            cost: Counter::default(),
            broken: None,
            odd: None,
            denied: None,
        }
    }

    /// The first message.
    pub(super) fn greeting() -> Vec<u8> {
        let params = json!({
            "protocolVersion": VERSION,
            "clientCapabilities": {
                "fs": {"readTextFile": false, "writeTextFile": false},
                "terminal": false,
            },
            "clientInfo": {"name": "cook", "title": "cook", "version": env!("CARGO_PKG_VERSION")},
        });
        message::request(Stage::Greeting as u64, "initialize", &params)
    }

    fn ask(&mut self, stage: Stage, method: &str, params: &Value) {
        self.stage = stage;
        self.to_say
            .extend(message::request(stage as u64, method, params));
    }

    fn fail(&mut self, class: FailureClass, failure: Failure, reset_at: Option<String>) -> Heed {
        self.broken.get_or_insert(AgentFailure {
            class,
            failure,
            reset_at,
        });
        Heed::Finished
    }

    fn failed(&mut self, class: FailureClass, why: &str) -> Heed {
        self.fail(class, Failure::Failed(line(why)), moment(why))
    }

    fn unparseable(&mut self, why: &str) -> Heed {
        let why = Failure::Unparseable(line(why));
        self.fail(FailureClass::Agent, why, None)
    }

    fn is_odd(&mut self, what: &str) -> Heed {
        self.odd.get_or_insert_with(|| line(what));
        Heed::GoOn
    }

    fn hear(&mut self, message: Message) -> Heed {
        match message {
            Message::Request { id, method, params } => self.asked(&id, &method, &params),
            Message::Notification { method, params } => {
                let ours = params.get("sessionId").and_then(Value::as_str) == Some(&self.id);
                match method.as_str() {
                    "session/update" if ours && self.stage == Stage::Prompting => {
                        self.update(params.get("update").unwrap_or(&Value::Null))
                    }
                    _ => Heed::GoOn,
                }
            }
            Message::Result { id, result } if self.awaits(id) => self.answered(&result),
            Message::Error { id, error } if self.awaits(id) => self.refused(&error),
            Message::Result { .. } | Message::Error { .. } => {
                self.is_odd("it answers a request that was never made")
            }
        }
    }

    fn awaits(&self, id: Option<u64>) -> bool {
        self.stage != Stage::Over && id == Some(self.stage as u64)
    }

    /// What the agent asks of cook.
    fn asked(&mut self, id: &Value, method: &str, params: &Value) -> Heed {
        let answer = match method {
            "session/request_permission" => {
                let outcome = match self.leaving {
                    true => json!({"outcome": "cancelled"}),
                    false => permission(self.task.access, params),
                };
                if !matches!(self.task.access, Access::Write | Access::Full) {
                    let title = params.pointer("/toolCall/title").and_then(Value::as_str);
                    self.denied = Some(line(title.unwrap_or("a tool")));
                }
                message::result(id, &json!({"outcome": outcome}))
            }
            _ => message::not_offered(id, method),
        };
        self.to_say.extend(answer);
        Heed::GoOn
    }

    /// The answer that this stage waits for.
    fn answered(&mut self, result: &Value) -> Heed {
        match self.stage {
            Stage::Greeting => self.greeted(result),
            Stage::Opening => self.opened(result),
            Stage::ChoosingModel => self.send_prompt(),
            Stage::Prompting => self.stopped(result),
            Stage::Over => Heed::GoOn,
        }
    }

    fn greeted(&mut self, result: &Value) -> Heed {
        match result.get("protocolVersion").and_then(Value::as_u64) {
            Some(VERSION) => {}
            Some(other) => {
                let why = format!("it speaks version {other} of the protocol, cook version 1");
                return self.failed(FailureClass::Config, &why);
            }
            None => return self.unparseable("its answer to `initialize` names no version"),
        }
        self.forks = result
            .pointer("/agentCapabilities/sessionCapabilities/fork")
            .is_some_and(Value::is_object);
        let mut params = json!({"cwd": self.task.dir.display().to_string(), "mcpServers": []});
        let method = match self.task.fork {
            None => "session/new",
            Some(_) if !self.forks => {
                return self.failed(
                    FailureClass::Config,
                    "it no longer forks sessions: `--native never` tells it what was said",
                );
            }
            Some(native) => {
                params["sessionId"] = json!(native.session);
                "session/fork"
            }
        };
        self.ask(Stage::Opening, method, &params);
        Heed::GoOn
    }

    fn opened(&mut self, result: &Value) -> Heed {
        let Some(id) = result.get("sessionId").and_then(Value::as_str) else {
            return self.unparseable("its new session has no id");
        };
        self.id = id.to_owned();
        let by_argument = || {
            let mut items = self.task.preset.start().iter();
            items.any(|item| item.contains("{model}"))
        };
        match self.task.model {
            Some(model) if !by_argument() => match choice_of_model(&self.id, model, result) {
                Some((method, params)) => {
                    self.ask(Stage::ChoosingModel, method, &params);
                    Heed::GoOn
                }
                None => self.failed(
                    FailureClass::Config,
                    "it offers no choice of model: `{model}` in `start` names it by argument",
                ),
            },
            _ => self.send_prompt(),
        }
    }

    fn send_prompt(&mut self) -> Heed {
        let params = json!({
            "sessionId": self.id,
            "prompt": [{"type": "text", "text": self.prompt}],
        });
        self.ask(Stage::Prompting, "session/prompt", &params);
        Heed::GoOn
    }

    /// The turn is over.
    fn stopped(&mut self, result: &Value) -> Heed {
        self.stage = Stage::Over;
        self.show_line(true);
        if let Some(usage) = result.get("usage").filter(|usage| usage.is_object()) {
            let counting = self.task.preset.usage_counting();
            self.usage.report(counting, usage);
        }
        match result.get("stopReason").and_then(Value::as_str) {
            Some("end_turn") => Heed::Finished,
            Some(reason @ ("max_tokens" | "max_turn_requests" | "refusal" | "cancelled")) => {
                let why = format!("it stopped before the work was done: {reason}");
                self.failed(FailureClass::Agent, &why)
            }
            Some(_) | None => self.unparseable("its turn ended without a reason that is known"),
        }
    }

    fn refused(&mut self, error: &Value) -> Heed {
        let why = error_text(error);
        if error.get("code").and_then(Value::as_i64) == Some(LOGIN_REQUIRED) {
            let why = format!("it wants a login first: {why}");
            return self.failed(FailureClass::Environment, &why);
        }
        let class = match self.stage {
            Stage::ChoosingModel => FailureClass::Config,
            _ => class_of(&why),
        };
        self.failed(class, &why)
    }

    /// What goes on in the turn.
    fn update(&mut self, update: &Value) -> Heed {
        let text = |path: &str| update.pointer(path).and_then(Value::as_str);
        match text("/sessionUpdate") {
            Some("agent_message_chunk") => match (text("/content/type"), text("/content/text")) {
                (Some("text"), Some(words)) => self.add(words),
                _ => Heed::GoOn,
            },
            Some("tool_call") => {
                let said = self.show_line(true);
                if !self.text.trim().is_empty() {
                    self.earlier = std::mem::take(&mut self.text);
                }
                self.text.clear();
                self.shown = 0;
                let title = text("/title").or_else(|| text("/kind")).unwrap_or("tool");
                let title: String = clean(title, Lines::Fold).chars().take(200).collect();
                strongest(said, (self.watch)(Progress::Tool(&title)))
            }
            Some("usage_update") => {
                let cost = update.get("cost").unwrap_or(&Value::Null);
                let amount = cost.get("amount").filter(|amount| amount.is_number());
                if let (Some(amount), Some("USD")) = (amount, text("/cost/currency")) {
                    self.cost.report(self.task.preset.cost_counting(), amount);
                }
                Heed::GoOn
            }
            _ => Heed::GoOn,
        }
    }

    fn add(&mut self, words: &str) -> Heed {
        if self.text.len() + words.len() > MAX_ANSWER {
            self.too_long = true;
            return Heed::GoOn;
        }
        self.text.push_str(words);
        match words.contains('\n') {
            true => self.show_line(false),
            false => Heed::GoOn,
        }
    }

    /// Shows the lines that are whole by now; at the end of a message also the last one.
    fn show_line(&mut self, ended: bool) -> Heed {
        let new = &self.text[self.shown..];
        let whole = match (ended, new.rfind('\n')) {
            (true, _) => new.len(),
            (false, Some(end)) => end + 1,
            (false, None) => return Heed::GoOn,
        };
        let said = new[..whole].trim_end();
        let heed = match said.is_empty() {
            true => Heed::GoOn,
            false => (self.watch)(Progress::Said(said)),
        };
        self.shown += whole;
        heed
    }

    /// What came of it.
    pub(super) fn told(self, outcome: &Outcome) -> Told {
        let said = match self.text.trim().is_empty() {
            true => &self.earlier,
            false => &self.text,
        };
        let text = harmless(said).trim().to_owned();
        let failure = self.verdict(outcome, &text);
        Told {
            text,
            failure,
            session: Some(self.id).filter(|id| is_session_id(id)),
            can_fork: self.forks,
            usage: self.usage,
            cost: self.cost,
            data: None,
            compaction: None,
        }
    }

    fn verdict(&self, outcome: &Outcome, answer: &str) -> Option<AgentFailure> {
        let fail = |class, failure| {
            Some(AgentFailure {
                class,
                failure,
                reset_at: None,
            })
        };
        if let Some(cut_short) = AgentFailure::of_ending(outcome.ending) {
            return Some(cut_short);
        }
        if let Some(broken) = &self.broken {
            return Some(broken.clone());
        }
        let odd = |why: String| fail(FailureClass::Agent, Failure::Unparseable(why));
        if self.stage != Stage::Over {
            return match (&self.odd, outcome.code) {
                (Some(what), _) => odd(what.clone()),
                (None, Some(0)) => odd("it left before its turn was over".to_owned()),
                (None, _) => {
                    let why = last_words(outcome);
                    fail(class_of(&why), Failure::Failed(line(&why)))
                }
            };
        }
        if self.too_long {
            return odd("the answer is longer than cook takes".to_owned());
        }
        if answer.is_empty() {
            let why = match &self.denied {
                Some(tool) => format!("the answer is empty: it was not allowed `{tool}`"),
                None => "the answer is empty".to_owned(),
            };
            return fail(FailureClass::Agent, Failure::Failed(why));
        }
        None
    }
}

impl Listener for Conversation<'_> {
    fn started(&mut self, pid: u32) {
        (self.watch)(Progress::Started(pid));
    }

    fn line(&mut self, line: Line) -> Heed {
        if line.source == Source::Stderr || line.bytes.iter().all(u8::is_ascii_whitespace) {
            return Heed::GoOn;
        }
        match message::read(line.bytes).filter(|_| line.whole) {
            Some(message) => self.hear(message),
            None => {
                let begin = &line.bytes[..line.bytes.len().min(200)];
                let begin = String::from_utf8_lossy(begin).into_owned();
                self.is_odd(&format!("a line is not a message: {begin}"))
            }
        }
    }

    fn pulse(&mut self, elapsed: Duration, quiet: Duration) -> Heed {
        let opening = self.stage < Stage::Prompting;
        if opening && elapsed >= OPENING.min(self.task.clocks.idle) && self.broken.is_none() {
            let why = Failure::TimedOut("it did not open a session in time".to_owned());
            return self.fail(FailureClass::Agent, why, None);
        }
        (self.watch)(Progress::Pulse { elapsed, quiet })
    }

    fn says(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.to_say)
    }

    fn takes_leave(&mut self) {
        self.leaving = true;
        if self.stage == Stage::Prompting {
            let params = json!({"sessionId": self.id});
            self.to_say
                .extend(message::notification("session/cancel", &params));
        }
    }
}
