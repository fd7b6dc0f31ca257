//! A transition as one line, for a pipe.

use super::show_words;

/// `#12 2026-01-01T00:00:00Z reviewed by role about a`
pub(crate) fn make_line(seq: u64, time: &str, event: &str, actor: &str, subject: &str) -> String {
    let about = match subject.is_empty() {
        true => String::new(),
        false => format!(" about {subject}"),
    };
    show_words(&format!(
        "#{seq} {time} {} by {actor}{about}",
        event.replace('_', " ")
    ))
}
