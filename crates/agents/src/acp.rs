//! Agents that use the Agent Client Protocol, version 1, over stdio: one process per call, with one session and one
//! prompt.
//!
//! Invariants: cook offers neither file access nor terminals; permissions depend only on the role's access, and are
//! granted once only; an earlier session is forked and never loaded, because loading continues it; the turn's stop
//! reason decides, not the exit code of a process whose stdin cook has closed.

use super::agent_supplier::AgentSupplier;
use super::listen::{
    AgentFailure, EMPTY, FailureClass, MAX_ANSWER, Progress, StreamResult, classify, is_session_id,
    judge_exit, line, moment, says_nothing, strongest,
};
use super::usage::Meter;
use cook_protocol::diagnostic::{Lines, clean};
use cook_protocol::model::Access;
use cook_repo::process::{ControlFlow, Ending, Line, Listener, Outcome, Source};
use cook_repo::session::{SupplierErrorKind, Turn};
use serde_json::{Value, json};
use std::time::Duration;

/// The protocol version.
const VERSION: u64 = 1;
/// How long an agent may take to open a session, which needs no model.
const OPENING: Duration = Duration::from_secs(60);
/// The error code of an agent that requires a login.
const LOGIN_REQUIRED: i64 = -32000;

/// The stage of a conversation. Each stage except the last waits for the response to one request, whose id is the
/// stage's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
enum Stage {
    Greeting = 0,
    Opening = 1,
    ChoosingModel = 2,
    Prompting = 3,
    Over = 4,
}

/// One turn with an agent.
pub(super) struct Conversation<'a, 's> {
    supplier: &'a AgentSupplier<'s>,
    turn: &'a Turn<'a>,
    prompt: &'a str,
    watch: &'a mut dyn FnMut(Progress) -> ControlFlow,
    stage: Stage,
    /// The agent's id of the session.
    id: String,
    leaving: bool,
    to_say: Vec<u8>,
    /// The text since its last tool call.
    text: String,
    /// The text before that.
    earlier: String,
    /// The length of the part of `text` that was shown.
    shown: usize,
    too_long: bool,
    result: StreamResult,
    /// The first message that could not be understood.
    odd: Option<String>,
    /// The last tool for which permission was denied: some agents end their turn then.
    denied: Option<String>,
    meter: Meter,
    /// The limit that it exceeded.
    over: Option<String>,
}

impl<'a, 's> Conversation<'a, 's> {
    pub(super) fn of(
        supplier: &'a AgentSupplier<'s>,
        turn: &'a Turn<'a>,
        prompt: &'a str,
        watch: &'a mut dyn FnMut(Progress) -> ControlFlow,
    ) -> Self {
        Self {
            supplier,
            turn,
            prompt,
            watch,
            stage: Stage::Greeting,
            id: String::new(),
            leaving: false,
            to_say: Vec::new(),
            text: String::new(),
            earlier: String::new(),
            shown: 0,
            too_long: false,
            result: StreamResult::default(),
            odd: None,
            denied: None,
            meter: Meter::of(supplier.bounds),
            over: None,
        }
    }

    /// The first request.
    pub(super) fn greeting() -> Vec<u8> {
        let params = json!({
            "protocolVersion": VERSION,
            "clientCapabilities": {
                "fs": {"readTextFile": false, "writeTextFile": false},
                "terminal": false,
            },
            "clientInfo": {"name": "cook", "title": "cook", "version": env!("CARGO_PKG_VERSION")},
        });
        write_request(Stage::Greeting as u64, "initialize", &params)
    }

    fn ask(&mut self, stage: Stage, method: &str, params: &Value) {
        self.stage = stage;
        self.to_say
            .extend(write_request(stage as u64, method, params));
    }

    fn fail(&mut self, failure: AgentFailure) -> ControlFlow {
        self.result.failure.get_or_insert(failure);
        ControlFlow::Finished
    }

    fn end_in_failure(&mut self, class: FailureClass, why: &str) -> ControlFlow {
        self.fail(AgentFailure {
            class,
            failure: SupplierErrorKind::Failed(line(why)),
            reset_at: moment(why),
        })
    }

    fn unparseable(&mut self, why: &str) -> ControlFlow {
        self.fail(unreadable(line(why)))
    }

    fn is_odd(&mut self, what: &str) -> ControlFlow {
        self.odd.get_or_insert_with(|| line(what));
        ControlFlow::Continue
    }

    fn hear(&mut self, message: Message) -> ControlFlow {
        match message {
            Message::Request { id, method, params } => self.answer_agent(&id, &method, &params),
            Message::Notification { method, params } => {
                let ours = params.get("sessionId").and_then(Value::as_str) == Some(&self.id);
                match method.as_str() {
                    "session/update" if ours && self.stage == Stage::Prompting => {
                        self.update(params.get("update").unwrap_or(&Value::Null))
                    }
                    _ => ControlFlow::Continue,
                }
            }
            Message::Result { id, result } if self.awaits(id) => self.take_answer(&result),
            Message::Error { id, error } if self.awaits(id) => self.take_refusal(&error),
            Message::Result { .. } | Message::Error { .. } => {
                self.is_odd("it answers a request that was never made")
            }
        }
    }

    fn awaits(&self, id: Option<u64>) -> bool {
        self.stage != Stage::Over && id == Some(self.stage as u64)
    }

    /// Answers a request of the agent.
    fn answer_agent(&mut self, id: &Value, method: &str, params: &Value) -> ControlFlow {
        let answer = match method {
            "session/request_permission" => {
                let access = self.supplier.choose_access(self.turn.action);
                let outcome = match self.leaving {
                    true => json!({"outcome": "cancelled"}),
                    false => permission(access, params),
                };
                if !matches!(access, Access::Write | Access::Full) {
                    let title = params.pointer("/toolCall/title").and_then(Value::as_str);
                    self.denied = Some(line(title.unwrap_or("a tool")));
                }
                write_result(id, &json!({"outcome": outcome}))
            }
            _ => refuse_method(id, method),
        };
        self.to_say.extend(answer);
        ControlFlow::Continue
    }

    /// Handles the response that this stage waits for.
    fn take_answer(&mut self, result: &Value) -> ControlFlow {
        match self.stage {
            Stage::Greeting => self.take_greeting(result),
            Stage::Opening => self.take_session(result),
            Stage::ChoosingModel => self.send_prompt(),
            Stage::Prompting => self.take_end(result),
            Stage::Over => ControlFlow::Continue,
        }
    }

    fn take_greeting(&mut self, result: &Value) -> ControlFlow {
        match result.get("protocolVersion").and_then(Value::as_u64) {
            Some(VERSION) => {}
            Some(other) => {
                let why = format!("it speaks version {other} of the protocol, cook version 1");
                return self.end_in_failure(FailureClass::Config, &why);
            }
            None => return self.unparseable("its answer to `initialize` names no version"),
        }
        self.result.can_fork = result
            .pointer("/agentCapabilities/sessionCapabilities/fork")
            .is_some_and(Value::is_object);
        let mut params = json!({"cwd": self.supplier.dir.display().to_string(), "mcpServers": []});
        let method = match self.turn.fork {
            None => "session/new",
            Some(_) if !self.result.can_fork => {
                return self.end_in_failure(
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
        ControlFlow::Continue
    }

    fn take_session(&mut self, result: &Value) -> ControlFlow {
        let Some(id) = result.get("sessionId").and_then(Value::as_str) else {
            return self.unparseable("its new session has no id");
        };
        self.id = id.to_owned();
        let by_argument = || {
            let mut items = self.supplier.preset.start().iter();
            items.any(|item| item.contains("{model}"))
        };
        match self.supplier.model.as_deref() {
            Some(model) if !by_argument() => match find_model_choice(&self.id, model, result) {
                Some((method, params)) => {
                    self.ask(Stage::ChoosingModel, method, &params);
                    ControlFlow::Continue
                }
                None => self.end_in_failure(
                    FailureClass::Config,
                    "it offers no choice of model: `{model}` in `start` names it by argument",
                ),
            },
            _ => self.send_prompt(),
        }
    }

    fn send_prompt(&mut self) -> ControlFlow {
        let params = json!({
            "sessionId": self.id,
            "prompt": [{"type": "text", "text": self.prompt}],
        });
        self.ask(Stage::Prompting, "session/prompt", &params);
        ControlFlow::Continue
    }

    /// Handles the end of the turn.
    fn take_end(&mut self, result: &Value) -> ControlFlow {
        self.stage = Stage::Over;
        self.show_line(true);
        if let Some(usage) = result.get("usage").filter(|usage| usage.is_object()) {
            let counting = self.supplier.preset.usage_counting();
            self.result.usage.report(counting, usage);
        }
        match result.get("stopReason").and_then(Value::as_str) {
            Some("end_turn") => ControlFlow::Finished,
            Some(reason @ ("max_tokens" | "max_turn_requests" | "refusal" | "cancelled")) => {
                let why = format!("it stopped before the work was done: {reason}");
                self.end_in_failure(FailureClass::Agent, &why)
            }
            Some(_) | None => self.unparseable("its turn ended without a reason that is known"),
        }
    }

    fn take_refusal(&mut self, error: &Value) -> ControlFlow {
        let why = error_text(error);
        if error.get("code").and_then(Value::as_i64) == Some(LOGIN_REQUIRED) {
            let why = format!("it wants a login first: {why}");
            return self.end_in_failure(FailureClass::Environment, &why);
        }
        let class = match self.stage {
            Stage::ChoosingModel => FailureClass::Config,
            _ => classify(&why),
        };
        self.end_in_failure(class, &why)
    }

    /// Handles a progress update during the turn.
    fn update(&mut self, update: &Value) -> ControlFlow {
        let text = |path: &str| update.pointer(path).and_then(Value::as_str);
        match text("/sessionUpdate") {
            Some("agent_message_chunk") => match (text("/content/type"), text("/content/text")) {
                (Some("text"), Some(words)) => self.add(words),
                _ => ControlFlow::Continue,
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
                self.meter.count();
                let (usage, cost) = (&self.result.usage, &self.result.cost);
                self.over = self.meter.exceeds(&self.supplier.preset, usage, cost);
                if self.over.is_some() {
                    return ControlFlow::Stop;
                }
                strongest(said, (self.watch)(Progress::Tool(&title)))
            }
            Some("usage_update") => {
                let cost = update.get("cost").unwrap_or(&Value::Null);
                let amount = cost.get("amount").filter(|amount| amount.is_number());
                if let (Some(amount), Some("USD")) = (amount, text("/cost/currency")) {
                    self.result
                        .cost
                        .report(self.supplier.preset.cost_counting(), amount);
                }
                ControlFlow::Continue
            }
            _ => ControlFlow::Continue,
        }
    }

    fn add(&mut self, words: &str) -> ControlFlow {
        if self.text.len() + words.len() > MAX_ANSWER {
            self.too_long = true;
            return ControlFlow::Continue;
        }
        self.text.push_str(words);
        match words.contains('\n') {
            true => self.show_line(false),
            false => ControlFlow::Continue,
        }
    }

    /// Shows the lines that are complete; at the end of a message also an incomplete one.
    fn show_line(&mut self, ended: bool) -> ControlFlow {
        let new = &self.text[self.shown..];
        let whole = match (ended, new.rfind('\n')) {
            (true, _) => new.len(),
            (false, Some(end)) => end + 1,
            (false, None) => return ControlFlow::Continue,
        };
        let said = new[..whole].trim_end();
        let flow = match said.is_empty() {
            true => ControlFlow::Continue,
            false => (self.watch)(Progress::Said(said)),
        };
        self.shown += whole;
        flow
    }

    /// The result of the conversation.
    pub(super) fn end(mut self, outcome: &Outcome) -> StreamResult {
        let said = match self.text.trim().is_empty() {
            true => &self.earlier,
            false => &self.text,
        };
        self.result.text = said.clone();
        self.result.failure = self.verdict(outcome, &self.result.text);
        self.result.session = Some(self.id).filter(|id| is_session_id(id));
        self.result
    }

    fn verdict(&self, outcome: &Outcome, answer: &str) -> Option<AgentFailure> {
        if let Some(why) = &self.over
            && outcome.ending != Ending::Interrupted
        {
            let why = SupplierErrorKind::TimedOut(why.clone());
            return Some(AgentFailure::new(FailureClass::Agent, why));
        }
        let cut_short = AgentFailure::of_ending(outcome.ending);
        if let Some(failure) = cut_short.or_else(|| self.result.failure.clone()) {
            return Some(failure);
        }
        let failed = |class, why| Some(AgentFailure::new(class, SupplierErrorKind::Failed(why)));
        let odd = |why: String| Some(unreadable(why));
        if self.stage != Stage::Over {
            return match (&self.odd, outcome.code) {
                (Some(what), _) => odd(what.clone()),
                (None, Some(0)) => odd("it left before its turn was over".to_owned()),
                (None, _) => Some(judge_exit(&self.supplier.preset, outcome)),
            };
        }
        if self.too_long {
            return odd("the answer is longer than cook takes".to_owned());
        }
        if says_nothing(answer) {
            let why = match &self.denied {
                Some(tool) => format!("{EMPTY}: it was not allowed `{tool}`"),
                None => EMPTY.to_owned(),
            };
            return failed(FailureClass::Agent, why);
        }
        None
    }
}

/// The failure of an agent whose messages cannot be understood.
fn unreadable(why: String) -> AgentFailure {
    AgentFailure::new(FailureClass::Agent, SupplierErrorKind::Unparseable(why))
}

impl Listener for Conversation<'_, '_> {
    fn note_start(&mut self, pid: u32) {
        (self.watch)(Progress::Started(pid));
    }

    fn line(&mut self, line: Line) -> ControlFlow {
        if line.source == Source::Stderr || line.bytes.iter().all(u8::is_ascii_whitespace) {
            return ControlFlow::Continue;
        }
        match read_message(line.bytes).filter(|_| line.whole) {
            Some(message) => self.hear(message),
            None => {
                let begin = &line.bytes[..line.bytes.len().min(200)];
                let begin = String::from_utf8_lossy(begin).into_owned();
                self.is_odd(&format!("a line is not a message: {begin}"))
            }
        }
    }

    fn pulse(&mut self, elapsed: Duration, quiet: Duration) -> ControlFlow {
        let opening = self.stage < Stage::Prompting;
        if opening
            && elapsed >= OPENING.min(self.supplier.clocks.idle)
            && self.result.failure.is_none()
        {
            let why = SupplierErrorKind::TimedOut("it did not open a session in time".to_owned());
            return self.fail(AgentFailure::new(FailureClass::Agent, why));
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
                .extend(write_notification("session/cancel", &params));
        }
    }
}

/// The answer to a permission request for a role with this access. Permission is never granted for more than one use,
/// because the agent would remember it after the role has ended.
pub(super) fn permission(access: Access, params: &Value) -> Value {
    let kinds: &[&str] = match access {
        Access::None | Access::Read => &["reject_once", "reject_always"],
        Access::Write | Access::Full => &["allow_once"],
    };
    let options = params.get("options").and_then(Value::as_array);
    let of_kind = |kind: &&str| {
        let mut options = options.into_iter().flatten();
        options
            .find(|option| option.get("kind").and_then(Value::as_str) == Some(kind))
            .and_then(|option| option.get("optionId"))
            .filter(|id| id.is_string())
    };
    match kinds.iter().find_map(of_kind) {
        Some(id) => json!({"outcome": "selected", "optionId": id}),
        None => json!({"outcome": "cancelled"}),
    }
}

/// The request that chooses a session's model: its configuration option for the model, or the older method.
pub(super) fn find_model_choice(
    session: &str,
    model: &str,
    opened: &Value,
) -> Option<(&'static str, Value)> {
    let options = opened.get("configOptions").and_then(Value::as_array);
    let option = options.into_iter().flatten().find(|option| {
        ["category", "id"]
            .iter()
            .any(|key| option.get(key).and_then(Value::as_str) == Some("model"))
    });
    if let Some(id) = option.and_then(|option| option.get("id")) {
        let params = json!({"sessionId": session, "configId": id, "value": model});
        return Some(("session/set_config_option", params));
    }
    let models = opened.get("models").filter(|models| models.is_object());
    models.map(|_| {
        let params = json!({"sessionId": session, "modelId": model});
        ("session/set_model", params)
    })
}

/// The message of an error object, with its data.
pub(super) fn error_text(error: &Value) -> String {
    let message = error.get("message").and_then(Value::as_str);
    let message = message.unwrap_or("an error without a text");
    let data = match error.get("data") {
        None | Some(Value::Null) => return message.to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(data) => ["details", "message"]
            .iter()
            .find_map(|key| data.get(key).and_then(Value::as_str))
            .map_or_else(|| data.to_string(), str::to_owned),
    };
    format!("{message}: {data}")
}

/// The error code for an unknown method (JSON-RPC 2.0).
const METHOD_NOT_FOUND: i64 = -32601;

/// A message from the agent.
#[derive(Debug)]
pub(super) enum Message {
    /// A request, which waits for a response.
    Request {
        /// The agent's id of the request.
        id: Value,
        method: String,
        params: Value,
    },
    /// A notification.
    Notification { method: String, params: Value },
    /// The response to the request with this id.
    Result { id: Option<u64>, result: Value },
    /// An error response to that request.
    Error { id: Option<u64>, error: Value },
}

/// Parses a line; `None` if it is not a message.
pub(super) fn read_message(line: &[u8]) -> Option<Message> {
    let Ok(Value::Object(mut fields)) = serde_json::from_slice(line) else {
        return None;
    };
    let id = fields.remove("id");
    if let Some(method) = fields.remove("method") {
        let method = method.as_str()?.to_owned();
        let params = fields.remove("params").unwrap_or_default();
        return Some(match id {
            None | Some(Value::Null) => Message::Notification { method, params },
            Some(id @ (Value::String(_) | Value::Number(_))) => {
                Message::Request { id, method, params }
            }
            Some(_) => return None,
        });
    }
    let id = id?.as_u64();
    match (fields.remove("result"), fields.remove("error")) {
        (_, Some(error)) if !error.is_null() => Some(Message::Error { id, error }),
        (Some(result), _) => Some(Message::Result { id, result }),
        (None, _) => None,
    }
}

/// Encodes a request.
pub(super) fn write_request(id: u64, method: &str, params: &Value) -> Vec<u8> {
    encode(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
}

/// Encodes a notification.
pub(super) fn write_notification(method: &str, params: &Value) -> Vec<u8> {
    encode(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
}

/// Encodes the response to a request of the agent.
pub(super) fn write_result(id: &Value, result: &Value) -> Vec<u8> {
    encode(&json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

/// Encodes the error response to a request for a method that cook does not offer.
pub(super) fn refuse_method(id: &Value, method: &str) -> Vec<u8> {
    let method: String = method.chars().take(100).collect();
    let error = json!({"code": METHOD_NOT_FOUND, "message": format!("method not found: {method}")});
    encode(&json!({"jsonrpc": "2.0", "id": id, "error": error}))
}

fn encode(message: &Value) -> Vec<u8> {
    let mut line = message.to_string().into_bytes();
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permissions_follow_the_access() {
        let option =
            |kind: &str| json!({"optionId": format!("o-{kind}"), "name": "x", "kind": kind});
        let all = json!({"options": [option("allow_always"), option("allow_once"),
            option("reject_always"), option("reject_once")]});
        for (access, chosen) in [
            (Access::None, "o-reject_once"),
            (Access::Read, "o-reject_once"),
            (Access::Write, "o-allow_once"),
            (Access::Full, "o-allow_once"),
        ] {
            assert_eq!(
                permission(access, &all),
                json!({"outcome": "selected", "optionId": chosen})
            );
        }
        let cancelled = json!({"outcome": "cancelled"});
        let lasting = json!({"options": [option("allow_always")]});
        for (access, params) in [
            (Access::Write, &lasting),
            (Access::Read, &lasting),
            (Access::Write, &json!({"options": "all"})),
            (
                Access::Full,
                &json!({"options": [{"kind": "allow_once", "optionId": 1}]}),
            ),
            (Access::Read, &Value::Null),
        ] {
            assert_eq!(permission(access, params), cancelled, "{params}");
        }
        let always = json!({"options": [option("reject_always")]});
        assert_eq!(
            permission(Access::Read, &always)["optionId"],
            "o-reject_always"
        );
    }

    #[test]
    fn models_are_chosen_as_the_session_offers_it() {
        let by_option =
            json!({"configOptions": [{"id": "effort"}, {"id": "m", "category": "model"}]});
        let (method, params) = find_model_choice("s", "big", &by_option).unwrap_or_default();
        assert_eq!(method, "session/set_config_option");
        assert_eq!(
            params,
            json!({"sessionId": "s", "configId": "m", "value": "big"})
        );
        let by_method = json!({"models": {"currentModelId": "small"}});
        let (method, params) = find_model_choice("s", "big", &by_method).unwrap_or_default();
        assert_eq!(method, "session/set_model");
        assert_eq!(params, json!({"sessionId": "s", "modelId": "big"}));
        assert_eq!(
            find_model_choice("s", "big", &json!({"models": null})),
            None
        );
    }

    #[test]
    fn errors_say_what_they_know() {
        for (error, text) in [
            (
                json!({"message": "Internal error", "data": {"details": "no key"}}),
                "Internal error: no key",
            ),
            (json!({"message": "a", "data": "b"}), "a: b"),
            (json!({"message": "a", "data": {"x": 1}}), "a: {\"x\":1}"),
            (json!({"message": "a", "data": null}), "a"),
            (json!("broken"), "an error without a text"),
        ] {
            assert_eq!(error_text(&error), text);
        }
    }
}

#[cfg(test)]
mod acp_message_tests {
    use super::*;

    #[test]
    fn messages_are_told_apart() {
        let kind = |text: &str| match read_message(text.as_bytes()) {
            Some(Message::Request { .. }) => "request",
            Some(Message::Notification { .. }) => "notification",
            Some(Message::Result { id: Some(_), .. }) => "result",
            Some(Message::Result { id: None, .. }) => "result of nothing",
            Some(Message::Error { .. }) => "error",
            None => "none",
        };
        for (text, wanted) in [
            (r#"{"jsonrpc":"2.0","id":"a","method":"m"}"#, "request"),
            (r#"{"id":7,"method":"m","params":{}}"#, "request"),
            (r#"{"method":"m"}"#, "notification"),
            (r#"{"id":null,"method":"m"}"#, "notification"),
            (r#"{"id":1,"result":null}"#, "result"),
            (r#"{"id":"1","result":{}}"#, "result of nothing"),
            (r#"{"id":1,"result":{},"error":null}"#, "result"),
            (r#"{"id":1,"error":{"code":1}}"#, "error"),
            (r#"{"id":{},"method":"m"}"#, "none"),
            (r#"{"id":1,"method":2}"#, "none"),
            (r#"{"result":{}}"#, "none"),
            (r#"{"id":1}"#, "none"),
            (r#"[{"id":1,"result":{}}]"#, "none"),
            ("{\"id\":1,", "none"),
            ("", "none"),
        ] {
            assert_eq!(kind(text), wanted, "{text}");
        }
    }

    #[test]
    fn a_message_is_one_line() {
        let said = write_request(2, "session/prompt", &json!({"text": "a\nb"}));
        assert_eq!(said.iter().filter(|byte| **byte == b'\n').count(), 1);
        assert_eq!(said.last(), Some(&b'\n'));
    }
}
