//! Windows that begin with cook's own words: what several suppliers are to go on from, each
//! without the others.

use super::error::SessionError;
use super::event::Batch;
use super::hash::ContentHash;
use super::reference::{Ref, RefKind};
use super::store::SessionStore;
use super::stored::{Entry, Object};
use super::value::{Exchange, Kind};

/// Who is written down as the author.
pub const COOK: &str = "cook";

/// Keeps a window of one recap that no supplier was asked for; its name.
///
/// # Errors
/// When the store cannot be written.
pub fn seed(
    store: &dyn SessionStore,
    about: &str,
    text: &str,
    at: &str,
) -> Result<Ref, SessionError> {
    let (exchange, window) = begin_window(about, text);
    let episode = Ref::new(RefKind::Episode);
    let entry = |name: Ref, hash: ContentHash| Entry {
        schema_version: 1,
        name,
        hash,
        exid: None,
        supplier: COOK.to_owned(),
        series: None,
        episode: Some(episode).filter(|_| name.kind() == RefKind::Exchange),
        length: 1,
        bytes: (about.len() + text.len()) as u64,
        native: None,
        head: None,
        tree: None,
        at: at.to_owned(),
    };
    let entries = vec![
        entry(Ref::new(RefKind::Exchange), exchange.hash()),
        entry(episode, window.hash()),
    ];
    store.keep(&Batch {
        objects: vec![exchange, window],
        entries,
        ..Batch::default()
    })?;
    Ok(episode)
}

/// A summary and the window that begins with it.
pub(super) fn begin_window(about: &str, text: &str) -> (Object, Object) {
    let exchange = Object::of_exchange(&Exchange::new(Kind::Recap, about, text, None));
    let window = Object::Episode {
        parent: None,
        exchange: exchange.hash(),
        length: 1,
    };
    (exchange, window)
}
