//! Schemas of the values that JSON writes in more than one way; types without an entry here
//! describe themselves.

use super::scalar::{
    Count, MAX_COUNT, OptionalI32, OptionalText, OptionalTexts, Priority, SchemaVersion, Text,
    Texts, Timestamp,
};
use super::state::{Role, RoleSlot};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::json;
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
    OptionalText {"type": ["string", "null"], "minLength": 1}
    OptionalTexts {"type": ["array", "null"], "items": {"type": "string", "minLength": 1}}
    OptionalI32 {"type": ["integer", "null"], "minimum": i32::MIN, "maximum": i32::MAX}
    RoleSlot {"enum": Role::ALL.iter().map(|role| json!(role)).chain([json!("null"), json!(null)]).collect::<Vec<_>>()}
}
