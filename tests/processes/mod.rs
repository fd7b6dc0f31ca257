//! Several commands and several worktrees at once, odd surroundings, and that every state leads on.

mod concurrency;
mod liveness;
mod surroundings;
mod watch;
mod worktrees;
