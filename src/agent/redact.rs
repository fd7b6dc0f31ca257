//! Takes secrets out of what is kept: tokens by the beginnings their makers give them,
//! bearer headers, private keys, and the values of this process's own variables whose
//! names say that they are secret.

/// What stands in a secret's place.
const INSTEAD: &str = "[redacted]";

/// Beginnings of tokens, with the least length of what follows.
const BEGINNINGS: [(&str, usize); 17] = [
    ("sk-", 16),
    ("sk_live_", 16),
    ("sk_test_", 16),
    ("rk_live_", 16),
    ("ghp_", 20),
    ("gho_", 20),
    ("ghu_", 20),
    ("ghs_", 20),
    ("github_pat_", 20),
    ("glpat-", 16),
    ("xoxb-", 10),
    ("xoxp-", 10),
    ("AKIA", 16),
    ("AIza", 30),
    ("npm_", 30),
    ("hf_", 30),
    ("eyJ", 40),
];

/// Endings of the names of variables that hold a secret.
const SECRET_NAMES: [&str; 6] = [
    "_KEY",
    "_TOKEN",
    "_SECRET",
    "_PASSWORD",
    "_PASSWD",
    "_CREDENTIALS",
];

/// Shorter values are words, not secrets.
const LEAST: usize = 8;

/// The text without the secrets that are recognised.
pub fn redact(text: &str) -> String {
    let mut text = text.to_owned();
    for (name, value) in std::env::vars() {
        let upper = name.to_ascii_uppercase();
        if value.len() >= LEAST && SECRET_NAMES.iter().any(|end| upper.ends_with(end)) {
            text = text.replace(&value, INSTEAD);
        }
    }
    tokens(&keys(&text))
}

/// Private keys in their armour.
fn keys(text: &str) -> String {
    const BEGIN: &str = "-----BEGIN ";
    const END: &str = "PRIVATE KEY-----";
    let mut kept = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(BEGIN) {
        let inside = &rest[start + BEGIN.len()..];
        let head = inside.find("-----").unwrap_or(inside.len()).min(40);
        let is_key = inside
            .get(..head)
            .is_some_and(|head| head.ends_with("PRIVATE KEY"));
        if !is_key {
            kept.push_str(&rest[..start + BEGIN.len()]);
            rest = inside;
            continue;
        }
        kept.push_str(&rest[..start]);
        kept.push_str(INSTEAD);
        let after = inside.get(head + 5..).unwrap_or_default();
        rest = after
            .find(END)
            .and_then(|end| after.get(end + END.len()..))
            .unwrap_or_default();
    }
    kept + rest
}

fn is_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '+' | '=' | '~')
}

fn tokens(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let begin = rest.find(is_token).unwrap_or(rest.len());
        kept.push_str(&rest[..begin]);
        rest = &rest[begin..];
        let end = rest.find(|c| !is_token(c)).unwrap_or(rest.len());
        let word = &rest[..end];
        rest = &rest[end..];
        if is_secret(word) {
            kept.push_str(INSTEAD);
        } else {
            kept.push_str(word);
        }
        if word.eq_ignore_ascii_case("bearer") && rest.starts_with(' ') {
            let end = rest[1..]
                .find(|c| !is_token(c))
                .map_or(rest.len(), |e| e + 1);
            if end > 16 {
                kept.push(' ');
                kept.push_str(INSTEAD);
                rest = &rest[end..];
            }
        }
    }
    kept
}

/// A token may stand behind `name=`.
fn is_secret(word: &str) -> bool {
    word.split(['=', '/']).any(|part| {
        BEGINNINGS.iter().any(|(begin, least)| {
            part.strip_prefix(begin)
                .is_some_and(|rest| rest.len() >= *least)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_go_and_words_stay() {
        for secret in [
            "sk-ant-api03-abcdefghijklmnop",
            "ghp_abcdefghijklmnopqrstuvwx",
            "AKIAABCDEFGHIJKLMNOP",
            "KEY=sk-abcdefghijklmnopqrst",
        ] {
            let text = redact(&format!("before {secret}, after"));
            assert_eq!(text, "before [redacted], after");
        }
        let header = redact("{\"Authorization\": \"Bearer abcdef0123456789XYZ\"}");
        assert_eq!(header, "{\"Authorization\": \"Bearer [redacted]\"}");
        let key = "a\n-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\nb";
        assert_eq!(redact(key), "a\n[redacted]\nb");
        for harmless in [
            "the sk-learn package",
            "bearer of news",
            "-----BEGIN CERTIFICATE-----",
            "é sk- ghp_ ü",
            "",
        ] {
            assert_eq!(redact(harmless), harmless);
        }
    }
}
