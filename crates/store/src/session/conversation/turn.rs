//! A call in the making, and what one turn of it is named, says and leaves.

use super::call::Call;
use super::start::{Purpose, Start};
use crate::session::reference::{Ref, RefKind};
use crate::session::store::SessionStore;
use crate::session::supplier::{Action, Answer, Capability, Supplier, SupplierError, Transport};
use crate::session::value::Kind;

/// What a summary is asked for with.
pub(super) const RECAP: &str = "Summarise this conversation for whoever goes on with it and has nothing else: the task, what holds, \
what was learned, what is open, what is next. Plain text.";

/// One call in the making.
pub(super) struct Talk<'a> {
    pub(super) store: &'a dyn SessionStore,
    pub(super) supplier: &'a dyn Supplier,
    pub(super) capability: Capability,
    pub(super) call: &'a Call<'a>,
    pub(super) start: Start,
    pub(super) purpose: Purpose,
    /// Of the turn that is taken: what follows an order to mend its answer is asked.
    pub(super) action: Action,
    /// The turn that gave no answer.
    pub(super) error: Option<(Ref, SupplierError)>,
}

/// One request with its answer, to be kept.
pub(super) struct Said<'a> {
    pub(super) kind: Kind,
    pub(super) say: &'a str,
    pub(super) answer: Answer,
    pub(super) recap: Option<String>,
    pub(super) transport: Transport,
}

/// The refs of one turn.
pub(super) struct Names {
    pub(super) exchange: Ref,
    pub(super) episode: Ref,
    pub(super) series: Option<Ref>,
}

impl Names {
    pub(super) fn new(chained: bool) -> Self {
        Self {
            exchange: Ref::new(RefKind::Exchange),
            episode: Ref::new(RefKind::Episode),
            series: chained.then(|| Ref::new(RefKind::Series)),
        }
    }
}
