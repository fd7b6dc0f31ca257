//! What cook keeps below the common git directory: the log of transitions with its view in
//! `.agent/`, receipts of gates, and sessions with agents.

mod again;
pub mod receipt;
pub mod session;
pub mod store;

pub use again::run_again;
