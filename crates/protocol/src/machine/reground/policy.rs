//! Whether the work goes on: the report stops it, or the user must trust commands first.

use crate::diagnostic::{Code, Refusal};
use crate::machine::answers;
use crate::machine::text::quote_word;
use crate::machine::trust::open_commands;
use crate::machine::work::Work;
use crate::model::{Policy, PolicyChange, Reground, Waiting, WaitingKind};
use crate::report::is_named;

pub(super) fn apply_policy(work: &mut Work, block: &Reground) -> Result<(), Refusal> {
    let Some(change) = &block.policy else {
        return Ok(());
    };
    if work.next.state.continuation_policy == Policy::Done {
        return Err(Refusal::new(
            Code::ConcludeNotDue,
            "the report concludes with stop and stops for something else",
        ));
    }
    match change {
        PolicyChange::AwaitUserInput { question } => answers::require_new(work, question)?,
        PolicyChange::Blocked { why, .. } if !is_named(why) => {
            return Err(
                Refusal::new(Code::BlockWithoutReason, "the work is blocked without a reason")
                    .replace_hints(["say in `why` what blocks: `\"policy\": {\"to\": \"blocked\", \"why\": \"…\", \"exit\": \"COMMAND\"}`"]),
            );
        }
        PolicyChange::Blocked { .. } => {}
    }
    work.next.state.continuation_policy = match change {
        PolicyChange::AwaitUserInput { .. } => Policy::AwaitUserInput,
        PolicyChange::Blocked { .. } => Policy::Blocked,
    };
    work.next.ledger.waiting = Some(change.into());
    Ok(())
}

/// Commands of the plan that nobody trusted here yet: the user is asked, once.
pub(super) fn ask_for_trust(work: &mut Work) -> Result<(), Refusal> {
    if work.next.state.continuation_policy != Policy::Continue {
        return Ok(());
    }
    let commands = work.facts.list_untrusted(&open_commands(&work.next))?;
    if commands.is_empty() {
        return Ok(());
    }
    let exit = commands
        .iter()
        .map(|command| format!("cook trust {}", quote_word(command)))
        .collect::<Vec<_>>()
        .join(" && ");
    work.next.state.continuation_policy = Policy::AwaitUserInput;
    work.next.ledger.waiting = Some(Waiting {
        kind: WaitingKind::Trust,
        what: format!("may cook run these commands: {}", commands.join(" · ")),
        exit,
        asker: None,
    });
    Ok(())
}
