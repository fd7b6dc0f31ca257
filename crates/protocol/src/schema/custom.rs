//! A JSON Schema that a user gives, 2020-12: checked before anything is asked with it.

use super::show;
use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde_json::Value;

/// Objections that one value gives at most.
const MAX_OBJECTIONS: usize = 20;

/// A schema that compiled.
pub struct GivenSchema {
    value: Value,
    validator: Validator,
}

impl GivenSchema {
    /// Compiles a schema. References leave the document nowhere.
    ///
    /// # Errors
    /// Why it is none.
    pub fn of(value: Value) -> Result<Self, String> {
        if !value.is_object() && !value.is_boolean() {
            return Err("a schema is an object".to_owned());
        }
        match jsonschema::draft202012::new(&value) {
            Ok(validator) => Ok(Self { value, validator }),
            Err(error) => Err(show(&error.to_string(), 500)),
        }
    }

    /// The schema itself.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// What is wrong with a value: JSON pointers, and what is wrong there.
    pub(super) fn errors<'a>(
        &'a self,
        value: &'a Value,
    ) -> impl Iterator<Item = (String, String)> + 'a {
        let errors = self.validator.iter_errors(value);
        errors.map(|error| (error.instance_path().as_str().to_owned(), describe(&error)))
    }

    /// What it objects to in a value, each with its path.
    pub fn objections(&self, value: &Value) -> Vec<String> {
        let errors = self.errors(value).take(MAX_OBJECTIONS);
        let lines = errors.map(|(path, what)| match path.is_empty() {
            true => format!("/: {what}"),
            false => format!("{}: {what}", show(&path, 200)),
        });
        let mut objections: Vec<String> = lines.collect();
        objections.dedup();
        objections
    }
}

impl std::fmt::Debug for GivenSchema {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_tuple("GivenSchema").field(&self.value).finish()
    }
}

/// What is wrong, without repeating the value: it may be large or hostile.
fn describe(error: &ValidationError<'_>) -> String {
    let text = match error.kind() {
        ValidationErrorKind::Required { property } => match property {
            Value::String(name) => format!("`{name}` is missing"),
            other => format!("{other} is missing"),
        },
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            let shown: Vec<String> = unexpected
                .iter()
                .take(5)
                .map(|name| format!("`{}`", show(name, 60)))
                .collect();
            let more = unexpected.len() - shown.len();
            let more = if more > 0 {
                format!(" and {more} more")
            } else {
                String::new()
            };
            format!("unknown field {}{more}", shown.join(", "))
        }
        ValidationErrorKind::Enum { options } => format!("not one of {options}"),
        ValidationErrorKind::Constant { expected_value } => format!("not {expected_value}"),
        ValidationErrorKind::MinLength { .. } => "an empty text".to_owned(),
        ValidationErrorKind::Minimum { limit } => format!("below {limit}"),
        ValidationErrorKind::Maximum { limit } => format!("above {limit}"),
        _ => error.masked_with("the value").to_string(),
    };
    show(&text, 500)
}
