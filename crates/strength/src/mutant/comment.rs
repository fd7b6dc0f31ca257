//! A change that changes nothing: a gate that notices it looks at the text and not at what it does.

use crate::language::Language;

/// The text with a comment behind it; none where its language is not known, or what stands at its end
/// may be no code.
pub fn with_comment(path: &str, text: &str) -> Option<String> {
    use Language::*;
    let mark = match Language::of(path, text) {
        Python | Shell | Ruby | Elixir => "#",
        Rust | JavaScript | Go | Java | Kotlin | C | CSharp | Php | Swift => "//",
        Other => return None,
    };
    let is_markup = path.ends_with(".vue") || path.ends_with(".svelte");
    let ends_before = text.contains("?>") || text.lines().any(|line| line == "__END__");
    if is_markup || ends_before {
        return None;
    }
    let comment = format!("{mark} Nothing else is changed.\n");
    let mut commented = String::new();
    // Behind the first line too, where that is a line of its own.
    let rest = match text.split_once('\n') {
        Some((first, rest)) if ends_with_itself(first) => {
            commented = format!("{first}\n{comment}");
            rest
        }
        _ => text,
    };
    commented.push_str(rest);
    if !commented.is_empty() && !commented.ends_with('\n') {
        commented.push('\n');
    }
    Some(commented + &comment)
}

/// What begins in the line does not go on in the next.
fn ends_with_itself(line: &str) -> bool {
    let goes_on = ["\"\"\"", "'''", "/*", "`", "<<"];
    let last = line.trim_end();
    // A statement may go on wherever a bracket or an operator is open.
    let is_whole = last.is_empty()
        || ["#", "//", ";", ")", "}"]
            .iter()
            .any(|mark| line.starts_with(mark) || last.ends_with(mark));
    is_whole && !goes_on.iter().any(|mark| line.contains(mark))
}

#[cfg(test)]
mod tests {
    use super::with_comment;

    #[test]
    fn a_comment_is_one_of_the_language() {
        let with = with_comment;
        let said = "# Nothing else is changed.\n";
        assert_eq!(with("a.sh", "echo a").unwrap(), format!("echo a\n{said}"));
        assert_eq!(
            with("a.sh", "#!/bin/sh\necho a\n").unwrap(),
            format!("#!/bin/sh\n{said}echo a\n{said}")
        );
        assert_eq!(
            with("a.rs", "fn a() {}\n").unwrap(),
            "fn a() {}\n// Nothing else is changed.\n// Nothing else is changed.\n"
        );
        // A text of several lines, a list that goes on.
        for first in ["\"\"\"What it does.", "a = [", "x = 1 +"] {
            let text = format!("{first}\nb\n");
            assert_eq!(with("a.py", &text).unwrap(), format!("{text}{said}"));
        }
        assert_eq!(with("a.txt", "a\n"), None);
        assert_eq!(with("a.vue", "<a/>\n"), None);
        assert_eq!(with("a.php", "<?php ?>\n"), None);
        assert_eq!(with("a.rb", "a\n__END__\nb\n"), None);
    }
}
