//! Where a call goes on from.

use super::call::Call;
use crate::session::error::{Fault, Prior, SessionError};
use crate::session::reference::{On, Ref, RefKind};
use crate::session::store::SessionStore;
use crate::session::stored::Entry;
use crate::session::supplier::{Capability, Continuation, Supplier};

/// What a call is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// What was asked or ordered. The window's reserve stays free.
    Talk,
    /// A summary, which is what the reserve is for; of a sealed window too, because a
    /// chain can be gone on from as it stood before that.
    Recap,
}

/// Where a call goes on from.
#[derive(Debug, Clone, Default)]
pub(super) struct Start {
    pub(super) episode: Option<Entry>,
    pub(super) series: Option<Entry>,
    /// The chain whose current window goes on; a branch has none.
    pub(super) grows: bool,
}

impl Start {
    pub(super) fn prior(&self) -> Prior {
        Prior {
            episode: self.episode.as_ref().map(|entry| entry.name),
            series: self.series.as_ref().map(|entry| entry.name),
        }
    }
}

pub(super) fn resolve(
    store: &dyn SessionStore,
    supplier: &dyn Supplier,
    call: &Call,
    purpose: Purpose,
) -> Result<Start, SessionError> {
    let Some(on) = call.on else {
        return Ok(Start::default());
    };
    let start = match on {
        On::Episode(name) => {
            let episode = entry(store, name, RefKind::Episode)?;
            let series = match episode.series {
                Some(series) => store.entry(series)?,
                None => None,
            };
            Start {
                episode: Some(episode),
                series,
                grows: false,
            }
        }
        On::Series(name) => {
            let series = entry(store, name, RefKind::Series)?;
            let current = series.episode.ok_or_else(|| corrupt(name))?;
            Start {
                episode: Some(entry(store, current, RefKind::Episode)?),
                series: Some(series),
                grows: true,
            }
        }
    };
    let keep = |fault: Fault| SessionError::new(fault).keeping(start.prior());
    if supplier.continuation() == Continuation::None {
        return Err(keep(Fault::ContinuationNotSupported {
            supplier: supplier.name().to_owned(),
        }));
    }
    let is_repl = supplier.capability() == Capability::Repl;
    if let (On::Episode(episode), true, Purpose::Talk) = (on, is_repl, purpose)
        && let Some(series) = store.sealed(episode).map_err(keep)?
    {
        return Err(
            SessionError::new(Fault::EpisodeCompacted { episode, series }).keeping(Prior {
                episode: Some(episode),
                series: Some(series),
            }),
        );
    }
    if let (On::Series(name), false) = (on, is_repl) {
        return Err(keep(Fault::RefKindMismatch {
            name: name.to_string(),
            found: name,
            wanted: RefKind::Episode,
        }));
    }
    Ok(start)
}

pub(super) fn corrupt(name: Ref) -> Fault {
    Fault::ObjectCorrupt {
        what: name.to_string(),
        why: "it names no current window".to_owned(),
    }
}

fn entry(store: &dyn SessionStore, name: Ref, wanted: RefKind) -> Result<Entry, Fault> {
    if name.kind() != wanted {
        return Err(Fault::RefKindMismatch {
            name: name.to_string(),
            found: name,
            wanted,
        });
    }
    store.entry(name)?.ok_or_else(|| match wanted {
        RefKind::Series => Fault::SeriesNotFound(name.to_string()),
        RefKind::Episode | RefKind::Exchange => Fault::EpisodeNotFound(name.to_string()),
    })
}
