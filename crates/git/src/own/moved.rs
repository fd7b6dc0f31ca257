//! Text that turned up in another file.

use cook_core::diagnostic::Failure;
use std::ops::Range;

/// Changed files that are searched.
const MAX_SEARCHED: usize = 1_000;

/// Where a text turned up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// Nowhere.
    None,
    /// In these lines (from 0) of one file.
    One(String, Range<usize>),
    /// In several places.
    Several,
    /// Nowhere in the files that were searched, and there are more.
    TooMany,
}

/// The one of the changed files that holds a text now and did not before. `places` says where the
/// text stands in a file now (true) or then (false).
///
/// # Errors
/// When a file cannot be read.
pub fn find_moved<'a>(
    changed: impl Iterator<Item = &'a str>,
    places: impl Fn(&str, bool) -> Result<Vec<Range<usize>>, Failure>,
) -> Result<Found, Failure> {
    let mut found = Found::None;
    for (number, path) in changed.enumerate() {
        if number == MAX_SEARCHED {
            return Ok(match found {
                Found::None => Found::TooMany,
                found => found,
            });
        }
        let here = places(path, true)?;
        let Some(first) = here.first() else {
            continue;
        };
        // What stood there already did not move there.
        let is_new = here.len() == 1 && places(path, false)?.is_empty();
        found = match found {
            Found::None if is_new => Found::One(path.to_owned(), first.clone()),
            _ => return Ok(Found::Several),
        };
    }
    Ok(found)
}
