//! Secrets in text that is kept: taken out by the shapes in which they usually
//! stand. Pure. What has no known shape stays; nobody may rely on more.

use super::texts::texts;
use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// What stands in a secret's place.
pub const REDACTED: &str = "[redacted]";

fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).unwrap_or_else(|error| panic!("{error}"))
}

/// Private keys in armour, as far as they go.
static KEY: LazyLock<Regex> =
    LazyLock::new(|| compile(r"(?s)-----BEGIN [^\n]*?PRIVATE KEY.*?(?:-----END .*?-----|\z)"));

/// Tokens by their beginnings, with how many characters follow at least. Names in code begin with
/// `hf_` and `npm_` too.
static TOKEN: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?x)
        (?: (?i:bearer)\x20 (?<value> [0-9A-Za-z_\-./+=~]{16,} )
        | (?: (?: sk- | [rs]k_live_ | glpat- | A[KS]IA ) [0-9A-Za-z_\-.+~]{16}
            | (?: gh[pousr]_ | github_pat_ ) [0-9A-Za-z_\-.+~]{20}
            | xox[abp]- [0-9A-Za-z_\-.+~]{10}
            | AIza [0-9A-Za-z_\-.+~]{30}
            | eyJ [0-9A-Za-z_\-.+~]{40}
            | (?: npm | hf )_ [0-9A-Za-z]{20}
          ) [0-9A-Za-z_\-./+=~]* )",
    )
});

/// A password in an address: it may hold every sign, and blanks where no `@` stands before them. What
/// is a port is none.
static PASSWORD: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?x) (?<user> :// [^\s:@/?\#\[]* : )
        (?: [0-9]* [^\s0-9@/?\#] \S* @ | [0-9]+ @ | [0-9]* [^\s0-9@/?\#] [^\r\n@]* @ )",
    )
});

/// Over HTTP a name without a password is a token.
static LOGIN: LazyLock<Regex> = LazyLock::new(|| compile(r"(?<scheme>https?://)[^\s:@/?#]+@"));

/// The value behind a name that says what it is.
static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?xi) (?<name> (?: password | passwd | secret | token | api[_-]?key | access_key | private_key )
        [^\s0-9a-z=:]* [=:]+ \s* ) (?: [^\s/=:] | / [^\s/] ) \S*",
    )
});

/// The text without secrets of the usual shapes.
pub fn redact(text: &str) -> String {
    let text = without_tokens(text);
    let text = PASSWORD.replace_all(&text, format!("${{user}}{REDACTED}@"));
    let text = LOGIN.replace_all(&text, format!("${{scheme}}{REDACTED}@"));
    let text = NAMED.replace_all(&text, format!("${{name}}{REDACTED}"));
    without_tokens(&text)
}

/// The text without what can be nothing but a secret: tokens and private keys. What stands behind a
/// name may be code or a value of JSON, and stays.
pub fn without_tokens(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut done = 0;
    for secret in find_secrets(text) {
        kept.push_str(&text[done..secret.start]);
        kept.push_str(REDACTED);
        done = secret.end;
    }
    kept.push_str(&text[done..]);
    kept
}

/// What can be nothing but a secret, in a text or in the texts of its JSON.
pub fn find_tokens(text: &str) -> Vec<String> {
    let list = |text: &String| {
        let secrets = find_secrets(text).into_iter();
        secrets
            .map(|place| text[place].to_owned())
            .collect::<Vec<String>>()
    };
    texts(text).iter().flat_map(list).collect()
}

/// Where private keys and tokens stand, in order.
fn find_secrets(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = KEY.find_iter(text).map(|key| key.range()).collect();
    let mut at = 0;
    while let Some(named) = TOKEN.captures_at(text, at) {
        let whole = named.get_match();
        let secret = named.name("value").unwrap_or(whole).range();
        let is_in_key = found.iter().any(|key| key.contains(&secret.start));
        at = match !is_in_key && begins_word(text, whole.start()) {
            true => secret.end,
            false => whole.start() + 1,
        };
        if at == secret.end {
            found.push(secret);
        }
    }
    found.sort_by_key(|place| place.start);
    found
}

/// Whether no word goes on at this byte. Signs may stand before a token, as in a line of a diff, but
/// not inside of a name; a letter that belongs to an escape or to a terminal's command is none of a word.
fn begins_word(text: &str, at: usize) -> bool {
    let word = text[..at].trim_end_matches(['_', '-', '.', '+', '~']);
    // An escape is short.
    let begin = (word.len().saturating_sub(20)..=word.len()).find(|at| word.is_char_boundary(*at));
    let end = &word[begin.unwrap_or(word.len())..];
    !end.ends_with(|c: char| c.is_ascii_alphanumeric()) || ESCAPE.is_match(end)
}

/// The end of `\n` and its like, `\u000a`, `\x1b`, `%0A`, or `[1m`.
static ESCAPE: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?:\\[bfnrt]|\\u[0-9A-Fa-f]{4}|(?:\\x|%)[0-9A-Fa-f]{2}|(?:\[[0-9;]+|(?:\x1b|1[bB]|33)\[)[A-Za-z])\z",
    )
});

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
