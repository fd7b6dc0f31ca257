//! What cook asks of the operating system: processes, started, watched and ended with all that
//! they started, and the time.

pub mod clock;
pub mod process;
