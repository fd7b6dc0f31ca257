//! A scripted agent: does what a script says, in the event dialect of a real one. Tests
//! and demonstrations run it in an agent's place, through the same presets and pipes.
//!
//! Invariant: what it does is a function of the script, its input and the files it is
//! told to use. It is an agent, not a part of cook: it prints by itself.

mod dialect;
mod script_player;

pub use script_player::{Acp, Script, Step, play};
