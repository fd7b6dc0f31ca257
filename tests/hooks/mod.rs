//! Lifecycle events of agents, through the built `cook`.

mod agents;
mod check;
mod inbox;
mod lifecycle;
mod settings;
mod shims;
mod speed;
