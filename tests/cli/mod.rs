//! The commands, through the built `cook`.

mod brief;
mod brief_contract;
mod brief_scale;
mod commands;
#[cfg(unix)]
mod faults;
mod first_steps;
#[cfg(unix)]
mod gates;
mod handing_on;
mod input;
mod integrity;
mod json;
mod missing;
mod output;
mod past_work;
mod plans;
mod prompts;
mod reaching;
mod reasons;
mod reports;
mod said;
mod scaffold;
mod session;
mod shortcuts;
mod standing;
mod taken_plans;
mod taken_ticks;
mod uninstall;
