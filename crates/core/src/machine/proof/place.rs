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

    /// These are lines, and all of the other's are among them.
    pub(super) fn holds(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Lines { path, first, last },
                Self::Lines {
                    path: of,
                    first: from,
                    last: to,
                },
            ) => path == of && first <= from && to <= last,
            _ => false,
        }
    }

    pub(super) fn is_one_with(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Lines { path, first, last },
                Self::Lines {
                    path: of,
                    first: from,
                    last: to,
                },
            ) => path == of && first <= to && from <= last,
            (Self::Other(one), Self::Other(other)) => one == other,
            _ => false,
        }
    }
}
