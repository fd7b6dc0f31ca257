//! Writing ticks back into the source of a plan: for what holds now, and for nothing else that cook
//! found done once.

use super::check_list::items;
use super::source::Kind;
use crate::init::{read_text_file, write_text_file};
use cook_protocol::diagnostic::{Code, Failure, Refusal};
use cook_protocol::model::{PlanSource, Snapshot};
use std::collections::BTreeMap;
use std::path::Path;

/// What a task is worth now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Worth {
    /// It was accepted or shown to be there, and its proof stands.
    Holds,
    /// It was, and does not hold any more; why.
    Lost(String),
    /// It was, and whether its proof stands cannot be told here; why.
    Untold(String),
    /// Nothing ever showed it.
    Never,
}

/// What became of the ticks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ticked {
    /// The source.
    pub path: String,
    /// Items that are ticked now and were not.
    pub items: Vec<String>,
    /// Items that were ticked and are not any more; why.
    pub taken_back: Vec<(String, String)>,
    /// Items that are left as they are; why.
    pub left: Vec<(String, String)>,
    /// Items that stand there no longer, or more than once.
    pub untold: Vec<String>,
}

/// Ticks what holds in the file that the plan was taken from, and takes the tick of what was lost
/// back. No other byte changes.
///
/// # Errors
/// The plan was not taken from a Markdown list, or the file is gone.
pub fn tick(
    root: &Path,
    snapshot: &Snapshot,
    worths: &BTreeMap<String, Worth>,
) -> Result<Ticked, Failure> {
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
            format!("`{path}` is not a list with boxes, but {kind}'s"),
            "mark what is done with its own tool; `cook status` says what is",
        ));
    }
    let put_back = "put the file back where it was";
    let mut text =
        read_text_file(root, path)?.ok_or_else(|| refuse(format!("`{path}` is gone"), put_back))?;
    let mut ticked = Ticked {
        path: path.clone(),
        ..Ticked::default()
    };
    let mut marks = Vec::new();
    for slice in &snapshot.plan.candidate_slices {
        let known = snapshot.ledger.slices.get(&slice.slice_id);
        let Some(source) = known.and_then(|slice| slice.source.as_ref()) else {
            continue;
        };
        let worth = worths.get(&slice.slice_id).unwrap_or(&Worth::Never);
        let item = source.item.clone();
        let Some((mark, is_ticked)) = find_place(path, &text, &item)? else {
            if *worth != Worth::Never {
                ticked.untold.push(item);
            }
            continue;
        };
        match (worth, is_ticked) {
            (Worth::Holds, true) | (Worth::Never, false) => {}
            (Worth::Holds, false) => {
                marks.push((mark, "x"));
                ticked.items.push(item);
            }
            (Worth::Lost(why), true) => {
                marks.push((mark, " "));
                ticked.taken_back.push((item, why.clone()));
            }
            (Worth::Lost(why) | Worth::Untold(why), _) => ticked.left.push((item, why.clone())),
            (Worth::Never, true) => {
                let why = "cook never found it done: the tick is whose wrote it".to_owned();
                ticked.left.push((item, why));
            }
        }
    }
    // From the end, as a mark may be longer than another.
    marks.sort_by_key(|(mark, _)| std::cmp::Reverse(*mark));
    for (mark, with) in &marks {
        let length = text[*mark..].chars().next().map_or(0, char::len_utf8);
        text.replace_range(*mark..*mark + length, with);
    }
    if !marks.is_empty() {
        write_text_file(root, path, &text)?;
    }
    Ok(ticked)
}

/// Where the mark of an item of the outermost level stands, in bytes, and whether it is ticked. Of several
/// alike nobody can say which is meant: lines move.
fn find_place(path: &str, text: &str, item: &str) -> Result<Option<(usize, bool)>, Failure> {
    let items = items(path, text)?;
    let mut alike = items.iter().filter(|known| known.text == item);
    let (Some(only), None) = (alike.next(), alike.next()) else {
        return Ok(None);
    };
    Ok(Some((only.mark, only.ticked)))
}
