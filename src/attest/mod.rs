//! What a verification found, as in-toto statements that travel: written, signed, read again.
//!
//! The shapes are in-toto's (Statement v1, SVR v0.2, Test Result v0.1) and DSSE's; `docs/attest.md` names
//! each source.

mod foreign_statements;
mod make;

pub(crate) use foreign_statements::{About, Attested, MAX_FILE, read};
pub(crate) use make::{Found, Made, by_hand, make, run_gates, seal};
