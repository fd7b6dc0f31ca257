//! Whether what is to be written has the space for it.

use crate::RoomError;
use crate::attributes::Form;
use crate::lfs::Pointer;
use crate::list::Leaf;
use crate::part::Part;
use cook_os::disk;
use git2::ObjectType;
use std::collections::BTreeMap;
use std::path::Path;

/// Bytes of a file that stands for a large one, at most.
const MAX_POINTER: u64 = 1 << 10;
/// Bytes that a file takes at least.
const BLOCK: u64 = 4096;

/// Refuses before anything is written where there is not enough space for these files and what is
/// written beside them.
pub(crate) fn require_space<'a>(
    dir: &Path,
    beside: u64,
    due: impl Iterator<Item = &'a (Vec<u8>, Leaf)>,
    parts: &[Part],
    forms: &BTreeMap<Vec<u8>, Form>,
) -> Result<(), RoomError> {
    let mut needed = beside;
    for (path, leaf) in due {
        let objects = &parts[leaf.source].objects;
        let large = match forms.get(path) {
            Some(Form::Lfs(_)) => {
                let small = objects.require_small(leaf.id, MAX_POINTER);
                let bytes = small.and_then(|()| objects.read(leaf.id, ObjectType::Blob));
                let bytes = bytes.unwrap_or_default();
                Pointer::parse(&bytes).map(|pointer| pointer.size)
            }
            _ => None,
        };
        // One that is not here is said when it is read.
        let size = large.or_else(|| objects.size(leaf.id).ok()).unwrap_or(0);
        needed += size.max(BLOCK);
    }
    let free = disk::free_space(dir).map_err(|cause| RoomError::io("look at", dir, cause))?;
    match free {
        Some(free) if free < needed => Err(RoomError::NoSpace {
            dir: dir.to_owned(),
            needed,
            free,
        }),
        _ => Ok(()),
    }
}
