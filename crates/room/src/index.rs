//! The index of a `.git` in a room, as a clone has it after its checkout: each file with what the
//! system says of it, so that git in the room need not read every file again, and a script that
//! asks git without letting it look (`git diff-index`) is told that nothing changed.
//! Format: git's `gitformat-index`, version 2, without extensions.

use crate::list::{Kind, List};
use crate::manifest::Stat;
use git2::Oid;
use sha1::Sha1;
use sha2::{Digest, Sha256};

/// Whose index it is.
pub(crate) struct Of<'a> {
    /// The number of its objects: 0 = the repository's own, else a submodule's.
    pub source: usize,
    /// Where its files are.
    pub root: &'a [u8],
    /// Bytes of an id.
    pub id_bytes: usize,
}

/// The bytes of an index of that repository's files, which are as these say.
pub(crate) fn encode_index(list: &List, stats: &[Stat], of: &Of) -> Vec<u8> {
    let mut index = Index {
        bytes: b"DIRC\0\0\0\x02\0\0\0\0".to_vec(),
        entries: 0,
    };
    let skip = of.root.len() + usize::from(!of.root.is_empty());
    let commits = list.submodules.iter();
    let mut commits = commits
        .filter(|(_, (source, _))| *source == of.source)
        .peekable();
    for ((path, leaf), stat) in list.files.iter().zip(stats) {
        while let Some((at, (_, id))) = commits.next_if(|(at, _)| *at < path) {
            index.add(&at[skip..], COMMIT, Stat::default(), *id);
        }
        if leaf.source == of.source {
            index.add(&path[skip..], mode(leaf.kind), *stat, leaf.id);
        }
    }
    for (at, (_, id)) in commits {
        index.add(&at[skip..], COMMIT, Stat::default(), *id);
    }
    index.finish(of.id_bytes)
}

struct Index {
    bytes: Vec<u8>,
    entries: u32,
}

impl Index {
    fn add(&mut self, path: &[u8], mode: u32, stat: Stat, id: Oid) {
        let begin = self.bytes.len();
        let ([changed, changed_ns], [modified, modified_ns]) = (stat.ctime(), stat.mtime());
        let [user, group] = stat.owner();
        // git leaves the device out of what it compares.
        let device = 0;
        for field in [
            changed,
            changed_ns,
            modified,
            modified_ns,
            device,
            stat.inode(),
            mode,
            user,
            group,
            stat.size(),
        ] {
            self.bytes.extend(field.to_be_bytes());
        }
        self.bytes.extend(id.as_bytes());
        let length = path.len().min(0xfff) as u16;
        self.bytes.extend(length.to_be_bytes());
        self.bytes.extend(path);
        // At least one zero byte, up to a multiple of eight.
        let padded = (self.bytes.len() - begin) / 8 * 8 + 8;
        self.bytes.resize(begin + padded, 0);
        self.entries += 1;
    }

    fn finish(mut self, id_bytes: usize) -> Vec<u8> {
        self.bytes[8..12].copy_from_slice(&self.entries.to_be_bytes());
        match id_bytes {
            32 => self.bytes.extend_from_slice(&Sha256::digest(&self.bytes)),
            _ => self.bytes.extend_from_slice(&Sha1::digest(&self.bytes)),
        }
        self.bytes
    }
}

/// A submodule's commit.
const COMMIT: u32 = 0o160_000;

fn mode(kind: Kind) -> u32 {
    match kind {
        Kind::File => 0o100_644,
        Kind::Program => 0o100_755,
        Kind::Link => 0o120_000,
    }
}
