//! Tables that stay within a length, and say what they leave out.

use maud::{Markup, PreEscaped, html};

/// Bytes around the cells of a row.
const AROUND: usize = "<tr></tr>\n".len();

/// A table of so many bytes at most.
pub(super) struct Table {
    pub caption: &'static str,
    pub heads: &'static [&'static str],
    /// Bytes of its rows.
    pub room: usize,
    /// What shows the rest.
    pub rest: &'static str,
}

impl Table {
    /// The table; each row is the cells of it.
    pub fn of<T>(&self, items: &[T], row: impl Fn(&T) -> Markup) -> Markup {
        let mut rows = String::new();
        let mut told = 0;
        for item in items {
            let PreEscaped(cells) = row(item);
            if rows.len() + cells.len() + AROUND > self.room {
                break;
            }
            rows.push_str("<tr>");
            rows.push_str(&cells);
            rows.push_str("</tr>\n");
            told += 1;
        }
        let left = items.len() - told;
        html! {
            div.scroll tabindex="0" role="region" aria-label=(self.caption) {
                table {
                    caption { (self.caption) }
                    thead { tr { @for head in self.heads { th scope="col" { (head) } } } }
                    tbody { (PreEscaped(rows)) }
                }
            }
            @if left > 0 {
                p.more { (left) " of " (items.len()) " rows are not shown here: " (self.rest) }
            }
        }
    }
}
