//! The events of each agent's stream, as far as a script needs them.

use serde::Deserialize;
use serde_json::{Value, json};

/// Whose events are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Dialect {
    #[default]
    Text,
    Pi,
    Claude,
    Codex,
    Opencode,
    Gemini,
    Qwen,
    Copilot,
    /// The Agent Client Protocol: it answers requests instead of only printing.
    Acp,
}

/// What a script wants to say.
#[derive(Debug, Clone, Copy)]
pub(super) enum Utterance<'a> {
    Session(&'a str),
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

/// The lines that say it.
pub(super) fn lines(dialect: Dialect, utterance: Utterance, beside: Beside) -> Vec<String> {
    let event = match dialect {
        Dialect::Text => {
            return match utterance {
                Utterance::Answer(text) => vec![text.to_owned()],
                _ => Vec::new(),
            };
        }
        Dialect::Pi => pi(utterance, beside),
        Dialect::Claude => claude(utterance, beside),
        Dialect::Codex => codex(utterance, beside),
        Dialect::Opencode => opencode(utterance, beside),
        Dialect::Gemini => gemini(utterance, beside),
        Dialect::Qwen => qwen(utterance, beside),
        Dialect::Copilot => copilot(utterance, beside),
        Dialect::Acp => return acp(utterance, beside),
    };
    event.map(|event| event.to_string()).into_iter().collect()
}

fn pi(utterance: Utterance, beside: Beside) -> Option<Value> {
    let usage = || {
        let mut usage = beside.usage.cloned().unwrap_or_else(|| json!({}));
        if let (Some(usage), Some(cost)) = (usage.as_object_mut(), beside.cost_usd) {
            usage.insert("cost".to_owned(), json!({"total": cost}));
        }
        usage
    };
    Some(match utterance {
        Utterance::Session(id) => json!({"type": "session", "id": id}),
        Utterance::Tool(name) => json!({"type": "tool_execution_start", "toolName": name}),
        Utterance::Answer(text) => json!({"type": "message_end", "message": {
            "role": "assistant", "stopReason": "stop", "usage": usage(),
            "content": [{"type": "text", "text": text}]}}),
        Utterance::Error(why) => json!({"type": "message_end", "message": {
            "role": "assistant", "stopReason": "error", "errorMessage": why, "content": []}}),
        Utterance::Compaction(recap) => {
            json!({"type": "compaction_end", "result": {"summary": recap}})
        }
        Utterance::Done => json!({"type": "agent_end", "messages": [{"stopReason": "stop"}]}),
    })
}

fn claude(utterance: Utterance, beside: Beside) -> Option<Value> {
    let session = beside.session;
    Some(match utterance {
        Utterance::Session(id) => json!({"type": "system", "subtype": "init", "session_id": id}),
        Utterance::Tool(name) => json!({"type": "assistant", "session_id": session,
            "message": {"content": [{"type": "tool_use", "name": name}]}}),
        Utterance::Answer(text) => json!({"type": "assistant", "session_id": session,
            "message": {"content": [{"type": "text", "text": text}]}}),
        Utterance::Error(why) => json!({"type": "result", "subtype": "error_during_execution",
            "is_error": true, "result": why, "session_id": session}),
        Utterance::Compaction(recap) => json!({"type": "system", "subtype": "compact_boundary",
            "session_id": session, "compact_metadata": {"summary": recap}}),
        Utterance::Done => json!({"type": "result", "subtype": "success", "is_error": false,
            "result": beside.answer, "structured_output": beside.data, "usage": beside.usage,
            "total_cost_usd": beside.cost_usd, "session_id": session}),
    })
}

fn codex(utterance: Utterance, beside: Beside) -> Option<Value> {
    Some(match utterance {
        Utterance::Session(id) => json!({"type": "thread.started", "thread_id": id}),
        Utterance::Tool(name) => json!({"type": "item.started",
            "item": {"type": "command_execution", "command": name}}),
        Utterance::Answer(text) => json!({"type": "item.completed",
            "item": {"type": "agent_message", "text": text}}),
        Utterance::Error(why) => json!({"type": "turn.failed", "error": {"message": why}}),
        Utterance::Compaction(_) => return None,
        Utterance::Done => json!({"type": "turn.completed", "usage": beside.usage}),
    })
}

fn opencode(utterance: Utterance, beside: Beside) -> Option<Value> {
    let session = beside.session;
    Some(match utterance {
        Utterance::Session(id) => json!({"type": "step_start", "sessionID": id}),
        Utterance::Tool(name) => {
            json!({"type": "tool_use", "sessionID": session, "part": {"tool": name}})
        }
        Utterance::Answer(text) => {
            json!({"type": "text", "sessionID": session, "part": {"text": text}})
        }
        Utterance::Error(why) => {
            json!({"type": "error", "sessionID": session, "error": {"data": {"message": why}}})
        }
        Utterance::Compaction(_) => return None,
        Utterance::Done => json!({"type": "step_finish", "sessionID": session,
            "part": {"reason": "stop", "tokens": beside.usage, "cost": beside.cost_usd}}),
    })
}

fn gemini(utterance: Utterance, beside: Beside) -> Option<Value> {
    Some(match utterance {
        Utterance::Session(id) => json!({"type": "init", "session_id": id}),
        Utterance::Tool(name) => json!({"type": "tool_use", "tool_name": name}),
        Utterance::Answer(text) => json!({"type": "message", "role": "assistant",
            "content": text, "delta": true}),
        Utterance::Error(why) => {
            json!({"type": "result", "status": "error", "error": {"message": why}})
        }
        Utterance::Compaction(_) => return None,
        Utterance::Done => json!({"type": "result", "status": "success", "stats": beside.usage}),
    })
}

fn qwen(utterance: Utterance, beside: Beside) -> Option<Value> {
    let session = beside.session;
    Some(match utterance {
        Utterance::Session(id) => json!({"type": "system", "session_id": id}),
        Utterance::Tool(name) => json!({"type": "assistant", "session_id": session,
            "message": {"content": [{"type": "tool_use", "name": name}]}}),
        Utterance::Answer(text) => json!({"type": "assistant", "session_id": session,
            "message": {"content": [{"type": "text", "text": text}]}}),
        Utterance::Error(why) => json!({"type": "result", "session_id": session,
            "is_error": true, "error": {"message": why}}),
        Utterance::Compaction(_) => return None,
        Utterance::Done => json!({"type": "result", "session_id": session, "is_error": false,
            "result": beside.answer, "structured_result": beside.data, "usage": beside.usage}),
    })
}

fn copilot(utterance: Utterance, beside: Beside) -> Option<Value> {
    Some(match utterance {
        Utterance::Session(_) => return None,
        Utterance::Tool(name) => {
            json!({"type": "tool.execution_start", "data": {"toolName": name}})
        }
        Utterance::Answer(text) => json!({"type": "assistant.message", "data": {"content": text}}),
        Utterance::Error(why) => json!({"type": "session.error", "data": {"message": why}}),
        Utterance::Compaction(_) => return None,
        Utterance::Done => json!({"type": "result", "sessionId": beside.session}),
    })
}

fn acp(utterance: Utterance, beside: Beside) -> Vec<String> {
    let update = |update: Value| {
        json!({"jsonrpc": "2.0", "method": "session/update",
            "params": {"sessionId": beside.session, "update": update}})
    };
    let says = |text: &str| {
        update(json!({"sessionUpdate": "agent_message_chunk",
            "content": {"type": "text", "text": text}}))
    };
    let events = match utterance {
        Utterance::Session(_) | Utterance::Compaction(_) => Vec::new(),
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
            let cost = beside.cost_usd.map(|amount| {
                update(
                    json!({"sessionUpdate": "usage_update", "used": 1, "size": 2,
                    "cost": {"amount": amount, "currency": "USD"}}),
                )
            });
            let mut result = json!({"stopReason": "end_turn"});
            if let Some(usage) = beside.usage {
                result["usage"] = usage.clone();
            }
            let answer = json!({"jsonrpc": "2.0", "id": beside.request, "result": result});
            cost.into_iter().chain([answer]).collect()
        }
    };
    events.iter().map(Value::to_string).collect()
}
