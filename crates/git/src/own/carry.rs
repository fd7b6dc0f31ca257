//! What a slice wrote before it was taken up again stays its own.

use super::file::overlap;
use super::follow::Following;
use super::trace::MAX_HUNKS;
use crate::Repo;
use crate::lines::digest_lines;
use cook_core::diagnostic::Failure;
use cook_core::model::{Own, OwnFile, OwnHunk};
use std::collections::BTreeMap;
use std::ops::Range;

impl Repo {
    /// The work since the basis, and with it what an earlier acceptance of the slice recorded and
    /// still stands at its head, by whichever commit it came there.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn carry(&self, mut own: Own, earlier: &Own) -> Result<Own, Failure> {
        let head = own.head.clone();
        let following = Following::new(self, earlier, &head)?;
        for file in &earlier.files {
            let pieces = following.pieces(file)?.into_iter();
            // What was torn into more is not followed any further.
            let kept = pieces.filter(|piece| piece.outcome.survives());
            let kept = kept.take(MAX_HUNKS).map(|piece| {
                let now = piece.now.unwrap_or_else(|| (file.path.clone(), 0..0));
                (piece.hunk.and_then(|number| file.hunks.get(number)), now)
            });
            let kept: Vec<_> = kept.collect();
            let mut texts = BTreeMap::new();
            for (_, (path, _)) in &kept {
                if !texts.contains_key(path) {
                    let text = self.read_text_at(&head, path)?.unwrap_or_default();
                    texts.insert(path.clone(), text);
                }
            }
            let lines_of = texts.iter().map(|(path, text)| (path, text.lines()));
            let lines_of: BTreeMap<_, _> = lines_of.collect();
            for (hunk, (path, lines)) in kept {
                match hunk {
                    Some(hunk) => {
                        let text = lines_of.get(&path).and_then(|all| all.get(lines.clone()));
                        let sha256 = digest_lines(text.unwrap_or_default());
                        self.carry_hunk(&mut own, file, hunk, (path, lines), sha256)?;
                    }
                    None if own.files.iter().any(|known| known.path == path) => {}
                    None => own.files.push(self.carry_file(&own, file, path)?),
                }
            }
        }
        own.files.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(own)
    }

    fn carry_hunk(
        &self,
        own: &mut Own,
        file: &OwnFile,
        hunk: &OwnHunk,
        (path, lines): (String, Range<usize>),
        sha256: String,
    ) -> Result<(), Failure> {
        let is_there = |known: &OwnHunk| match lines.is_empty() {
            true => known.lines.0 == 0 && known.was_first == hunk.was_first,
            false => overlap(&known.span(), &lines),
        };
        let index = own.files.iter().position(|known| known.path == path);
        if let Some(index) = index {
            let known = &own.files[index];
            // As a whole it is listed already; what was taken from another text is told by that one.
            let of_another = lines.is_empty() && known.was != file.was;
            if known.hunks.is_empty() || of_another || known.hunks.iter().any(is_there) {
                return Ok(());
            }
        }
        let mut carried = OwnHunk::new(&lines, sha256, &hunk.was(), hunk.was_sha256.clone());
        match index {
            Some(index) => {
                let known = &mut own.files[index];
                if known.was != file.was {
                    let nothing = digest_lines::<&[u8]>(&[]);
                    carried = OwnHunk::new(&lines, carried.sha256, &(0..0), nothing);
                }
                known.hunks.push(carried);
                known.hunks.sort_by_key(|hunk| hunk.first.0);
            }
            None => {
                let mut new = self.carry_file(own, file, path)?;
                if new.was != file.was {
                    let nothing = digest_lines::<&[u8]>(&[]);
                    carried = OwnHunk::new(&lines, carried.sha256, &(0..0), nothing);
                }
                new.hunks.push(carried);
                own.files.push(new);
            }
        }
        Ok(())
    }

    /// The file as it is at the head, without its hunks. Where the one that the work was in is there
    /// too, some of its text was moved, and not the file.
    fn carry_file(&self, own: &Own, file: &OwnFile, path: String) -> Result<OwnFile, Failure> {
        if path != file.path && self.tree_entry(&own.head, &file.path)?.is_some() {
            let was = match self.resolve(&own.basis)? {
                Some(basis) => self.tree_entry(&basis, &path)?,
                None => None,
            };
            return Ok(OwnFile {
                entry: self.tree_entry(&own.head, &path)?,
                was,
                path,
                ..OwnFile::default()
            });
        }
        Ok(OwnFile {
            entry: self.tree_entry(&own.head, &path)?,
            from: match path == file.path {
                true => file.from.clone(),
                false => file.from.clone().or_else(|| Some(file.path.clone())),
            },
            was: file.was.clone(),
            path,
            hunks: Vec::new(),
        })
    }
}
