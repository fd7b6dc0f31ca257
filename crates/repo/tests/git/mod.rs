//! What is read of and done to a git repository.

mod baseline;
mod commit;
mod facts;
mod merged;
mod parked;
