//! Reading a document's bytes: capped, typed, never a panic, linear in its size.

use super::{Document, show, strict};
use crate::diagnostic::{Code, Finding};
use crate::model::{
    ActiveSlice, BriefDocument, BriefRecord, Plan, Profile, Receipt, SliceRecord, State,
    StopRecord, VerificationEvidence,
};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_path_to_error::Segment;

/// Bytes a document holds at most.
pub const MAX_DOCUMENT_BYTES: usize = 16 * 1024 * 1024;

/// Why a document is not read: at least one finding, the first is the gravest.
pub type Rejection = Vec<Finding>;

/// A type that has a schema.
pub trait Documented: DeserializeOwned {
    /// Which.
    const DOCUMENT: Document;
}

macro_rules! documented {
    ($($kind:ident),*) => { $(impl Documented for $kind { const DOCUMENT: Document = Document::$kind; })* };
}
documented!(
    Profile,
    State,
    Plan,
    ActiveSlice,
    SliceRecord,
    StopRecord,
    VerificationEvidence,
    Receipt,
    BriefDocument,
    BriefRecord
);

/// Reads a document of at most `cap` bytes.
///
/// # Errors
/// `document_too_large`, `document_unreadable` (the bytes are not valid JSON) or
/// `document_invalid` (JSON that breaks the schema or gives a key twice, with the first place).
pub fn read_document<T: Documented>(bytes: &[u8], cap: usize) -> Result<T, Rejection> {
    let document = T::DOCUMENT;
    if bytes.len() > cap {
        let what = format!("{} bytes; cook reads at most {cap}", bytes.len());
        return Err(vec![
            Finding::new(Code::DocumentTooLarge, what).at(document.file()),
        ]);
    }
    strict::from_slice(bytes).map_err(|_| explain::<T>(bytes))
}

/// Finds out what is wrong with bytes that the type did not accept, and where.
fn explain<T: Documented>(bytes: &[u8]) -> Rejection {
    let file = T::DOCUMENT.file();
    if let Some(what) = not_json(bytes) {
        return vec![Finding::new(Code::DocumentUnreadable, what).at(file)];
    }
    let Err(error) = strict::from_slice_with_path::<T>(bytes) else {
        return Vec::new();
    };
    let pointer: String = error.path().iter().map(show_step).collect();
    let place = match pointer.is_empty() {
        true => file.to_owned(),
        false => format!("{file}#{}", show(&pointer, 300)),
    };
    let what = show(&error.inner().to_string(), 500);
    vec![Finding::new(Code::DocumentInvalid, what).at(place)]
}

/// A step of a JSON pointer.
fn show_step(step: &Segment) -> String {
    match step {
        Segment::Unknown => String::new(),
        step => format!("/{}", step.to_string().trim_matches(['[', ']'])),
    }
}

/// Says why the bytes are not valid JSON text; the nesting depth does not matter here.
fn not_json(bytes: &[u8]) -> Option<String> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Some("the file is empty".to_owned());
    }
    if bytes.contains(&0) {
        return Some("the file holds NUL bytes".to_owned());
    }
    if let Err(error) = std::str::from_utf8(bytes) {
        return Some(format!("not UTF-8 at byte {}", error.valid_up_to()));
    }
    let error = serde_json::from_slice::<IgnoredAny>(bytes).err()?;
    Some(show(&error.to_string(), 200))
}
