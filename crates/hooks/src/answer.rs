//! From effects to the answer an agent accepts: exactly its fields, no other.
//! Pure. What an event of that agent cannot carry is left out; the core never
//! asks for it (it goes by the same table).

use super::agent::Agent;
use super::event::Effects;
use cook_core::model::hooks::{AnswerShape, Gate, Kind, Row};
use serde_json::{Map, Value, json};

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

fn claude(row: &Row, effects: &Effects) -> Value {
    let mut answer = Map::new();
    let mut specific = Map::new();
    if let Some(context) = &effects.context {
        specific.insert("additionalContext".to_owned(), json!(context));
    }
    if let Some(why) = &effects.deny {
        specific.insert("permissionDecision".to_owned(), json!("deny"));
        specific.insert("permissionDecisionReason".to_owned(), json!(why));
    }
    if !specific.is_empty() {
        specific.insert("hookEventName".to_owned(), json!(row.native));
        answer.insert("hookSpecificOutput".to_owned(), Value::Object(specific));
    }
    if let Some(why) = &effects.block {
        answer.insert("decision".to_owned(), json!("block"));
        answer.insert("reason".to_owned(), json!(why));
    }
    notice(&mut answer, effects);
    Value::Object(answer)
}

fn gemini(row: &Row, effects: &Effects) -> Value {
    let mut answer = Map::new();
    if let Some(context) = &effects.context {
        let specific = json!({"hookEventName": row.native, "additionalContext": context});
        answer.insert("hookSpecificOutput".to_owned(), specific);
    }
    if let Some(why) = effects.deny.as_ref().or(effects.block.as_ref()) {
        answer.insert("decision".to_owned(), json!("deny"));
        answer.insert("reason".to_owned(), json!(why));
    }
    notice(&mut answer, effects);
    Value::Object(answer)
}

fn notice(answer: &mut Map<String, Value>, effects: &Effects) {
    if let Some(notice) = &effects.notice {
        answer.insert("systemMessage".to_owned(), json!(notice));
    }
}

fn copilot(effects: &Effects) -> Value {
    let mut answer = Map::new();
    if let Some(context) = &effects.context {
        answer.insert("additionalContext".to_owned(), json!(context));
    }
    if let Some(why) = &effects.deny {
        answer.insert("permissionDecision".to_owned(), json!("deny"));
        answer.insert("permissionDecisionReason".to_owned(), json!(why));
    }
    if let Some(why) = &effects.block {
        answer.insert("decision".to_owned(), json!("block"));
        answer.insert("reason".to_owned(), json!(why));
    }
    Value::Object(answer)
}

fn cursor(row: &Row, effects: &Effects) -> Value {
    let mut answer = Map::new();
    if let Some(context) = &effects.context {
        answer.insert("additional_context".to_owned(), json!(context));
    }
    if let Some(why) = &effects.deny {
        answer.insert("permission".to_owned(), json!("deny"));
        answer.insert("user_message".to_owned(), json!(why));
        answer.insert("agent_message".to_owned(), json!(why));
    }
    if let Some(what) = &effects.block {
        answer.insert("followup_message".to_owned(), json!(what));
    }
    if let (Some(notice), Kind::BeforeCompact) = (&effects.notice, row.kind) {
        answer.insert("user_message".to_owned(), json!(notice));
    }
    Value::Object(answer)
}

/// The answer to cook's own shims.
fn shim(effects: &Effects) -> Value {
    let fields = [
        ("context", &effects.context),
        ("deny", &effects.deny),
        ("block", &effects.block),
        ("notice", &effects.notice),
    ];
    let present = fields
        .into_iter()
        .filter_map(|(name, text)| Some((name.to_owned(), json!(text.as_ref()?))));
    Value::Object(present.collect())
}
