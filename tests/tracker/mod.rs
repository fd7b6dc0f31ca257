//! Issue trackers: the calls, `cook issue`, and hooks beside a tracker.

mod hooks;
mod issue;
mod library;
