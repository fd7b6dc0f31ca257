//! From effects to the answer an agent accepts: exactly its fields, no other.
//! Pure. What an event of that agent cannot carry is left out; the core never
//! asks for it (it goes by the same table).

use super::hook_event::{Agent, Effects};
use cook_core::model::hooks::{AnswerShape, Gate, Kind, Row};
use serde_json::{Value, json};

/// The answer; none = print nothing.
pub fn answer(agent: Agent, row: &Row, effects: &Effects) -> Option<Value> {
    let effects = &within(row, effects);
    if effects.is_empty() {
        return None;
    }
    Some(match agent.hooks().answer {
        AnswerShape::Claude => claude(row, effects),
        AnswerShape::Gemini => gemini(row, effects),
        AnswerShape::Copilot => copilot(effects),
        AnswerShape::Cursor => cursor(row, effects),
        AnswerShape::Shim => shim(effects),
    })
}

/// The effects as far as the event can carry them.
pub fn within(row: &Row, effects: &Effects) -> Effects {
    Effects {
        context: effects.context.clone().filter(|_| row.context),
        notice: effects.notice.clone().filter(|_| row.notice),
        deny: effects.deny.clone().filter(|_| row.gate == Gate::Deny),
        block: effects.block.clone().filter(|_| row.gate == Gate::Block),
    }
}

/// An object of the fields that have a value.
fn present<const N: usize>(fields: [(&str, Option<Value>); N]) -> Value {
    let present = fields
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(present.collect())
}

fn text(text: &Option<String>) -> Option<Value> {
    text.as_ref().map(|text| json!(text))
}

/// A word that stands beside a reason.
fn word(word: &str, reason: &Option<String>) -> Option<Value> {
    reason.as_ref().map(|_| json!(word))
}

fn claude(row: &Row, effects: &Effects) -> Value {
    let specific = effects.context.as_ref().or(effects.deny.as_ref()).map(|_| {
        present([
            ("additionalContext", text(&effects.context)),
            ("permissionDecision", word("deny", &effects.deny)),
            ("permissionDecisionReason", text(&effects.deny)),
            ("hookEventName", Some(json!(row.native))),
        ])
    });
    present([
        ("hookSpecificOutput", specific),
        ("decision", word("block", &effects.block)),
        ("reason", text(&effects.block)),
        ("systemMessage", text(&effects.notice)),
    ])
}

fn gemini(row: &Row, effects: &Effects) -> Value {
    let specific = |context| json!({"hookEventName": row.native, "additionalContext": context});
    let refused = effects.deny.clone().or(effects.block.clone());
    present([
        ("hookSpecificOutput", text(&effects.context).map(specific)),
        ("decision", word("deny", &refused)),
        ("reason", text(&refused)),
        ("systemMessage", text(&effects.notice)),
    ])
}

fn copilot(effects: &Effects) -> Value {
    present([
        ("additionalContext", text(&effects.context)),
        ("permissionDecision", word("deny", &effects.deny)),
        ("permissionDecisionReason", text(&effects.deny)),
        ("decision", word("block", &effects.block)),
        ("reason", text(&effects.block)),
    ])
}

fn cursor(row: &Row, effects: &Effects) -> Value {
    let notice = effects.notice.clone();
    let notice = notice.filter(|_| row.kind == Kind::BeforeCompact);
    present([
        ("additional_context", text(&effects.context)),
        ("permission", word("deny", &effects.deny)),
        ("user_message", text(&notice.or(effects.deny.clone()))),
        ("agent_message", text(&effects.deny)),
        ("followup_message", text(&effects.block)),
    ])
}

/// The answer to cook's own shims.
fn shim(effects: &Effects) -> Value {
    present([
        ("context", text(&effects.context)),
        ("deny", text(&effects.deny)),
        ("block", text(&effects.block)),
        ("notice", text(&effects.notice)),
    ])
}
