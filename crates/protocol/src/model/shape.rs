//! JSON Schemas of types whose JSON form schemars cannot derive. Types without an entry here derive theirs.

use super::brief_document::{BriefLine, Slot};
use super::evidence::Basis;
use super::scalar::{
    Count, MAX_COUNT, MaybeText, MaybeTexts, OptionalI32, Priority, SchemaVersion, Text, Texts,
    Timestamp,
};
use super::state::{Role, RoleSlot};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

macro_rules! shapes {
    ($($of:ident $schema:tt)*) => {$(
        impl JsonSchema for $of {
            fn schema_name() -> Cow<'static, str> {
                stringify!($of).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    )*};
}

shapes! {
    SchemaVersion {"const": 1}
    Count {"type": "integer", "minimum": 0, "maximum": MAX_COUNT}
    Priority {"type": "number"}
    Timestamp {"type": ["string", "number"], "minLength": 1}
    Text {"type": "string", "minLength": 1}
    Texts {"type": "array", "items": {"type": "string", "minLength": 1}}
    MaybeText {"type": ["string", "null"], "minLength": 1}
    MaybeTexts {"type": ["array", "null"], "items": {"type": "string", "minLength": 1}}
    OptionalI32 {"type": ["integer", "null"], "minimum": i32::MIN, "maximum": i32::MAX}
    BriefLine {"oneOf": Slot::ALL.map(describe_line)}
    RoleSlot {"enum": Role::ALL.iter().map(|role| json!(role)).chain([json!("null"), json!(null)]).collect::<Vec<_>>()}
}

/// Returns the schema of a brief entry in this slot.
fn describe_line(slot: Slot) -> Value {
    let mut properties = Map::new();
    properties.insert("slot".to_owned(), json!({"const": slot.id()}));
    for key in slot.fields() {
        let shape = match *key {
            "basis" => json!({"enum": Basis::ALL.map(Basis::id)}),
            _ => json!({"type": "string", "minLength": 1}),
        };
        properties.insert((*key).to_owned(), shape);
    }
    let required = ["slot"].into_iter().chain(slot.fields().iter().copied());
    let required: Vec<&str> = required.collect();
    json!({"type": "object", "properties": properties, "required": required})
}
