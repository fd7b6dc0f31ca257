//! What cook asks of the operating system: files, processes, started, watched and ended with all
//! that they started, and the time.

pub mod clock;
pub mod disk;
pub mod process;
