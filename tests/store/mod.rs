//! The log and the exchanges of sessions.

mod load;
mod log;
mod safety;
mod sessions;
mod view;
