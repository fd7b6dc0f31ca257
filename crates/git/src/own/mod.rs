//! What a slice's own commits wrote and took away ([`Own`]), and what becomes of it.
//!
//! Text is followed by its lines, never by commit ids: a history may be rewritten.

mod fate;
mod file;
mod follow;
mod trace;

pub use fate::{Fated, Place};
pub use file::Text;
pub use follow::{Following, Piece};
