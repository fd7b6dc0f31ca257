//! What trials say of a change's tests, as codes.

mod trials;

pub use trials::{code_of, list_test_changes, list_undeclared};
