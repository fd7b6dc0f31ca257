//! What git says, made harmless to show.

use cook_protocol::diagnostic::{Lines, clean, redact};

/// Lines, and characters of a line, that are shown.
const MOST: usize = 12;
const WIDTH: usize = 300;

/// git's own words, a line each: no control characters, no secrets, not more than one reads.
pub(crate) fn words(stderr: &str) -> Vec<String> {
    let lines = stderr.split(['\n', '\r']);
    let mut kept: Vec<String> = Vec::new();
    for line in lines {
        let line = redact(&clean(line, Lines::Fold));
        let line: String = line.chars().take(WIDTH).collect();
        let bare = line.strip_prefix("remote:").unwrap_or(&line).trim();
        // What is said of a setting of ours is nobody's concern.
        let is_ours = bare.starts_with("warning: not sending a push certificate");
        if bare.is_empty() || is_ours || kept.contains(&line) {
            continue;
        }
        if kept.len() == MOST {
            break;
        }
        kept.push(line);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_harmless_and_few() {
        let said = words(
            "warning: not sending a push certificate\rremote: \x1b[31mGH013\x1b[0m: refused\nfatal: https://u:hunter22@h/x\n\n",
        );
        assert_eq!(
            said,
            ["remote: GH013: refused", "fatal: https://u:[redacted]@h/x"]
        );
        assert_eq!(words(&"line\n".repeat(100)).len(), 1);
        let many: String = (0..100).map(|n| format!("line {n}\n")).collect();
        assert_eq!(words(&many).len(), MOST);
    }
}
