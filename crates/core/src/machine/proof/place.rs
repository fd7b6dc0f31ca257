//! Where a proof stands.

/// Where a proof stands. Two are one when they are the same place, or lines of one file that
/// overlap: a range that is one line longer shows nothing new.
pub(super) enum Place {
    Lines {
        path: String,
        first: usize,
        last: usize,
    },
    Other(String),
}

impl Place {
    pub(super) fn of(target: &str) -> Self {
        let lines = || {
            let (path, range) = target.rsplit_once('#')?;
            let (first, last) = range.split_once('-')?;
            Some(Self::Lines {
                path: path.to_owned(),
                first: first.parse().ok()?,
                last: last.parse().ok()?,
            })
        };
        lines().unwrap_or_else(|| Self::Other(target.to_owned()))
    }

    /// All of the other's text is a part of this one. Runs hold nothing: one may show much.
    pub(super) fn holds(&self, other: &Self) -> bool {
        if let (Self::Other(one), Self::Other(other)) = (self, other) {
            return one == other && one.starts_with("entry:");
        }
        self.compare_lines(other, |(first, last), (from, to)| {
            first <= from && to <= last
        })
    }

    pub(super) fn is_one_with(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Other(one), Self::Other(other)) => one == other,
            _ => self.compare_lines(other, |(first, last), (from, to)| {
                first <= to && from <= last
            }),
        }
    }

    /// Both are lines of one file, and of these this holds.
    fn compare_lines(
        &self,
        other: &Self,
        holds: fn((usize, usize), (usize, usize)) -> bool,
    ) -> bool {
        let lines = |place: &Self| match place {
            Self::Lines { path, first, last } => Some((path.clone(), (*first, *last))),
            Self::Other(_) => None,
        };
        let (Some((path, these)), Some((of, others))) = (lines(self), lines(other)) else {
            return false;
        };
        path == of && holds(these, others)
    }
}
