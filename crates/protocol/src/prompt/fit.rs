//! Long lists in a prompt: what comes first and what comes last stands there, and where the rest is.

/// Bytes of a list.
const LIST: usize = 6_000;
/// Bytes of one item.
const ITEM: usize = 1_500;

/// The items that fit, each cut where it is too long; beyond the room the first and the last of
/// them, with a line between them that says how many there are and what shows them.
pub(super) fn fit(items: &[String], rest: &str) -> Vec<String> {
    let items: Vec<String> = items.iter().map(|item| cut(item, ITEM, rest)).collect();
    let size = |item: &String| item.len() + 4;
    if items.iter().map(size).sum::<usize>() <= LIST {
        return items;
    }
    // What is written down last is said by whoever sends the work back.
    let last = count_fitting(items.iter().rev(), LIST / 3);
    let first = count_fitting(items.iter(), LIST - LIST / 3).min(items.len() - last);
    let left = items.len() - first - last;
    let mut shown = items[..first].to_vec();
    if left > 0 {
        let (from, to, all) = (first + 1, first + left, items.len());
        shown.push(format!(
            "(numbers {from} to {to} of {all} are left out here; {rest})"
        ));
    }
    shown.extend_from_slice(&items[items.len() - last..]);
    shown
}

fn count_fitting<'i>(items: impl Iterator<Item = &'i String>, room: usize) -> usize {
    let mut used = 0;
    items
        .take_while(|item| {
            used += item.len() + 4;
            used <= room
        })
        .count()
}

/// The item, or its first bytes and what shows the rest.
pub fn cut(item: &str, bytes: usize, rest: &str) -> String {
    if item.len() <= bytes {
        return item.to_owned();
    }
    let is_boundary = |at: &usize| item.is_char_boundary(*at);
    let end = (0..=bytes).rev().find(is_boundary).unwrap_or(0);
    let left = item.len() - end;
    format!("{} … ({left} bytes cut; {rest})", &item[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_and_the_last_of_a_long_list_stand_with_what_shows_the_rest() {
        let items: Vec<String> = (0..250)
            .map(|n| format!("finding {n} {}", "x".repeat(60)))
            .collect();
        assert_eq!(fit(&items[..20], "x"), items[..20]);
        let shown = fit(&items, "`cook log ID`");
        assert!(shown.iter().map(String::len).sum::<usize>() <= LIST + 100);
        assert_eq!((&shown[0], shown.last()), (&items[0], items.last()));
        let left = items.len() - (shown.len() - 1);
        let first = shown
            .iter()
            .position(|item| item.starts_with('('))
            .unwrap_or(0);
        let numbers = format!("(numbers {} to {} of", first + 1, first + left);
        assert!(shown[first].starts_with(&numbers), "{shown:?}");
        assert!(
            shown
                .iter()
                .any(|item| item.ends_with(" of 250 are left out here; `cook log ID`)")),
            "{shown:?}"
        );
        let one = fit(&["é".repeat(5_000)], "`cook log ID`");
        assert!(
            one[0].len() < ITEM + 60 && one[0].ends_with("(8500 bytes cut; `cook log ID`)"),
            "{one:?}"
        );
    }
}
