//! Where a call goes on from.

use super::call::Call;
use crate::session::error::{Prior, Reason, SessionError};
use crate::session::reference::{On, Ref, RefKind};
use crate::session::store::SessionStore;
use crate::session::stored::Entry;
use crate::session::supplier::{Capability, Continuation, Supplier};

/// What a call is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::session) enum Purpose {
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
    capability: Capability,
    call: &Call,
    purpose: Purpose,
) -> Result<Start, SessionError> {
    let Some(on) = call.on else {
        return Ok(Start::default());
    };
    let start = match on {
        On::Episode(name) => {
            let episode = entry(store, name, RefKind::Episode)?;
            let series = episode.series.map(|series| store.entry(series));
            Start {
                series: series.transpose()?.flatten(),
                episode: Some(episode),
                grows: false,
            }
        }
        On::Series(name) => {
            let series = entry(store, name, RefKind::Series)?;
            let current = series.episode.ok_or_else(|| no_window(name))?;
            Start {
                episode: Some(entry(store, current, RefKind::Episode)?),
                series: Some(series),
                grows: true,
            }
        }
    };
    let keep = |error: SessionError| error.keeping(start.prior());
    if supplier.continuation() == Continuation::None {
        return Err(keep(
            Reason::NoContinuation(supplier.name().to_owned()).into(),
        ));
    }
    match (on, capability) {
        (On::Episode(name), Capability::Repl) if purpose == Purpose::Talk => {
            match store.find_successor(name).map_err(keep)? {
                None => Ok(start),
                Some(series) => {
                    let prior = Prior {
                        episode: Some(name),
                        series: Some(series),
                    };
                    Err(SessionError::from(Reason::EpisodeCompacted(name, series)).keeping(prior))
                }
            }
        }
        (On::Series(name), Capability::Atom) => {
            let wanted = RefKind::Episode;
            Err(keep(
                Reason::KindMismatch(name.to_string(), name, wanted).into(),
            ))
        }
        _ => Ok(start),
    }
}

pub(super) fn no_window(name: Ref) -> SessionError {
    SessionError::corrupt(name, "it names no current window")
}

fn entry(store: &dyn SessionStore, name: Ref, wanted: RefKind) -> Result<Entry, SessionError> {
    if name.kind() != wanted {
        return Err(Reason::KindMismatch(name.to_string(), name, wanted).into());
    }
    let entry = store.entry(name)?;
    entry.ok_or_else(|| Reason::NotFound(wanted, name.to_string()).into())
}
