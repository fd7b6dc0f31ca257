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

    pub(super) fn is_one_with(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Other(one), Self::Other(other)) => one == other,
            _ => self.overlaps(other),
        }
    }

    /// Both are lines of one file, and some of them are the same.
    fn overlaps(&self, other: &Self) -> bool {
        let lines = |place: &Self| match place {
            Self::Lines { path, first, last } => Some((path.clone(), *first, *last)),
            Self::Other(_) => None,
        };
        let (Some((path, first, last)), Some((of, from, to))) = (lines(self), lines(other)) else {
            return false;
        };
        path == of && first <= to && from <= last
    }
}
