//! `cook step`: exactly one session.

use super::context::{Answer, Context};
use super::run::{DriveArgs, hold};

pub(super) fn step(context: &Context, args: &DriveArgs) -> Answer {
    hold(context, args, Some(1))
}
