//! Secrets in text that is kept: taken out by the shapes in which they usually
//! stand. Pure. What has no known shape stays; nobody may rely on more.

use super::texts::texts;

/// What stands in a secret's place.
pub const REDACTED: &str = "[redacted]";

/// Beginnings of tokens, and how many characters follow at least.
const TOKENS: [(&str, usize); 19] = [
    ("sk-", 16),
    ("rk_live_", 16),
    ("sk_live_", 16),
    ("ghp_", 20),
    ("gho_", 20),
    ("ghu_", 20),
    ("ghs_", 20),
    ("ghr_", 20),
    ("github_pat_", 20),
    ("glpat-", 16),
    ("xoxb-", 10),
    ("xoxp-", 10),
    ("xoxa-", 10),
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 30),
    ("npm_", 20),
    ("hf_", 20),
    ("eyJ", 40),
];

/// Names whose value is a secret, as the end of a word before `=` or `:`.
const NAMES: [&str; 9] = [
    "password",
    "passwd",
    "secret",
    "token",
    "api_key",
    "apikey",
    "api-key",
    "access_key",
    "private_key",
];

/// The text without secrets of the usual shapes.
pub fn redact(text: &str) -> String {
    tokens(&redact_named(&without_keys(text)))
}

/// The text without what can be nothing but a secret: tokens and private keys. What stands behind a
/// name may be code or a value of JSON, and stays.
pub fn without_tokens(text: &str) -> String {
    tokens(&without_keys(text))
}

/// What can be nothing but a secret, in a text or in the texts of its JSON.
pub fn find_tokens(text: &str) -> Vec<String> {
    texts(text)
        .iter()
        .flat_map(|text| list_tokens(text))
        .collect()
}

fn list_tokens(text: &str) -> Vec<String> {
    let keys = split_keys(text).into_iter();
    keys.flat_map(|piece| match piece {
        Piece::Secret(key) => vec![Piece::Secret(key)],
        Piece::Plain(text) => split_tokens(text),
    })
    .filter_map(|piece| match piece {
        Piece::Secret(secret) => Some(secret.to_owned()),
        Piece::Plain(_) => None,
    })
    .collect()
}

/// A part of a text.
enum Piece<'t> {
    Plain(&'t str),
    Secret(&'t str),
}

fn without_secrets(pieces: Vec<Piece<'_>>) -> String {
    let shown = |piece: &Piece<'_>| match piece {
        Piece::Plain(text) => (*text).to_owned(),
        Piece::Secret(_) => REDACTED.to_owned(),
    };
    pieces.iter().map(shown).collect()
}

fn without_keys(text: &str) -> String {
    without_secrets(split_keys(text))
}

fn tokens(text: &str) -> String {
    without_secrets(split_tokens(text))
}

/// Values behind names that say what they are, and passwords in addresses.
fn redact_named(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut hides_next = false;
    while !rest.is_empty() {
        let blank = rest.len() - rest.trim_start().len();
        out.push_str(&rest[..blank]);
        rest = &rest[blank..];
        let (word, after) = rest.split_at(find_end_of_word(rest));
        if hides_next && !word.is_empty() {
            out.push_str(REDACTED);
            hides_next = false;
        } else {
            out.push_str(&show_word(word, &mut hides_next));
        }
        rest = after;
    }
    out
}

/// Private keys in armour, as far as they go.
fn split_keys(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("-----BEGIN ") {
        let block = &rest[at..];
        let is_private = block
            .lines()
            .next()
            .is_some_and(|line| line.contains("PRIVATE KEY"));
        if !is_private {
            pieces.push(Piece::Plain(&rest[..at + 11]));
            rest = &rest[at + 11..];
            continue;
        }
        pieces.push(Piece::Plain(&rest[..at]));
        let end = block.find("-----END ").and_then(|end| {
            let close = block[end + 9..].find("-----")?;
            Some(end + 9 + close + 5)
        });
        let (key, after) = block.split_at(end.unwrap_or(block.len()));
        pieces.push(Piece::Secret(key));
        rest = after;
    }
    pieces.push(Piece::Plain(rest));
    pieces
}

/// One word; sets `hides_next` when the secret is the word after it.
fn show_word(word: &str, hides_next: &mut bool) -> String {
    let bare = word.trim_end_matches([':', '=']);
    let is_name = |name: &str| {
        let name = name
            .trim_matches(|c: char| !c.is_alphanumeric())
            .to_ascii_lowercase();
        NAMES.iter().any(|known| name.ends_with(known))
    };
    if bare.len() < word.len() && is_name(bare) {
        *hides_next = true;
        return word.to_owned();
    }
    if let Some((name, value)) = word.split_once(['=', ':'])
        && is_name(name)
        && !value.is_empty()
        && !value.starts_with("//")
    {
        return format!("{}{REDACTED}", &word[..=name.len()]);
    }
    if let Some((scheme, rest)) = word.split_once("://") {
        return format!("{scheme}://{}", address(scheme, rest, is_name));
    }
    word.to_owned()
}

/// Where the word ends that a text begins with: an address with a password that has blanks ends
/// behind its host.
fn find_end_of_word(text: &str) -> usize {
    let end = |text: &str| text.find(char::is_whitespace).unwrap_or(text.len());
    let word = end(text);
    let Some((_, login)) = text[..word].split_once("://") else {
        return word;
    };
    if login.contains('@') || !has_password(login) {
        return word;
    }
    let line = text.find(['\n', '\r']).unwrap_or(text.len());
    match text[word..line].find('@') {
        Some(at) => word + at + end(&text[word + at..]),
        None => word,
    }
}

/// Name and password of an address, and what follows: a password may hold every sign.
fn split_login(rest: &str) -> Option<(&str, &str)> {
    let authority = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let at = match has_password(&rest[..authority]) {
        true => rest.rfind('@'),
        false => rest[..authority].rfind('@'),
    }?;
    Some((&rest[..at], &rest[at + 1..]))
}

/// What follows the first colon of an address is more than a port.
fn has_password(authority: &str) -> bool {
    authority.split_once(':').is_some_and(|(user, after)| {
        !user.contains(['@', '/', '?', '#', '['])
            && !after.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// An address without the password, the token that stands as a user's name, and the secrets of its query.
fn address(scheme: &str, rest: &str, is_name: impl Fn(&str) -> bool) -> String {
    let is_http = scheme.ends_with("http") || scheme.ends_with("https");
    let (login, rest) = match split_login(rest) {
        Some((login, rest)) if login.contains(':') => {
            let user = login.split(':').next().unwrap_or_default();
            (format!("{user}:{REDACTED}@"), rest)
        }
        // Over HTTP a name without a password is a token.
        Some((login, rest)) if is_http && !login.contains(['/', '?', '#']) => {
            (format!("{REDACTED}@"), rest)
        }
        _ => (String::new(), rest),
    };
    let Some((path, query)) = rest.split_once('?') else {
        return login + rest;
    };
    let pairs = query.split('&').map(|pair| match pair.split_once('=') {
        Some((name, value)) if is_name(name) && !value.is_empty() => format!("{name}={REDACTED}"),
        _ => pair.to_owned(),
    });
    let query: Vec<String> = pairs.collect();
    format!("{login}{path}?{}", query.join("&"))
}

fn is_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '+' | '=' | '~')
}

fn split_tokens(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut plain = 0;
    let mut at = 0;
    while at < text.len() {
        match find_secret(text, at) {
            Some((begin, end)) => {
                pieces.push(Piece::Plain(&text[plain..begin]));
                pieces.push(Piece::Secret(&text[begin..end]));
                plain = end;
                at = end;
            }
            None => at += 1,
        }
    }
    pieces.push(Piece::Plain(&text[plain..]));
    pieces
}

/// Where the secret stands that a token's beginning, or the word before one, names at this byte.
fn find_secret(text: &str, at: usize) -> Option<(usize, usize)> {
    let rest = text.as_bytes().get(at..)?;
    if !matches!(
        rest.first()?,
        b's' | b'r' | b'g' | b'x' | b'A' | b'n' | b'h' | b'e' | b'b' | b'B'
    ) {
        return None;
    }
    let end_of = |from: usize| {
        let tail = &text[from..];
        from + tail.find(|c| !is_token(c)).unwrap_or(tail.len())
    };
    const BEARER: &[u8] = b"bearer ";
    let is_bearer = rest
        .get(..BEARER.len())
        .is_some_and(|word| word.eq_ignore_ascii_case(BEARER));
    if is_bearer {
        let begin = at + BEARER.len();
        let end = end_of(begin);
        return (end - begin >= 16 && begins_word(text, at)).then_some((begin, end));
    }
    let (begin, least) = TOKENS
        .iter()
        .find(|(begin, _)| rest.starts_with(begin.as_bytes()))?;
    let end = end_of(at);
    let own = &text[at + begin.len()..end];
    let is_own = |c: char| match *begin {
        // Names in code begin so too.
        "hf_" | "npm_" => c.is_ascii_alphanumeric(),
        _ => !matches!(c, '=' | '/'),
    };
    let own = own.find(|c| !is_own(c)).unwrap_or(own.len());
    (own >= *least && begins_word(text, at)).then_some((at, end))
}

/// Whether no word goes on at this byte. Signs may stand before a token, as in a line of a diff, but
/// not inside of a name; a letter that belongs to an escape or to a terminal's command is none of a word.
fn begins_word(text: &str, at: usize) -> bool {
    let before = &text[..at];
    let word = before.trim_end_matches(['_', '-', '.', '+', '~']);
    let ends_word = |c: char| c.is_ascii_alphanumeric();
    !word.ends_with(ends_word) || ends_escape(word.as_bytes())
}

/// Whether a text ends with `\n` and its like, `\u000a`, `\x1b`, `%0A`, or `[1m`.
fn ends_escape(text: &[u8]) -> bool {
    let is_hex = |digits: &[u8]| digits.iter().all(u8::is_ascii_hexdigit);
    match text {
        [.., b'\\', b'b' | b'f' | b'n' | b'r' | b't'] => true,
        [.., b'\\', b'u', a, b, c, d] => is_hex(&[*a, *b, *c, *d]),
        [.., b'\\', b'x', a, b] | [.., b'%', a, b] if is_hex(&[*a, *b]) => true,
        [front @ .., last] if last.is_ascii_alphabetic() => {
            let digits = |byte: &&u8| byte.is_ascii_digit() || **byte == b';';
            let width = front.iter().rev().take_while(digits).count();
            let front = &front[..front.len() - width];
            let escapes: [&[u8]; 4] = [b"\x1b[", b"1b[", b"1B[", b"33["];
            (width > 0 && front.ends_with(b"[")) || escapes.iter().any(|end| front.ends_with(end))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_the_usual_shapes_go_and_words_stay() {
        let long = "a1".repeat(20);
        for secret in [
            format!("use sk-{long}, please"),
            format!("(ghp_{long})"),
            format!("\"github_pat_{long}\""),
            format!("Authorization: Bearer {long}"),
            format!("PASSWORD={long}"),
            format!("db_password: {long}"),
            format!("my token:{long} is"),
            format!("https://me:{long}@example.org/x"),
            format!("https://{long}@example.org/x"),
            format!("https://me:p@{long}@example.org/x"),
            format!("'https://me:p {long}@example.org/x': no"),
            format!("https://me:p/{long}@example.org/x"),
            format!("https://me:p@ss#{long}@example.org/x"),
            format!("https://example.org/x?a=b&private_token={long}#c"),
            format!(
                "-----BEGIN RSA PRIVATE KEY-----\n{long}\n-----END RSA PRIVATE KEY-----\nafter"
            ),
            format!("-----BEGIN PRIVATE KEY-----\n{long}"),
            format!("eyJ{long}.{long}.{long}"),
        ] {
            let text = redact(&secret);
            assert!(
                !text.contains(&long) && text.contains(REDACTED),
                "{secret}: {text}"
            );
        }
        assert!(
            redact("-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----\nafter")
                .ends_with("\nafter")
        );
        for plain in [
            "make the token count smaller\n\tand keep  blanks ",
            "see https://example.org:8080/a?b=c",
            "https://example.org:8080/@scope/b and http://[::1]:80/a mail me@example.org",
            "ssh://git@example.org/a and https://example.org/@scope/b",
            "-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----",
            "sk-learn and npm_config stay; eyJ too",
            "a=b c:d ü € \u{1f600}",
            "",
        ] {
            assert_eq!(redact(plain), plain);
        }
    }

    #[test]
    fn a_token_is_found_wherever_it_begins() {
        let token = format!("ghp_{}", "a1".repeat(18));
        for before in [
            "",
            " ",
            "\n",
            "+",
            "-",
            "--",
            "> ",
            "_",
            "**",
            "\t",
            "\u{1b}[1m",
            "\u{1b}[38;5;9m",
            "x=",
            "/",
            "ü",
            "\\n",
            "\\\\n",
            "\\t",
            "\\u001b[1m",
            "\\u000a",
            "\\x1b[0m",
            "\\033[0m",
            "%3D",
            "x:+",
        ] {
            let text = format!("a line {before}{token}\n");
            assert_eq!(find_tokens(&text), [token.as_str()], "{text:?}");
            let json = serde_json::json!({ "a": [text.clone()] }).to_string();
            assert_eq!(find_tokens(&json), [token.as_str()], "{json}");
            let twice = serde_json::json!({ "b": json }).to_string();
            assert_eq!(find_tokens(&twice), [token.as_str()], "{twice}");
            let lines = format!("{twice}\nplain\n{{}}\n");
            assert_eq!(find_tokens(&lines), [token.as_str()], "{lines}");
            for raw in [
                &text,
                &json,
                &twice,
                &lines,
                &json[..json.len() - 1].to_owned(),
            ] {
                assert!(!redact(raw).contains(&token), "{raw:?}");
                assert!(!without_tokens(raw).contains(&token), "{raw:?}");
            }
        }
        let twice = format!(r#"{{"a":"\n{token}","a":"b"}}"#);
        assert_eq!(find_tokens(&twice), [token.as_str()]);
        let bearer = serde_json::json!(["x\nBearer abcdef0123456789XYZ"]).to_string();
        assert_eq!(find_tokens(&bearer), ["abcdef0123456789XYZ"]);
        let key = "-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----";
        let kept = serde_json::json!({ "k": key }).to_string();
        assert_eq!(find_tokens(&kept), [key]);
    }

    #[test]
    fn words_that_hold_the_beginning_of_a_token_are_none() {
        for plain in [
            "the task-runner-of-the-whole-machine and risk-averse-but-not-too-much",
            "desk-and-chair-and-table-and-more, model_hf_transformer_model_loader",
            "run_npm_install_everything_again, x.hf_hub_download_with_retries [ask-for-the-whole-thing], high_ghp_abcdefghijklmnopqrstuvwx",
            "4f3a9eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9abcdefghijk",
        ] {
            assert_eq!(find_tokens(plain), [""; 0], "{plain}");
            assert_eq!(redact(plain), plain);
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_can_be_read_again(text: String) {
            let once = redact(&text);
            proptest::prop_assert_eq!(redact(&once), once);
        }
    }
}
