//! `cook calibrate`: judges are given planted cases, each in a copy of a repository that is thrown away,
//! and what they say is counted.
//!
//! Invariants: the copy's log is another one, and nothing of a case reaches this repository but its
//! answer, which is kept beside the log; the prompt is put together as that of every session is; an
//! answer is kept before the next case begins.

mod calibration;
mod done_work;
mod planted_case;

pub(crate) use calibration::{Asked, JUDGES, Measured, measure};
