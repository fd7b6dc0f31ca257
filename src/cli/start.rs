//! The line that starts the work, for the end of `cook init`.

use crate::service::Workspace;
use cook_agents::presets;
use cook_core::diagnostic::Failure;
use cook_os::process::on_path;

/// `cook run` with an agent that is here, by its name on PATH alone: no program is run for it. Without
/// one, the prompt for whichever agent the reader has.
pub(super) fn line(workspace: &Workspace) -> Result<String, Failure> {
    let config = workspace.config()?;
    if config
        .roles
        .values()
        .any(|role| role.agent.is_some() || !role.agents.is_empty())
    {
        return Ok("cook run".to_owned());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = presets(config);
    let mut known = all.values().filter_map(|preset| preset.as_ref().ok());
    let here = known.find(|preset| preset.is_verified() && on_path(preset.bin(), &path).is_some());
    Ok(match here {
        Some(preset) => format!("cook run --agent {}", preset.name()),
        None => "cook next --prompt".to_owned(),
    })
}
