//! Whether what a red gate printed says that a file does not build.

use cook_mutants::Language;
use cook_protocol::diagnostic::without_escapes;

/// What compilers and interpreters print of a text that is none of their language.
fn marks(language: Language) -> &'static [&'static str] {
    use Language::*;
    match language {
        Rust => &["error[E", "error: could not compile"],
        Python => &["SyntaxError:", "IndentationError:", "TabError:"],
        JavaScript => &["SyntaxError:", "error TS", "Transform failed"],
        Go => &["syntax error:", "[build failed]", "[setup failed]"],
        Shell => &["syntax error", "Syntax error"],
        Java => &["COMPILATION ERROR", "error: "],
        Kotlin => &["e: ", "Compilation error"],
        Ruby => &["SyntaxError", "syntax error"],
        C | Swift => &["error: "],
        CSharp => &["error CS"],
        Php => &["Parse error:"],
        Elixir => &["SyntaxError", "TokenMissingError", "CompileError"],
        Other => &[],
    }
}

/// A red gate's output names the file and has a mark of its language that the green run's has not.
/// What a gate does not print cannot be told.
pub(super) fn does_not_build(path: &str, text: &str, green: &str, red: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let (green, red) = (without_escapes(green), without_escapes(red));
    let mut marks = marks(Language::of(path, text)).iter();
    red.contains(name) && marks.any(|mark| red.contains(mark) && !green.contains(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_build_is_told_by_the_words_of_its_compiler() {
        for (path, green, red, expected) in [
            (
                "cart.py",
                "ok",
                "  File \"/r/cart.py\", line 3\nSyntaxError: invalid syntax",
                true,
            ),
            (
                "cart.py",
                "ok",
                "  File \"/r/cart.py\", line 3\nAssertionError",
                false,
            ),
            (
                "cart.py",
                "ok",
                "  File \"/r/other.py\", line 3\nSyntaxError: invalid syntax",
                false,
            ),
            (
                "cart.py",
                "cart.py\nSyntaxError: as expected",
                "cart.py\nSyntaxError: as expected\nFAILED",
                false,
            ),
            (
                "src/lib.rs",
                "",
                " --> src/lib.rs:3:5\nerror: could not compile `calc` (lib)",
                true,
            ),
            (
                "src/lib.rs",
                "",
                "thread 'a' panicked at src/lib.rs:3:5",
                false,
            ),
            (
                "a.go",
                "",
                "./a.go:3:2: declared and not used: x\nFAIL calc [build failed]",
                true,
            ),
            (
                "bin/a.sh",
                "",
                "a.sh: 3: Syntax error: \"fi\" unexpected",
                true,
            ),
            ("a.zig", "", "a.zig: error", false),
        ] {
            assert_eq!(
                does_not_build(path, "", green, red),
                expected,
                "{path}: {red}"
            );
        }
    }
}
