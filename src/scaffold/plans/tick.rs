//! Writing ticks back into the source of a plan, for slices that were accepted.

use super::check_list::{items, parse_box};
use super::source::Kind;
use crate::scaffold::{read_text_file, write_text_file};
use cook_core::diagnostic::{Code, Failure, Refusal};
use cook_core::model::{PlanSource, SliceStatus, Snapshot};
use std::path::Path;

/// What was ticked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticked {
    /// The source.
    pub path: String,
    /// Items that are ticked now and were not.
    pub items: Vec<String>,
    /// Items of accepted slices that stand there no longer, or more than once.
    pub untold: Vec<String>,
}

/// Ticks what is done in the file that the plan was taken from. Nothing is unticked, and no other byte
/// changes.
///
/// # Errors
/// The plan was not taken from a Markdown list, or the file is gone.
pub fn tick(root: &Path, snapshot: &Snapshot) -> Result<Ticked, Failure> {
    let refuse = |what: String, hint: &str| {
        Failure::from(Refusal::new(Code::PlanUnknown, what).replace_hints([hint]))
    };
    let Some(PlanSource { kind, path }) = &snapshot.ledger.plan_source else {
        return Err(refuse(
            "the plan was not taken from a file".to_owned(),
            "`cook init --from PATH` takes one where a workflow begins",
        ));
    };
    if !Kind::of_id(kind).is_some_and(Kind::is_list) {
        return Err(refuse(
            format!("`{path}` is no list with boxes, but {kind}'s"),
            "mark what is done with its own tool; `cook status` says what is",
        ));
    }
    let put_back = "put the file back where it was";
    let text =
        read_text_file(root, path)?.ok_or_else(|| refuse(format!("`{path}` is gone"), put_back))?;
    let mut ticked = Ticked {
        path: path.clone(),
        items: Vec::new(),
        untold: Vec::new(),
    };
    let mut marks = Vec::new();
    for slice in &snapshot.plan.candidate_slices {
        let known = snapshot.ledger.slices.get(&slice.slice_id);
        let Some(source) = known.and_then(|slice| slice.source.as_ref()) else {
            continue;
        };
        if slice.status != SliceStatus::Done {
            continue;
        }
        match place_of(path, &text, &source.item)? {
            Some((_, true)) => {}
            Some((offset, false)) => {
                marks.push(offset);
                ticked.items.push(source.item.clone());
            }
            None => ticked.untold.push(source.item.clone()),
        }
    }
    let mut bytes = text.into_bytes();
    for offset in &marks {
        if let Some(mark) = bytes.get_mut(*offset) {
            *mark = b'x';
        }
    }
    if !marks.is_empty() {
        let text = String::from_utf8(bytes)
            .map_err(|_| refuse(format!("`{path}` is not text"), put_back))?;
        write_text_file(root, path, &text)?;
    }
    Ok(ticked)
}

/// Where the mark of an item of the outermost level stands, in bytes, and whether it is ticked. Of several
/// alike nobody can say which is meant: lines move.
fn place_of(path: &str, text: &str, item: &str) -> Result<Option<(usize, bool)>, Failure> {
    let items = items(path, text)?;
    let mut alike = items.iter().filter(|known| known.text == item);
    let (Some(only), None) = (alike.next(), alike.next()) else {
        return Ok(None);
    };
    let Some(line) = text.lines().nth(only.at.line - 1) else {
        return Ok(None);
    };
    let known = parse_box(path, only.at, line)?;
    // Both are slices of one text.
    let start = line.as_ptr() as usize - text.as_ptr() as usize;
    Ok(known.map(|known| (start + known.mark, known.ticked)))
}
