//! What `cook verify` answers: which commit is the proven one, what the proof of each criterion is worth,
//! and that what somebody changed in a finished log is named.

#[cfg(unix)]
mod attest;
mod base;
#[cfg(unix)]
mod ci;
mod ci_table;
mod cut;
mod formats;
mod from;
mod hostile;
mod job;
mod large;
#[cfg(unix)]
mod pr;
mod report;
#[cfg(unix)]
mod runner;
mod shapes;
#[cfg(unix)]
mod sign;
mod verdicts;
