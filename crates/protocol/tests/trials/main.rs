//! What runs of real test runners say of each test.

#[cfg(unix)]
mod hooks;
mod outcomes;
