//! An agent with lifecycle hooks, as this module handles it: its name and its table.

use cook_core::model::KnownAgent;
use cook_core::model::hooks::{HookTable, Kind, Row};

/// An agent with lifecycle hooks.
#[derive(Clone, Copy)]
pub struct Agent {
    known: &'static KnownAgent,
    hooks: &'static HookTable,
}

impl Agent {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        KnownAgent::all().filter_map(Self::of)
    }

    /// Reads a name.
    pub fn parse(name: &str) -> Option<Self> {
        KnownAgent::find(name).and_then(Self::of)
    }

    fn of(known: &'static KnownAgent) -> Option<Self> {
        let hooks = known.hooks.as_ref()?;
        Some(Self { known, hooks })
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        self.known.name()
    }

    /// All that is known of it.
    pub fn known(self) -> &'static KnownAgent {
        self.known
    }

    /// Its hooks.
    pub fn hooks(self) -> &'static HookTable {
        self.hooks
    }

    /// Its events.
    pub fn rows(self) -> &'static [Row] {
        &self.hooks.events
    }

    /// The event of that name.
    pub fn row(self, native: &str) -> Option<&'static Row> {
        self.rows().iter().find(|row| row.native == native)
    }

    /// It sends such an event.
    pub fn reports(self, kind: Kind) -> bool {
        self.rows().iter().any(|row| row.kind == kind)
    }
}

impl PartialEq for Agent {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Agent {}

impl std::fmt::Debug for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
