//! How far a literal, a comment or a word reaches that begins a text.

pub(super) fn is_shell_meta(c: char) -> bool {
    c.is_whitespace() || ";|&()<>\"'`".contains(c)
}

/// A word of a shell, with `${…}` and `$(…)` in it.
pub(super) fn shell_word(rest: &str) -> usize {
    let mut depth = 0usize;
    let mut escaped = false;
    let mut before = ' ';
    for (at, c) in rest.char_indices() {
        let opens = (c == '{' && before == '$') || (depth > 0 && matches!(c, '{' | '('));
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if opens || (c == '(' && before == '$') {
            depth += 1;
        } else if depth > 0 && matches!(c, '}' | ')') {
            depth -= 1;
        } else if depth == 0 && is_shell_meta(c) || c == '\n' {
            return at.max(1);
        }
        before = c;
    }
    rest.len()
}

/// The length of a block comment.
pub(super) fn block_comment(rest: &str, nests: bool) -> usize {
    let mut depth = 0usize;
    let mut at = 0;
    while at < rest.len() {
        let here = &rest.as_bytes()[at..];
        if here.starts_with(b"/*") && (nests || depth == 0) {
            depth += 1;
            at += 2;
        } else if here.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

/// A literal with `\` as escape, over lines.
pub(super) fn measure_quoted(rest: &str, quote: char) -> usize {
    with_escapes(rest, quote, |_| false)
}

/// The same, which ends with its line at the latest.
pub(super) fn one_line(rest: &str, quote: char) -> usize {
    with_escapes(rest, quote, |c| c == '\n')
}

fn with_escapes(rest: &str, quote: char, breaks_off: impl Fn(char) -> bool) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == quote {
            return at + c.len_utf8();
        } else if breaks_off(c) {
            return at;
        }
    }
    rest.len()
}

/// A literal without escapes.
pub(super) fn plain(rest: &str, quote: char) -> usize {
    rest[1..].find(quote).map_or(rest.len(), |at| at + 2)
}

/// `"…"` of a shell, with commands in it that hold quotes of their own.
pub(super) fn shell_text(rest: &str) -> usize {
    let mut depth = 0usize;
    let mut escaped = false;
    let mut before = ' ';
    for (at, c) in rest.char_indices().skip(1) {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if before == '$' && matches!(c, '(' | '{') || depth > 0 && c == '(' {
            depth += 1;
        } else if depth > 0 && matches!(c, ')' | '}') {
            depth -= 1;
        } else if depth == 0 && c == '"' {
            return at + 1;
        }
        before = c;
    }
    rest.len()
}

/// A template of JavaScript, with templates in its holes.
pub(super) fn template(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let mut open: Vec<u8> = vec![b'`'];
    let mut at = 1;
    while at < bytes.len() {
        match (open.last(), bytes[at]) {
            (_, b'\\') => at += 1,
            (Some(b'`'), b'`') | (Some(b'{'), b'}') => {
                open.pop();
                if open.is_empty() {
                    return at + 1;
                }
            }
            (Some(b'`'), b'$') if bytes.get(at + 1) == Some(&b'{') => {
                open.push(b'{');
                at += 1;
            }
            (Some(b'{'), b'{') => open.push(b'{'),
            (Some(b'{'), b'`') => open.push(b'`'),
            _ => {}
        }
        at += 1;
    }
    rest.len()
}

/// A regular expression with its flags; none = it does not end in its line.
pub(super) fn regex(rest: &str) -> Option<usize> {
    let (mut escaped, mut class) = (false, false);
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            '\n' => return None,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => class = true,
            ']' => class = false,
            '/' if !class && at > 1 => {
                let flags = &rest[at + 1..];
                let is_flag = |c: char| c.is_ascii_lowercase();
                return Some(at + 1 + flags.find(|c| !is_flag(c)).unwrap_or(flags.len()));
            }
            _ => {}
        }
    }
    None
}

/// `%w[a b]`, `%q(…)` of Ruby.
pub(super) fn percent(rest: &str) -> Option<usize> {
    let mut chars = rest.chars().skip(1);
    chars.next().filter(|c| "wWqQiIr".contains(*c))?;
    let close = match chars.next()? {
        '(' => ')',
        '[' => ']',
        '{' => '}',
        '<' => '>',
        '|' => '|',
        _ => return None,
    };
    rest[3..].find(close).map(|at| at + 4)
}

pub(super) fn rust_literal(rest: &str, c: char) -> Option<usize> {
    let prefix = ["br", "cr", "r", "b", "c", ""].into_iter().find(|prefix| {
        let behind = rest.strip_prefix(prefix).unwrap_or_default();
        behind.starts_with('"')
            || prefix.ends_with('r')
                && behind.trim_start_matches('#').starts_with('"')
                && behind.starts_with('#')
    });
    if let Some(prefix) = prefix
        && (c == '"' || !prefix.is_empty())
    {
        let behind = &rest[prefix.len()..];
        if !prefix.ends_with('r') {
            return Some(prefix.len() + measure_quoted(behind, '"'));
        }
        let hashes = behind.len() - behind.trim_start_matches('#').len();
        let end = format!("\"{}", "#".repeat(hashes));
        let inside = &behind[hashes + 1..];
        let len = inside.find(&end).map_or(inside.len(), |at| at + end.len());
        return Some(prefix.len() + hashes + 1 + len);
    }
    let quote = if rest.starts_with("b'") { 1 } else { 0 };
    if !rest[quote..].starts_with('\'') {
        return None;
    }
    let mut chars = rest[quote..].char_indices().skip(1);
    let (_, first) = chars.next()?;
    if first == '\\' {
        return Some(quote + one_line(&rest[quote..], '\''));
    }
    match chars.next() {
        Some((at, '\'')) => Some(quote + at + 1),
        // A lifetime.
        _ => None,
    }
}

pub(super) fn python_literal(rest: &str) -> Option<usize> {
    let is_part = |c: &char| "rbfuRBFU".contains(*c);
    let prefix = rest.chars().take(2).take_while(is_part).count();
    if !rest[prefix..].starts_with(['"', '\'']) {
        return None;
    }
    let behind = &rest[prefix..];
    for triple in ["\"\"\"", "'''"] {
        if let Some(inside) = behind.strip_prefix(triple) {
            let mut from = 0;
            while let Some(at) = inside[from..].find(triple) {
                let escaped = inside[..from + at].ends_with('\\');
                if !escaped {
                    return Some(prefix + 3 + from + at + 3);
                }
                from += at + 1;
            }
            return Some(rest.len());
        }
    }
    let quote = behind.chars().next()?;
    Some(prefix + one_line(behind, quote))
}

pub(super) fn number(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let is_hex = rest.starts_with("0x") || rest.starts_with("0X");
    let mut at = 1;
    while at < bytes.len() {
        let c = bytes[at];
        let exponent = !is_hex
            && matches!(c, b'+' | b'-')
            && matches!(bytes[at - 1], b'e' | b'E')
            && bytes.get(at + 1).is_some_and(u8::is_ascii_digit);
        let point = c == b'.' && bytes.get(at + 1).is_some_and(u8::is_ascii_digit);
        if !(c.is_ascii_alphanumeric() || c == b'_' || exponent || point) {
            break;
        }
        at += 1;
    }
    at
}
