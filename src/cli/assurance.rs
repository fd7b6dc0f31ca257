//! `cook init --assurance`: the profile, which is the user's alone to choose.

use crate::scaffold;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use cook_core::diagnostic::Failure;
use cook_core::model::{Assurance, Profile};
use std::path::Path;

/// Takes a profile by its name.
pub(super) fn parser() -> impl TypedValueParser<Value = Assurance> {
    let named = |name: String| {
        let mut all = Assurance::ALL.into_iter();
        all.find(|one| one.id() == name).unwrap_or_default()
    };
    PossibleValuesParser::new(Assurance::ALL.map(Assurance::id)).map(named)
}

/// Writes the profile that the user chose, and says what it leaves to them.
pub(super) fn choose(
    root: &Path,
    profile: &mut Profile,
    assurance: Assurance,
    lines: &mut Vec<String>,
) -> Result<(), Failure> {
    if profile.assurance != assurance {
        profile.assurance = assurance;
        scaffold::write_profile(root, profile)?;
        lines.push(format!("assurance is `{assurance}` in .agent/profile.json"));
    }
    let judges = profile.required_stop_judges.0;
    if assurance == Assurance::Lite && judges > 1 {
        lines.push(format!(
            "{judges} judges vote at the end: for one, set `required_stop_judges` to 1 in .agent/profile.json and run `cook init` again"
        ));
    }
    Ok(())
}
