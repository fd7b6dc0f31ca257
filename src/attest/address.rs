//! A git remote as a URI that may be shown to anybody: who logs in there is no part of it.

use std::fmt::Write;

/// `git+…` for a remote's address; none where that means something on this machine alone.
pub(super) fn to_uri(address: &str) -> Option<String> {
    let address = address.trim();
    let (scheme, rest) = match address.split_once("://") {
        Some((scheme, rest)) => (scheme, rest.to_owned()),
        None if address.starts_with('/') => ("file", address.to_owned()),
        // `user@host:path`, as ssh has it.
        None => {
            let (host, path) = address.split_once(':')?;
            let is_host = !host.is_empty() && !host.contains(['/', '\\']) && host.len() > 1;
            let path = path.trim_start_matches('/');
            ("ssh", is_host.then(|| format!("{host}/{path}"))?)
        }
    };
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    if scheme.is_empty() || !scheme.chars().all(is_scheme) {
        return None;
    }
    let (host, path) = rest.split_once('/').unwrap_or((&rest, ""));
    let host = host.rsplit('@').next().unwrap_or(host);
    // What follows a question mark may be a token.
    let path = path.split(['?', '#']).next().unwrap_or(path);
    let (scheme, host) = (scheme.to_ascii_lowercase(), escape_uri(host));
    Some(format!("git+{scheme}://{host}/{}", escape_uri(path)))
}

/// What a URI has no room for, percent-encoded; what is encoded already stays.
pub(super) fn escape_uri(text: &str) -> String {
    let mut uri = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => uri.push(char::from(byte)),
            _ if b"-._~/:%+,;=[]".contains(&byte) => uri.push(char::from(byte)),
            _ => {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remote_is_named_without_who_logs_in() {
        for (address, uri) in [
            (
                "https://forge.example/o/r.git",
                Some("git+https://forge.example/o/r.git"),
            ),
            (
                "https://user:hunter22@forge.example/o/r",
                Some("git+https://forge.example/o/r"),
            ),
            (
                "HTTPS://t@forge.example:8443/r?token=x#y",
                Some("git+https://forge.example:8443/r"),
            ),
            (
                "git@forge.example:o/r.git",
                Some("git+ssh://forge.example/o/r.git"),
            ),
            (
                "ssh://git@forge.example/~o/r",
                Some("git+ssh://forge.example/~o/r"),
            ),
            ("/srv/a b.git", Some("git+file:///srv/a%20b.git")),
            ("file:///srv/\u{202e}x", Some("git+file:///srv/%E2%80%AEx")),
            ("../bare.git", None),
            ("C:/repo", None),
            ("ext::sh -c x", Some("git+ssh://ext/:sh%20-c%20x")),
            ("", None),
        ] {
            assert_eq!(to_uri(address).as_deref(), uri, "{address}");
        }
    }
}
