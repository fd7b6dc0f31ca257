//! A JSON Schema that a user gives, 2020-12: checked before anything is asked with it.

use super::{describe, show};
use jsonschema::Validator;
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

    /// What it objects to in a value, each with its path.
    pub fn objections(&self, value: &Value) -> Vec<String> {
        let mut objections: Vec<String> = self
            .validator
            .iter_errors(value)
            .take(MAX_OBJECTIONS)
            .map(|error| {
                let path = error.instance_path().as_str();
                let path = if path.is_empty() { "/" } else { path };
                format!("{}: {}", show(path, 200), describe(&error))
            })
            .collect();
        objections.dedup();
        objections
    }
}

impl std::fmt::Debug for GivenSchema {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_tuple("GivenSchema").field(&self.value).finish()
    }
}
