//! Conversations for programs: an atom that is asked, a repl that is asked and given orders.
//!
//! What cannot be meant cannot be written: an atom goes on from an episode only, and [`On`]
//! is an episode or a series, never both.
//!
//! ```
//! use cook_store::session::{
//!     Act, Answer, Ask, Continuation, Capability, SupplierError, MemoryStore, Native, On, Repl, Supplier, Turn,
//!     Window,
//! };
//!
//! struct Echo;
//! impl Supplier for Echo {
//!     fn name(&self) -> &str { "echo" }
//!     fn capability(&self) -> Capability { Capability::Repl }
//!     fn continuation(&self) -> Continuation { Continuation::Replay }
//!     fn window(&self) -> Option<Window> { None }
//!     fn can_fork(&self, _: &Native) -> bool { false }
//!     fn call(&self, turn: &Turn) -> Result<Answer, SupplierError> {
//!         Ok(Answer { output: format!("{} bytes", turn.prompt.len()), ..Answer::default() })
//!     }
//! }
//!
//! let store = MemoryStore::default();
//! let repl = Repl::new(&store, &Echo);
//! let first = repl.ask(&Ask::of("What is open?"))?;
//! assert_eq!(first.output, "13 bytes");
//! // The series goes on; the first refs stay what they were.
//! let series = first.series.expect("a repl answers in a series");
//! let second = repl.act(&Act { on: Some(On::Series(series)), ..Act::of("Do it.") })?;
//! // A branch from the checkpoint does not see what came later.
//! let branch = repl.ask(&Ask { on: Some(On::Episode(first.episode)), ..Ask::of("Why?") })?;
//! assert_ne!(second.episode, branch.episode);
//! # Ok::<(), cook_store::session::SessionError>(())
//! ```
//!
//! An atom takes no series:
//!
//! ```compile_fail
//! # use cook_store::session::{Atom, On, Ref, RefKind, EpisodeRef};
//! fn wrong(atom: &Atom, series: On) {
//!     let _ = atom.ask("x", Some(series), None);
//! }
//! ```

use super::conversation::{Call, NativeUse, Reply, call};
use super::error::{Fault, Prior, SessionError};
use super::reference::{On, Ref, RefKind};
use super::store::SessionStore;
use super::stored::Native;
use super::supplier::{
    Action, Answer, Capability, Continuation, Supplier, SupplierError, Turn, Window,
};
use cook_core::schema::GivenSchema;
use cook_os::clock::Clock;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The name of an episode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EpisodeRef(Ref);

impl TryFrom<Ref> for EpisodeRef {
    type Error = Fault;

    fn try_from(name: Ref) -> Result<Self, Fault> {
        if name.kind() == RefKind::Episode {
            return Ok(Self(name));
        }
        Err(Fault::RefKindMismatch {
            name: name.to_string(),
            found: name,
            wanted: RefKind::Episode,
        })
    }
}

/// A question.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    /// The words.
    pub say: &'a str,
    /// What it goes on from.
    pub on: Option<On>,
    /// What the answer must fit.
    pub schema: Option<&'a GivenSchema>,
}

impl<'a> Ask<'a> {
    /// A fresh question.
    pub fn of(say: &'a str) -> Self {
        Self {
            say,
            on: None,
            schema: None,
        }
    }
}

/// An order.
#[derive(Debug, Clone, Copy)]
pub struct Act<'a> {
    /// The words.
    pub do_: &'a str,
    /// What it goes on from.
    pub on: Option<On>,
}

impl<'a> Act<'a> {
    /// An order without anything before it.
    pub fn of(do_: &'a str) -> Self {
        Self { do_, on: None }
    }
}

/// A supplier that answers once: its replies name an episode and no series.
pub struct Atom<'a> {
    store: &'a dyn SessionStore,
    supplier: Grained<'a>,
}

impl<'a> Atom<'a> {
    /// Any supplier, asked as an atom.
    pub fn new(store: &'a dyn SessionStore, supplier: &'a dyn Supplier) -> Self {
        let capability = Capability::Atom;
        Self {
            store,
            supplier: Grained {
                supplier,
                capability,
            },
        }
    }

    /// Asks, going on from an episode where one is given.
    ///
    /// # Errors
    /// A [`SessionError`] with the refs that are still good.
    pub fn ask(
        &self,
        say: &str,
        on: Option<EpisodeRef>,
        schema: Option<&GivenSchema>,
    ) -> Result<Reply, SessionError> {
        let on = on.map(|EpisodeRef(name)| On::Episode(name));
        one(self.store, &self.supplier, say, on, Action::Ask, schema)
    }

    /// Asks for a value of a type.
    ///
    /// # Errors
    /// The same; `output_schema_invalid` when what fits the schema does not fit the type.
    pub fn ask_as<T: DeserializeOwned>(
        &self,
        say: &str,
        on: Option<EpisodeRef>,
        schema: &GivenSchema,
    ) -> Result<(T, Reply), SessionError> {
        typed(self.ask(say, on, Some(schema))?)
    }
}

/// A supplier with tools: its replies name an episode and a series.
pub struct Repl<'a> {
    store: &'a dyn SessionStore,
    supplier: Grained<'a>,
}

impl<'a> Repl<'a> {
    /// Any supplier, as a repl.
    pub fn new(store: &'a dyn SessionStore, supplier: &'a dyn Supplier) -> Self {
        let capability = Capability::Repl;
        Self {
            store,
            supplier: Grained {
                supplier,
                capability,
            },
        }
    }

    /// Asks: nothing may change.
    ///
    /// # Errors
    /// A [`SessionError`] with the refs that are still good.
    pub fn ask(&self, ask: &Ask) -> Result<Reply, SessionError> {
        let Ask { say, on, schema } = *ask;
        one(self.store, &self.supplier, say, on, Action::Ask, schema)
    }

    /// Asks for a value of a type.
    ///
    /// # Errors
    /// The same; `output_schema_invalid` when there is no schema, or what fits it does not
    /// fit the type.
    pub fn ask_as<T: DeserializeOwned>(&self, ask: &Ask) -> Result<(T, Reply), SessionError> {
        typed(self.ask(ask)?)
    }

    /// Orders: the worktree may change. Never repeated by itself.
    ///
    /// # Errors
    /// A [`SessionError`] with the refs that are still good.
    pub fn act(&self, act: &Act) -> Result<Reply, SessionError> {
        one(
            self.store,
            &self.supplier,
            act.do_,
            act.on,
            Action::Act,
            None,
        )
    }
}

fn one(
    store: &dyn SessionStore,
    supplier: &dyn Supplier,
    say: &str,
    on: Option<On>,
    deed: Action,
    schema: Option<&GivenSchema>,
) -> Result<Reply, SessionError> {
    let check = schema.map(|schema| move |value: &Value| schema.objections(value));
    call(
        store,
        supplier,
        &Call {
            say,
            deed,
            on,
            schema: check
                .as_ref()
                .map(|check| check as &dyn Fn(&Value) -> Vec<String>),
            schema_text: schema.map(GivenSchema::value),
            native: NativeUse::Auto,
            recap: None,
            at: &Clock::System.now(),
        },
    )
}

fn typed<T: DeserializeOwned>(reply: Reply) -> Result<(T, Reply), SessionError> {
    let data = reply.data.clone().unwrap_or_default();
    match serde_json::from_value(data) {
        Ok(value) => Ok((value, reply)),
        Err(error) => Err(SessionError::new(Fault::OutputSchemaInvalid {
            paths: vec![error.to_string()],
            attempts: reply.attempts,
        })
        .keeping(Prior {
            episode: Some(reply.episode),
            series: reply.series,
        })),
    }
}

/// A supplier, taken as an atom or as a repl.
struct Grained<'a> {
    supplier: &'a dyn Supplier,
    capability: Capability,
}

impl Supplier for Grained<'_> {
    fn name(&self) -> &str {
        self.supplier.name()
    }

    fn capability(&self) -> Capability {
        self.capability
    }

    fn continuation(&self) -> Continuation {
        self.supplier.continuation()
    }

    fn window(&self) -> Option<Window> {
        self.supplier.window()
    }

    fn can_fork(&self, native: &Native) -> bool {
        self.supplier.can_fork(native)
    }

    fn call(&self, turn: &Turn) -> Result<Answer, SupplierError> {
        self.supplier.call(turn)
    }
}

#[cfg(test)]
mod tests {
    use super::super::store::MemoryStore;
    use super::*;
    use serde_json::json;

    struct Three;

    impl Supplier for Three {
        fn name(&self) -> &str {
            "three"
        }
        fn capability(&self) -> Capability {
            Capability::Repl
        }
        fn continuation(&self) -> Continuation {
            Continuation::Replay
        }
        fn window(&self) -> Option<Window> {
            None
        }
        fn can_fork(&self, _: &Native) -> bool {
            false
        }
        fn call(&self, _: &Turn) -> Result<Answer, SupplierError> {
            Ok(Answer {
                output: "{\"n\": 3}".to_owned(),
                ..Answer::default()
            })
        }
    }

    #[derive(serde::Deserialize)]
    struct Count {
        n: u64,
    }

    #[derive(Debug, serde::Deserialize)]
    struct Other {
        #[allow(dead_code)]
        name: String,
    }

    #[test]
    fn an_atom_and_a_repl_give_values_of_a_type() {
        let store = MemoryStore::default();
        let schema = GivenSchema::of(json!({"required": ["n"]})).unwrap_or_else(|e| panic!("{e}"));
        let atom = Atom::new(&store, &Three);
        let (count, reply) = atom
            .ask_as::<Count>("how many?", None, &schema)
            .unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((count.n, reply.series), (3, None));
        let on = EpisodeRef::try_from(reply.episode).unwrap_or_else(|e| panic!("{e}"));
        let next = atom.ask("on", Some(on), None);
        assert!(next.is_ok_and(|next| next.series.is_none()));
        assert!(EpisodeRef::try_from(reply.exchange).is_err());

        let repl = Repl::new(&store, &Three);
        let ask = Ask {
            schema: Some(&schema),
            ..Ask::of("how many?")
        };
        let (count, reply) = repl.ask_as::<Count>(&ask).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(count.n, 3);
        assert!(reply.series.is_some());
        let wrong = repl.ask_as::<Other>(&ask).map(drop);
        let wrong = wrong
            .err()
            .map(|error| (error.fault.code(), error.prior.series));
        assert!(
            wrong.is_some_and(|(code, series)| code == "output_schema_invalid" && series.is_some())
        );
    }
}
