//! What cook keeps below the common git directory: the log of transitions with its view in
//! `.agent/`, receipts of gates, and sessions with agents.

pub mod receipt;
pub mod session;
pub mod store;
