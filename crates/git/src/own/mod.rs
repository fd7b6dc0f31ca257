//! What a slice's own commits wrote and took away ([`Own`]), and what becomes of it.
//!
//! Text is followed by its lines, never by commit ids: a history may be rewritten.

mod beside;
mod carry;
mod file;
mod follow;
mod handed;
mod left;
mod lineage;
mod moved;
mod outcome;
mod parts;
mod place;
mod rebound;
mod sought;
mod taken;
mod trace;
mod way;
mod words;

pub use file::Text;
pub use follow::{Following, Piece};
pub use moved::{Found, find_moved, is_prose, may_move};
pub use outcome::{Comparison, Followed};
pub use words::stands_by_words;
