//! Secrets in text that is kept: taken out by the shapes in which they usually
//! stand. Pure. What has no known shape stays; nobody may rely on more.

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
pub fn redacted(text: &str) -> String {
    tokens(&named(&without_keys(text)))
}

/// The text without what can be nothing but a secret: tokens and private keys. What stands behind a
/// name may be code or a value of JSON, and stays.
pub fn without_tokens(text: &str) -> String {
    tokens(&without_keys(text))
}

/// What can be nothing but a secret, as it stands in the text.
pub fn find_tokens(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for piece in split_keys(text) {
        match piece {
            Piece::Secret(key) => found.push(key),
            Piece::Plain(text) => found.extend(split_tokens(text).into_iter().filter_map(
                |piece| match piece {
                    Piece::Secret(token) => Some(token),
                    Piece::Plain(_) => None,
                },
            )),
        }
    }
    found
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
fn named(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut hides_next = false;
    while !rest.is_empty() {
        let blank = rest.len() - rest.trim_start().len();
        out.push_str(&rest[..blank]);
        rest = &rest[blank..];
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        if hides_next && !word.is_empty() {
            out.push_str(REDACTED);
            hides_next = false;
        } else {
            out.push_str(&shown(word, &mut hides_next));
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
fn shown(word: &str, hides_next: &mut bool) -> String {
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

/// An address without the password, the token that stands as a user's name, and the secrets of its query.
fn address(scheme: &str, rest: &str, is_name: impl Fn(&str) -> bool) -> String {
    let is_http = scheme.ends_with("http") || scheme.ends_with("https");
    let (login, rest) = match rest.split_once('@') {
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
    let mut rest = text;
    while !rest.is_empty() {
        let begin = rest.find(is_token).unwrap_or(rest.len());
        pieces.push(Piece::Plain(&rest[..begin]));
        rest = &rest[begin..];
        let end = rest.find(|c| !is_token(c)).unwrap_or(rest.len());
        let word = &rest[..end];
        rest = &rest[end..];
        pieces.push(match is_secret(word) {
            true => Piece::Secret(word),
            false => Piece::Plain(word),
        });
        if word.eq_ignore_ascii_case("bearer") && rest.starts_with(' ') {
            let end = rest[1..]
                .find(|c| !is_token(c))
                .map_or(rest.len(), |e| e + 1);
            if end > 16 {
                pieces.push(Piece::Plain(&rest[..1]));
                pieces.push(Piece::Secret(&rest[1..end]));
                rest = &rest[end..];
            }
        }
    }
    pieces
}

/// A token may stand behind `name=`.
fn is_secret(word: &str) -> bool {
    word.split(['=', '/']).any(|part| {
        TOKENS.iter().any(|(begin, least)| {
            part.strip_prefix(begin)
                .is_some_and(|rest| rest.len() >= *least)
        })
    })
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
            format!("https://example.org/x?a=b&private_token={long}#c"),
            format!(
                "-----BEGIN RSA PRIVATE KEY-----\n{long}\n-----END RSA PRIVATE KEY-----\nafter"
            ),
            format!("-----BEGIN PRIVATE KEY-----\n{long}"),
            format!("eyJ{long}.{long}.{long}"),
        ] {
            let text = redacted(&secret);
            assert!(
                !text.contains(&long) && text.contains(REDACTED),
                "{secret}: {text}"
            );
        }
        assert!(
            redacted("-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----\nafter")
                .ends_with("\nafter")
        );
        for plain in [
            "make the token count smaller\n\tand keep  blanks ",
            "see https://example.org:8080/a?b=c",
            "ssh://git@example.org/a and https://example.org/@scope/b",
            "-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----",
            "sk-learn and npm_config stay; eyJ too",
            "a=b c:d ü € \u{1f600}",
            "",
        ] {
            assert_eq!(redacted(plain), plain);
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_can_be_read_again(text: String) {
            let once = redacted(&text);
            proptest::prop_assert_eq!(redacted(&once), once);
        }
    }
}
