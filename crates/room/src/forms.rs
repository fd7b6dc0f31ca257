//! How a file of a room is made of its object, as the manifest says it.

use crate::attributes::Form;
use crate::list::Kind;

/// Whether a file was made so.
pub(crate) fn is_form(had: &str, kind: Kind, form: Option<&Form>) -> bool {
    match form {
        None => had == kind_name(kind),
        Some(_) => had == form_name(kind, form),
    }
}

/// How a file is made.
pub(crate) fn form_name(kind: Kind, form: Option<&Form>) -> String {
    let mut name = kind_name(kind).to_owned();
    name.push_str(&form.map(Form::name).unwrap_or_default());
    name
}

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::File => "f",
        Kind::Program => "x",
        Kind::Link => "l",
    }
}
