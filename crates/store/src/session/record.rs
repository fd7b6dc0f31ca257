//! The record: every event of the store, as commits below one ref of the log.
//!
//! A commit's message holds one event, its tree the blobs of the exchanges that the event
//! brought, so that they are packed, moved and let go of with it. Events that lie some way
//! back are also in `segments/` of the newest tree, many in a blob, which is named by its last
//! event and by when its refs were given: so a ref is found without walking the whole chain.
//! The first commit of a chain that was begun anew has segments of all earlier events, and
//! their blobs in `exchanges/`.

use super::error::Fault;
use super::event::{Event, Held, Index};
use super::hash::ContentHash;
use super::reference::Ref;
use super::stored::Object;
use crate::store::log::{Commit, FILE, FOLDER, Log, TreeEntry};
use crate::store::{Place, StoreError, chain};
use git2::Oid;
use std::collections::BTreeSet;
use std::io;

/// The ref of the newest event.
pub(super) const REF: &str = "refs/sessions/record";
/// The folder of events that lie further back.
pub(super) const SEGMENTS: &str = "segments";
/// The folder of blobs that a chain begins with.
pub(super) const EXCHANGES: &str = "exchanges";

/// Some events that lie further back.
pub(super) struct Segment {
    /// The number of its last event.
    pub(super) last: u64,
    /// When the first and the last of its refs were given.
    pub(super) given: (u64, u64),
    pub(super) blob: Oid,
}

impl Segment {
    /// Its name says what is in it.
    pub(super) fn of(name: &str, blob: Oid) -> Option<Self> {
        let mut parts = name.split('-');
        let last = parts.next()?.parse().ok()?;
        let mut moment = || u64::from_str_radix(parts.next()?, 16).ok();
        Some(Self {
            last,
            given: (moment()?, moment()?),
            blob,
        })
    }

    pub(super) fn entry(&self) -> TreeEntry {
        let (from, to) = self.given;
        TreeEntry {
            mode: FILE,
            name: format!("{:012}-{from:012x}-{to:012x}", self.last),
            id: self.blob,
        }
    }
}

/// What has been read of the record.
pub(super) struct View {
    log: Log,
    tip: Option<Oid>,
    segments: Vec<Segment>,
    loaded: BTreeSet<Oid>,
    index: Index,
}

impl View {
    /// The record as it is now, from what was read before; none when there is no log.
    pub(super) fn now(before: Option<Self>, place: &Place) -> Result<Option<Self>, Fault> {
        let mut view = match before {
            Some(view) => view,
            None => match chain::open(place).map_err(fault)? {
                Some(log) => Self::new(log),
                None => return Ok(None),
            },
        };
        let tip = view.log.find_ref(REF).map_err(fault)?;
        if tip != view.tip {
            view = view.follow(tip)?;
        }
        Ok(Some(view))
    }

    fn new(log: Log) -> Self {
        Self {
            log,
            tip: None,
            segments: Vec::new(),
            loaded: BTreeSet::new(),
            index: Index::default(),
        }
    }

    /// Reads the events that are in no segment, and no further than what is known.
    fn follow(mut self, tip: Option<Oid>) -> Result<Self, Fault> {
        let Some(tip) = tip else {
            return Ok(Self::new(self.log));
        };
        let commit = self.log.commit(tip).map_err(fault)?;
        let segments = segments(&self.log, commit.tree)?;
        let closed = segments.last().map_or(0, |segment| segment.last);
        let (fresh, joins) = walk(&self.log, tip, |id, seq| {
            Some(id) == self.tip || seq <= closed
        })?;
        if self.tip.is_some() && joins != self.tip {
            self = Self::new(self.log);
        }
        for event in fresh {
            self.index.take_in(event);
        }
        self.tip = Some(tip);
        self.segments = segments;
        Ok(self)
    }

    fn load(&mut self, wanted: impl Fn(&Segment) -> bool) -> Result<(), Fault> {
        let load: Vec<Oid> = self
            .segments
            .iter()
            .filter(|segment| wanted(segment) && !self.loaded.contains(&segment.blob))
            .map(|segment| segment.blob)
            .collect();
        for blob in load {
            for event in events_in(&self.log, blob)? {
                self.index.take_in(event);
            }
            self.loaded.insert(blob);
        }
        Ok(())
    }

    /// What is said of one ref, beside what was read already.
    pub(super) fn about(&mut self, name: Ref) -> Result<&Index, Fault> {
        let moment = name.given_at_ms();
        self.load(|segment| (segment.given.0..=segment.given.1).contains(&moment))?;
        Ok(&self.index)
    }

    /// Everything.
    pub(super) fn whole(&mut self) -> Result<&Index, Fault> {
        self.load(|_| true)?;
        Ok(&self.index)
    }

    /// The object of a hash.
    pub(super) fn object(&mut self, hash: &ContentHash) -> Result<Option<Object>, Fault> {
        for at in (0..self.segments.len()).rev() {
            if self.index.objects.contains_key(hash) {
                break;
            }
            let blob = self.segments[at].blob;
            self.load(|segment| segment.blob == blob)?;
        }
        let found = self.index.objects.get(hash);
        found.map(|held| read_value(&self.log, held)).transpose()
    }
}

/// A value from where it is; what it is named by is for the caller to compare.
pub(super) fn read_value(log: &Log, held: &Held) -> Result<Object, Fault> {
    let id = match held {
        Held::Value(object) => return Ok(object.clone()),
        Held::Blob(id) => id,
    };
    let corrupt = |why: String| Fault::ObjectCorrupt {
        what: format!("object {id} of the log"),
        why,
    };
    let oid = log
        .oid(id)
        .ok_or_else(|| corrupt("it is no name".to_owned()))?;
    let bytes = log.blob(oid).map_err(fault)?;
    serde_json::from_slice(&bytes).map_err(|error| corrupt(error.to_string()))
}

/// The events from `tip` back, newest first, until one is to be the end; where that is.
pub(super) fn walk(
    log: &Log,
    tip: Oid,
    is_end: impl Fn(Oid, u64) -> bool,
) -> Result<(Vec<Event>, Option<Oid>), Fault> {
    let mut events: Vec<Event> = Vec::new();
    let mut at = Some(tip);
    while let Some(id) = at {
        let expected = events.last().map(|event| event.seq - 1);
        if is_end(id, expected.unwrap_or(u64::MAX)) {
            break;
        }
        let commit = log.commit(id).map_err(fault)?;
        let event = event_of(id, &commit)?;
        let parent = commit.parents.first().copied();
        let follows = expected.is_none_or(|expected| expected == event.seq);
        if !follows || event.seq == 0 || event.begins() != parent.is_none() {
            return Err(corrupt_commit(id, "its number does not follow".to_owned()));
        }
        events.push(event);
        at = parent;
    }
    Ok((events, at))
}

/// The event of a commit.
pub(super) fn event_of(id: Oid, commit: &Commit) -> Result<Event, Fault> {
    let (_, body) = commit.message.split_once("\n\n").unwrap_or_default();
    serde_json::from_str(body).map_err(|error| corrupt_commit(id, error.to_string()))
}

fn corrupt_commit(id: Oid, why: String) -> Fault {
    Fault::ObjectCorrupt {
        what: format!("commit {id} of the log"),
        why,
    }
}

/// The segments of a commit's tree, oldest first.
pub(super) fn segments(log: &Log, tree: Oid) -> Result<Vec<Segment>, Fault> {
    let is_folder = |entry: &TreeEntry| entry.mode == FOLDER && entry.name == SEGMENTS;
    let all = log.tree(tree).map_err(fault)?;
    let Some(folder) = all.into_iter().find(is_folder) else {
        return Ok(Vec::new());
    };
    let read = |entry: TreeEntry| {
        Segment::of(&entry.name, entry.id).ok_or_else(|| Fault::ObjectCorrupt {
            what: format!("tree {} of the log", folder.id),
            why: format!("`{}` is not a segment", entry.name.escape_debug()),
        })
    };
    let entries = log.tree(folder.id).map_err(fault)?;
    entries.into_iter().map(read).collect()
}

pub(super) fn events_in(log: &Log, blob: Oid) -> Result<Vec<Event>, Fault> {
    let text = log.blob(blob).map_err(fault)?;
    text.split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| {
            serde_json::from_slice(line).map_err(|error| Fault::ObjectCorrupt {
                what: format!("object {blob} of the log"),
                why: error.to_string(),
            })
        })
        .collect()
}

/// Every event up to a commit, oldest first.
pub(super) fn all_events(log: &Log, tip: Oid) -> Result<Vec<Event>, Fault> {
    let mut events = Vec::new();
    for segment in segments(log, log.commit(tip).map_err(fault)?.tree)? {
        events.extend(events_in(log, segment.blob)?);
    }
    let closed = events.last().map_or(0, |event| event.seq);
    let (mut newest, _) = walk(log, tip, |_, seq| seq <= closed)?;
    newest.reverse();
    events.extend(newest);
    Ok(events)
}

pub(super) fn json<T: serde::Serialize>(value: &T) -> Result<Vec<u8>, Fault> {
    serde_json::to_vec(value).map_err(|error| Fault::Store(error.into()))
}

/// What the log says, as what the store says.
pub(super) fn fault(error: StoreError) -> Fault {
    let why = |error: &StoreError| match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    };
    match error {
        StoreError::Unreadable { what, source } => Fault::ObjectCorrupt {
            what,
            why: source.to_string(),
        },
        other => Fault::Store(io::Error::other(why(&other))),
    }
}

/// How damage shows.
pub(super) fn reason(fault: &Fault) -> String {
    match fault {
        Fault::ObjectCorrupt { why, .. } => why.clone(),
        Fault::Store(error) => error.to_string(),
        other => other.to_string(),
    }
}
