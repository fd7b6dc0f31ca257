//! One call and what becomes of it: where it goes on from, how the supplier learns what came
//! before, what is kept, what a compaction makes of it.
//!
//! Invariants: nothing is sent before it is known that it can be kept and gone on from; what
//! was kept earlier stays as it was, on every path; each answer that came is kept, also one
//! that is refused afterwards; a supplier's own record is forked, never continued in place;
//! an order is given once, and what mends the form of its answer is asked, not ordered.

mod call;
mod form;
mod keep;
mod start;
mod talk;
mod turn;

pub use call::{Call, NativeUse, Reply};
pub(super) use start::Purpose;
pub use talk::call;
pub(super) use talk::call_as;
