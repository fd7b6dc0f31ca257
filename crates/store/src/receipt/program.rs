//! Programs of this machine that gates are started with.

use super::Receipts;
use cook_core::diagnostic::Failure;
use cook_core::digest::hex;
use cook_core::model::{Program, Receipt};
use cook_os::disk::{self, Links};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// A program with the digest of its bytes; none where they cannot be read.
pub(super) fn identify(file: &Path) -> Option<Program> {
    let mut bytes = disk::open_regular(file, Links::Follow).ok()??;
    let mut digest = Sha256::new();
    let mut piece = vec![0; 1 << 16];
    loop {
        match bytes.read(&mut piece).ok()? {
            0 => break,
            read => digest.update(&piece[..read]),
        }
    }
    Some(Program {
        path: file.display().to_string(),
        sha256: hex(&digest.finalize()),
    })
}

/// What to say where a gate's program is neither the one of the first green run nor one that the
/// user took.
pub(super) fn compare(
    receipts: &Receipts,
    taken: &BTreeMap<String, String>,
    receipt: &Receipt,
) -> Result<Option<String>, Failure> {
    let (Some(name), Some(now)) = (receipt.argv.first(), &receipt.program) else {
        return Ok(None);
    };
    if taken.get(name) == Some(&now.sha256) {
        return Ok(None);
    }
    let known = receipts.known_program(name)?;
    Ok(known
        .filter(|known| known.sha256 != now.sha256)
        .map(|known| {
            format!(
                "`{name}` is another program ({}) than at its first green run ({}); `cook trust --program {name}` takes it",
                now.path, known.path
            )
        }))
}
