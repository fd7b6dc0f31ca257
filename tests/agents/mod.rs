//! Agents as processes: the program itself, recorded streams, the Agent Client Protocol.

mod acp;
mod process;
mod streams;
