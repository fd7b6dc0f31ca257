//! Python: nox and tox where they are set up, else pytest or unittest through the
//! project's environment tool.

use super::check::Proposal;
use super::files::Files;
use crate::scaffold::error::Error;

pub(super) fn detect(files: &Files<'_>, found: &mut Vec<Proposal>) -> Result<(), Error> {
    if files.has("noxfile.py") {
        found.push(Proposal::new("nox", "test", "noxfile.py", "nox"));
        return Ok(());
    }
    let project = files.text("pyproject.toml")?;
    let tox = files.text("tox.ini")?.unwrap_or_default();
    if tox.contains("[tox]") || tox.contains("[testenv") {
        found.push(Proposal::new("tox", "test", "tox.ini", "tox"));
        return Ok(());
    }
    let project_text = project.as_deref().unwrap_or_default();
    if project_text.contains("[tool.tox") {
        found.push(Proposal::new("tox", "test", "pyproject.toml", "tox"));
        return Ok(());
    }
    if let Some(source) = pytest(files, project_text)? {
        found.push(Proposal::new(
            "python",
            "test",
            source,
            pytest_command(files),
        ));
    } else if let Some(source) = unittest(files) {
        let run = "python3 -m unittest discover -s tests";
        found.push(Proposal::new("python", "test", source, run));
    }
    Ok(())
}

/// The file that shows that pytest is used.
fn pytest(files: &Files<'_>, project: &str) -> Result<Option<&'static str>, Error> {
    if let Some(source) = files.first(&["pytest.ini", "conftest.py"]) {
        return Ok(Some(source));
    }
    if project.contains("pytest") {
        return Ok(Some("pyproject.toml"));
    }
    let mentions = [
        ("setup.cfg", "pytest"),
        ("tox.ini", "[pytest]"),
        ("requirements.txt", "pytest"),
        ("requirements-dev.txt", "pytest"),
        ("dev-requirements.txt", "pytest"),
    ];
    for (source, word) in mentions {
        if files.text(source)?.is_some_and(|text| text.contains(word)) {
            return Ok(Some(source));
        }
    }
    Ok(None)
}

fn pytest_command(files: &Files<'_>) -> &'static str {
    let locks = [
        ("uv.lock", "uv run pytest"),
        ("poetry.lock", "poetry run pytest"),
        ("pdm.lock", "pdm run pytest"),
        ("Pipfile.lock", "pipenv run pytest"),
    ];
    locks
        .into_iter()
        .find(|(lock, _)| files.has(lock))
        .map_or("python3 -m pytest", |(_, run)| run)
}

/// The file that shows a Python project, when it has tests that need no pytest.
fn unittest(files: &Files<'_>) -> Option<&'static str> {
    let source = files.first(&[
        "pyproject.toml",
        "setup.py",
        "setup.cfg",
        "requirements.txt",
    ])?;
    let is_test = |name: &str| name.starts_with("test") && name.ends_with(".py");
    (files.has_directory("tests") && files.any_name("tests", is_test)).then_some(source)
}
