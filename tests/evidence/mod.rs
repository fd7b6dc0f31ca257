//! What proves a criterion, and what becomes of it on real histories: the tables of
//! `protocol/completion.md#acceptance-criteria`, row by row.

mod in_work;
mod job;
mod odd;
mod random;
mod tested;
mod text;
