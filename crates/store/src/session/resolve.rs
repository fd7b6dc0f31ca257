//! Every way of naming a stored value: its ref, a prefix of it that is unique, its hash, a
//! name of the user's.

use super::error::{Reason, SessionError};
use super::hash::ContentHash;
use super::reference::{Ref, RefKind};
use super::store::SessionStore;

/// Shortest prefix that is looked for: the letters of a kind and four of the id.
const SHORTEST: usize = 7;
/// How many refs an ambiguous prefix is answered with.
const CANDIDATES: usize = 10;

/// What a text names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// The ref.
    pub name: Ref,
    /// What was chosen, where several were meant.
    pub note: Option<String>,
}

/// The ref of a kind that a text names; any kind when none is wanted.
///
/// # Errors
/// `episode_not_found`, `series_not_found`, `ref_ambiguous`, `ref_kind_mismatch`.
pub fn resolve(
    store: &dyn SessionStore,
    text: &str,
    wanted: Option<RefKind>,
) -> Result<Named, SessionError> {
    let named = find(store, text, wanted)?;
    match wanted {
        Some(wanted) if named.name.kind() != wanted => {
            Err(Reason::KindMismatch(shorten(text), named.name, wanted).into())
        }
        _ => Ok(named),
    }
}

fn find(
    store: &dyn SessionStore,
    text: &str,
    wanted: Option<RefKind>,
) -> Result<Named, SessionError> {
    let plain = |name| Named { name, note: None };
    if let Ok(hash) = ContentHash::try_from(text.to_ascii_lowercase()) {
        return by_hash(store, text, &hash, wanted);
    }
    let name = match text.parse::<Ref>() {
        Ok(name) => Some(name),
        Err(_) => store.find_labelled(text)?,
    };
    if let Some(name) = name {
        return match store.entry(name)? {
            Some(_) => Ok(plain(name)),
            None => Err(not_found(text, Some(name.kind()))),
        };
    }
    let found = match prefix(text) {
        Some(prefix) => store.list_beginning_with(&prefix)?,
        None => Vec::new(),
    };
    match found.as_slice() {
        [] => Err(not_found(text, wanted)),
        [name] => Ok(plain(*name)),
        several => {
            let candidates = several.iter().take(CANDIDATES).map(Ref::to_string);
            Err(Reason::RefAmbiguous(shorten(text), candidates.collect()).into())
        }
    }
}

/// Of several calls with the same content the newest that can be gone on from.
fn by_hash(
    store: &dyn SessionStore,
    text: &str,
    hash: &ContentHash,
    wanted: Option<RefKind>,
) -> Result<Named, SessionError> {
    let all = store.naming(hash)?;
    let mut open = None;
    for name in &all {
        if store.find_successor(*name)?.is_none() {
            open = Some(*name);
        }
    }
    let Some(name) = open.or(all.last().copied()) else {
        return Err(not_found(text, wanted));
    };
    let which = match open {
        Some(_) => "is the newest that is not sealed",
        None => "is the newest; each was compacted",
    };
    let note =
        (all.len() > 1).then(|| format!("{} calls have this content; {name} {which}", all.len()));
    Ok(Named { name, note })
}

/// Whether a text is a ref but for the case of its letters: no name of the user's can be that.
pub fn reads_as_ref(text: &str) -> bool {
    let Some((kind, id)) = text.split_once('_') else {
        return false;
    };
    let (kind, id) = (kind.to_ascii_lowercase(), id.to_ascii_uppercase());
    format!("{kind}_{id}").parse::<Ref>().is_ok()
}

/// A beginning of a ref as refs are written; ids are upper case.
fn prefix(text: &str) -> Option<String> {
    let (kind, id) = text.split_once('_')?;
    let kind = RefKind::ALL
        .into_iter()
        .map(RefKind::prefix)
        .find(|prefix| prefix.trim_end_matches('_') == kind)?;
    let fits = text.len() >= SHORTEST && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    fits.then(|| format!("{kind}{}", id.to_ascii_uppercase()))
}

fn not_found(text: &str, kind: Option<RefKind>) -> SessionError {
    let kind = kind.filter(|kind| *kind == RefKind::Series);
    Reason::NotFound(kind.unwrap_or(RefKind::Episode), shorten(text)).into()
}

/// What was given, harmless and short.
fn shorten(text: &str) -> String {
    text.chars()
        .take(100)
        .flat_map(char::escape_debug)
        .collect()
}
