//! What a script says as the events of an agent's stream: the rules that read such a stream, turned around.

use crate::event_rules::{applies, steps};
use cook_protocol::model::{KnownAgent, Rule, Taken, Wanted};
use serde_json::{Value, json};

/// What a script wants to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Utterance<'a> {
    Session,
    Tool(&'a str),
    Answer(&'a str),
    Error(&'a str),
    Compaction(&'a str),
    Done,
}

/// What is reported beside the words.
#[derive(Debug, Clone, Copy)]
pub(super) struct Beside<'a> {
    pub session: &'a str,
    /// The last answer: some dialects say it in their last event only.
    pub answer: &'a str,
    pub data: Option<&'a Value>,
    pub usage: Option<&'a Value>,
    pub cost_usd: Option<f64>,
    /// The client's number for the prompt in work.
    pub request: u64,
}

/// The lines that say it, in the dialect of a preset, of the Agent Client Protocol (`acp`), or as text.
pub(super) fn lines(dialect: &str, utterance: Utterance, beside: Beside) -> Vec<String> {
    let events = match (dialect, KnownAgent::find(dialect), utterance) {
        ("acp", ..) => acp(utterance, beside),
        (_, Some(known), _) => event(&known.preset.rules, utterance, beside)
            .into_iter()
            .collect(),
        (_, None, Utterance::Answer(text)) => return vec![text.to_owned()],
        (_, None, _) => Vec::new(),
    };
    events.iter().map(Value::to_string).collect()
}

/// An event that the rules read so; none where they read nothing of the kind.
fn event(rules: &[Rule], utterance: Utterance, beside: Beside) -> Option<Value> {
    type Place = fn(&Taken) -> Option<&String>;
    let (place, text): (Place, &str) = match utterance {
        Utterance::Session => (|set| set.session.as_ref(), beside.session),
        Utterance::Tool(name) => (|set| set.progress.as_ref(), name),
        Utterance::Answer(text) => (|set| set.text.as_ref().or(set.text_delta.as_ref()), text),
        Utterance::Error(why) => (|set| set.error.as_ref(), why),
        Utterance::Compaction(recap) => (|set| set.compaction.as_ref(), recap),
        Utterance::Done => (|set| set.text.as_ref(), beside.answer),
    };
    let is_done = utterance == Utterance::Done;
    let rule = rules.iter().find(|rule| match is_done {
        true => rule.set.done,
        false => place(&rule.set).is_some() && !rule.set.done,
    })?;
    let mut event = json!({});
    for (path, wanted) in &rule.when {
        match wanted {
            Wanted::Flag(flag) => put(&mut event, path, json!(flag)),
            Wanted::Text(text) if text == "*" => {}
            Wanted::Text(text) if text.starts_with('!') => put(&mut event, path, json!("other")),
            Wanted::Text(text) => put(&mut event, path, json!(text)),
            Wanted::Any(texts) => put(&mut event, path, json!(texts.first())),
        }
    }
    if let Some(path) = place(&rule.set) {
        put(&mut event, path, json!(text));
    }
    if !matches!(utterance, Utterance::Answer(_) | Utterance::Done) {
        return Some(event);
    }
    // What else is read of such an event.
    for rule in rules {
        let set = &rule.set;
        let values = [
            (&set.session, Some(json!(beside.session))),
            (&set.data, beside.data.cloned()),
            (&set.usage, beside.usage.cloned()),
            (&set.cost, beside.cost_usd.map(|cost| json!(cost))),
        ];
        for (path, value) in values {
            if let (Some(path), Some(value), true) = (path, value, applies(rule, &event)) {
                put(&mut event, path, value);
            }
        }
    }
    Some(event)
}

/// Puts a value where a path leads.
fn put(event: &mut Value, path: &str, value: Value) {
    let mut at = event;
    for step in steps(path).into_iter().flatten() {
        at = &mut at[step.key];
        if let Some((key, wanted)) = step.filter {
            *at = json!([{ key: wanted }]);
            at = &mut at[0];
        }
    }
    *at = value;
}

fn acp(utterance: Utterance, beside: Beside) -> Vec<Value> {
    let update = |update: Value| {
        json!({"jsonrpc": "2.0", "method": "session/update",
            "params": {"sessionId": beside.session, "update": update}})
    };
    let says = |text: &str| {
        update(json!({"sessionUpdate": "agent_message_chunk",
            "content": {"type": "text", "text": text}}))
    };
    match utterance {
        Utterance::Session | Utterance::Compaction(_) => Vec::new(),
        Utterance::Tool(name) => vec![update(json!({"sessionUpdate": "tool_call",
            "toolCallId": "t1", "title": name, "kind": "other", "status": "in_progress"}))],
        // In pieces, as models talk.
        Utterance::Answer(text) => {
            let middle = text.char_indices().nth(text.chars().count() / 2);
            let (one, two) = text.split_at(middle.map_or(0, |(at, _)| at));
            vec![says(one), says(two)]
        }
        Utterance::Error(why) => vec![json!({"jsonrpc": "2.0", "id": beside.request,
            "error": {"code": -32603, "message": "Internal error", "data": {"details": why}}})],
        Utterance::Done => {
            let mut result = json!({"stopReason": "end_turn"});
            if let Some(usage) = beside.usage {
                result["usage"] = usage.clone();
            }
            let cost = beside.cost_usd.map(|amount| {
                update(
                    json!({"sessionUpdate": "usage_update", "used": 1, "size": 2,
                    "cost": {"amount": amount, "currency": "USD"}}),
                )
            });
            let answer = json!({"jsonrpc": "2.0", "id": beside.request, "result": result});
            cost.into_iter().chain([answer]).collect()
        }
    }
}
