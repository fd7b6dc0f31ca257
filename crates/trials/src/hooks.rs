//! Small hooks in runners, named by the environment: each appends a record for each test to a file
//! outside of the tree. A project's own reporters and reports stay.

/// A file that is laid down for the hooks.
#[derive(Debug, Clone, Copy)]
pub struct HookFile {
    /// Relative to the directory of the hooks.
    pub path: &'static str,
    /// What it holds.
    pub text: &'static str,
}

/// Where a command that is run finds things, as it sees them itself.
#[derive(Debug, Clone, Copy)]
pub struct HookPlaces<'a> {
    /// The directory with the files of [`files`].
    pub hooks: &'a str,
    /// The file that records are appended to.
    pub records: &'a str,
    /// The root of the tree that the command runs in.
    pub root: &'a str,
}

/// All files of the hooks.
pub fn files() -> &'static [HookFile] {
    &[]
}

/// Variables that a command gets, whole values; `existing` are those that it has already, which are
/// added to and not replaced.
pub fn variables(
    places: &HookPlaces,
    existing: impl Fn(&str) -> Option<String>,
) -> Vec<(String, String)> {
    let _ = (places, &existing);
    Vec::new()
}
