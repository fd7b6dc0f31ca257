//! Directories of an agent's own: where it keeps sessions, logins, caches and settings.

use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A directory that an agent writes to: `"~/.mine"`, `"/var/lib/mine"`, `"$MINE_HOME"`, or a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written")]
pub struct StateDirectory {
    /// Below the user's home, or from `/` on; empty where only a variable names it.
    pub home: String,
    /// The variable that names another place.
    pub variable: Option<String>,
    /// The directory in that place; empty = the place itself.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub under: String,
    /// What in it makes later sessions start programs: hooks, servers of tools, extensions. A
    /// directory's name ends with `/`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<String>,
}

/// As a file writes it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Text(String),
    Table(Table),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    home: String,
    #[serde(default)]
    variable: Option<String>,
    #[serde(default)]
    under: String,
    #[serde(default)]
    settings: Vec<String>,
}

impl TryFrom<Written> for StateDirectory {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let of = |home: &str, variable: Option<&str>| Self {
            home: home.to_owned(),
            variable: variable.map(str::to_owned),
            under: String::new(),
            settings: Vec::new(),
        };
        let text = match &written {
            Written::Table(table) => {
                return Ok(Self {
                    under: table.under.clone(),
                    settings: table.settings.clone(),
                    ..of(&table.home, table.variable.as_deref())
                });
            }
            Written::Text(text) => text.as_str(),
        };
        let leads_out = Path::new(text)
            .components()
            .any(|part| part.as_os_str() == "..");
        let directory = match (text.strip_prefix("~/"), text.strip_prefix('$')) {
            _ if leads_out => None,
            (Some(rest), _) if !rest.is_empty() => Some(of(rest, None)),
            (_, Some(name)) if !name.is_empty() => Some(of("", Some(name))),
            _ if text.len() > 1 && text.starts_with('/') => Some(of(text, None)),
            _ => None,
        };
        directory.ok_or_else(|| {
            format!(
                "`{}` is not a directory: `~/NAME`, a path from `/` on without `..`, or `$NAME` of a variable that holds one",
                text.escape_debug()
            )
        })
    }
}

impl StateDirectory {
    /// Where it is, by the user's home and the value of a variable; none where neither says.
    pub fn place(
        &self,
        home: Option<&Path>,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Option<PathBuf> {
        let named = self.variable.as_deref().and_then(variable);
        let place = match named.filter(|place| !place.is_empty()) {
            Some(place) => PathBuf::from(place).join(&self.under),
            None if self.home.is_empty() => return None,
            None if self.home.starts_with('/') => PathBuf::from(&self.home),
            None => home?.join(&self.home),
        };
        place.is_absolute().then_some(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct File {
        writes: Vec<StateDirectory>,
    }

    #[test]
    fn a_directory_is_named_in_four_ways() {
        let file: File = toml::from_str(
            "writes = [\"~/.mine\", \"/var/lib/mine\", \"$MINE\", { home = \".x\", variable = \"Y\", under = \"z\" }]",
        )
        .unwrap();
        let places = |value: Option<&str>| -> Vec<Option<PathBuf>> {
            let variable = |_: &str| value.map(OsString::from);
            let home = Some(Path::new("/home/me"));
            file.writes
                .iter()
                .map(|one| one.place(home, variable))
                .collect()
        };
        let path = |text: &str| Some(PathBuf::from(text));
        let fixed = [path("/home/me/.mine"), path("/var/lib/mine")];
        assert_eq!(places(Some("/v"))[..2], fixed);
        assert_eq!(places(Some("/v"))[2..], [path("/v/"), path("/v/z")]);
        assert_eq!(places(None)[2..], [None, path("/home/me/.x")]);
        assert_eq!(places(Some("relative"))[2..], [None, None]);
    }

    #[test]
    fn what_names_no_directory_is_refused() {
        for text in ["", "~", "~/", "/", "$", "relative", "~/../x", "/a/../b"] {
            let file = toml::from_str::<File>(&format!("writes = [{text:?}]"));
            assert!(file.is_err(), "{text}");
        }
    }
}
