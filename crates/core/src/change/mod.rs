//! What a change means: what trials say of its tests, as codes; two contracts compared.

mod contract;
mod trials;

pub use contract::{Contract, ContractFile, Difference, Part, Strength, compare, compare_criteria};
pub use trials::{code_of, list_test_changes, list_undeclared};
