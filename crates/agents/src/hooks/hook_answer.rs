//! From effects to the answer an agent accepts: exactly its fields, no other.
//! Pure. What an event of that agent cannot carry is left out; the core never
//! asks for it (it goes by the same table).

use super::hook_event::{Agent, Effects};
use cook_protocol::model::hooks::{AnswerShape, Gate, Row};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Where members of an answer stand, and what stands there: a word, `{event}` or the effect's `{text}`.
type Members = BTreeMap<String, String>;

/// What carries each effect.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Shape {
    shape: AnswerShape,
    context: Members,
    deny: Members,
    block: Members,
    notice: Members,
}

/// A test answers each event of each agent by it.
static SHAPES: LazyLock<Vec<Shape>> =
    LazyLock::new(|| serde_json::from_str(include_str!("answers.json")).unwrap_or_default());

/// The answer; none = print nothing.
pub fn answer(agent: Agent, row: &Row, effects: &Effects) -> Option<Value> {
    let effects = &within(row, effects);
    let mut shapes = SHAPES.iter();
    let shape = shapes.find(|shape| shape.shape == agent.hooks().answer)?;
    let mut answer = json!({});
    for (members, effect) in [
        (&shape.context, &effects.context),
        (&shape.deny, &effects.deny),
        (&shape.block, &effects.block),
        (&shape.notice, &effects.notice),
    ] {
        for (path, word) in members {
            if let Some(text) = effect {
                let names = path.split('/');
                let at = names.fold(&mut answer, |at, name| &mut at[name]);
                *at = match word.as_str() {
                    "{text}" => json!(text),
                    "{event}" => json!(row.native),
                    word => json!(word),
                };
            }
        }
    }
    (!effects.is_empty()).then_some(answer)
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
