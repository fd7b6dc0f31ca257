//! Trailers of a commit message, as libgit2 finds them.

/// `(token, value)` of each trailer in the final trailer block, in order;
/// continuation lines are joined with one space.
fn trailers(message: &str) -> Vec<(String, String)> {
    // A commit's message has no patch below it, so a `---` line divides nothing.
    let lines = message.lines();
    let lines = lines.map(|line| {
        line.strip_prefix('-')
            .filter(|_| line.starts_with("---"))
            .unwrap_or(line)
    });
    let message = lines.collect::<Vec<_>>().join("\n");
    let Ok(found) = git2::message_trailers_strs(&message) else {
        return Vec::new();
    };
    let found = found.iter().map(|(token, value)| {
        let parts: Vec<&str> = value.lines().map(str::trim).collect();
        (token.trim().to_owned(), parts.join(" ").trim().to_owned())
    });
    found.collect()
}

/// The value of the last trailer of that name (in any case), if it has one.
pub fn last_trailer(message: &str, name: &str) -> Option<String> {
    let mut found = trailers(message).into_iter().rev();
    let (_, value) = found.find(|(token, _)| token.eq_ignore_ascii_case(name))?;
    Some(value).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_one_of_the_final_block_counts() {
        let message = "title\n\nCook-Slice: not-this\n\nbody\n\nCook-Slice: a\ncook-slice: b\n";
        assert_eq!(last_trailer(message, "Cook-Slice").as_deref(), Some("b"));
        assert_eq!(last_trailer("Cook-Slice: title", "Cook-Slice"), None);
        assert_eq!(
            last_trailer("t\n\nprose\nCook-Slice: a\n", "Cook-Slice"),
            None
        );
        assert_eq!(
            last_trailer(
                "t\n\nCook-Slice: a\nSigned-off-by: x\nsome prose\n",
                "Cook-Slice"
            )
            .as_deref(),
            Some("a")
        );
        assert_eq!(
            last_trailer("t\r\n\r\nCook-Slice: a\r\n", "Cook-Slice").as_deref(),
            Some("a")
        );
    }
}
