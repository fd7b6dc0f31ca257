//! What cook asks of the operating system: files, processes, started, watched and ended with all
//! that they started, threads, and the time.

pub mod clock;
pub mod disk;
pub mod process;
pub mod thread;
