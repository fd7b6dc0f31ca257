//! How often a judge notices a fault, as shares with 95 % confidence intervals, and how often judges miss the same
//! fault.

use serde::{Deserialize, Serialize};

/// The 97.5 % quantile of the normal distribution, for a two-sided 95 % interval.
const Z: f64 = 1.959_963_984_540_054;

/// A number of hits out of a number of cases.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// The number of hits.
    pub hits: u64,
    /// The number of cases; at least `hits`.
    pub of: u64,
}

/// A 95 % confidence interval of a share.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

impl Interval {
    /// Whether the interval contains the value.
    pub fn holds(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

impl Share {
    /// Counts the hits among the cases.
    pub fn of(cases: impl IntoIterator<Item = bool>) -> Self {
        let mut share = Self::default();
        for hit in cases {
            share.of += 1;
            share.hits += u64::from(hit);
        }
        share
    }

    /// The observed share; `None` without any case.
    pub fn rate(self) -> Option<f64> {
        (self.of > 0).then(|| self.hits.min(self.of) as f64 / self.of as f64)
    }

    /// The Wilson score interval; from 0 to 1 without any case.
    pub fn interval(self) -> Interval {
        let Some(rate) = self.rate() else {
            return Interval {
                low: 0.0,
                high: 1.0,
            };
        };
        let n = self.of as f64;
        let denominator = 1.0 + Z * Z / n;
        let center = (rate + Z * Z / (2.0 * n)) / denominator;
        let half = Z / denominator * (rate * (1.0 - rate) / n + Z * Z / (4.0 * n * n)).sqrt();
        // At the ends the formula is exact, but floating-point arithmetic is not.
        let low = if self.hits == 0 {
            0.0
        } else {
            (center - half).max(0.0)
        };
        let high = if self.hits >= self.of {
            1.0
        } else {
            (center + half).min(1.0)
        };
        Interval { low, high }
    }
}

/// A judge's answer to one case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// Whether a fault was planted in the case.
    pub faulty: bool,
    /// Whether the judge said no.
    pub refused: bool,
}

/// The results of a judge.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The planted faults that it noticed.
    pub caught: Share,
    /// The clean cases that it refused.
    pub alarms: Share,
}

impl Record {
    /// Computes the results from a judge's answers.
    pub fn of(answers: &[Answer]) -> Self {
        let of = |faulty| {
            answers
                .iter()
                .filter(move |answer| answer.faulty == faulty)
                .map(|answer| answer.refused)
        };
        Self {
            caught: Share::of(of(true)),
            alarms: Share::of(of(false)),
        }
    }
}

/// How often several judges all miss the same fault.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Joint {
    /// The faults that none of them noticed, among those that were shown to all.
    pub missed: Share,
    /// The expected share of such faults if the judges erred independently.
    pub by_chance: f64,
    /// The number of independent judges that would miss faults equally often; `None` if the judges missed no fault
    /// together, or all of them.
    pub worth: Option<f64>,
}

/// The joint misses of several judges. For each judge, the list says whether it noticed each fault; the order of the
/// faults is the same in all lists. Only the faults that all judges were shown count, that is, up to the length of the
/// shortest list.
pub fn joint(judges: &[Vec<bool>]) -> Option<Joint> {
    let shown = judges.iter().map(Vec::len).min()?;
    if shown == 0 {
        return None;
    }
    let missed = Share::of((0..shown).map(|case| judges.iter().all(|judge| !judge[case])));
    let rates = judges.iter().map(|judge| {
        let misses = judge[..shown].iter().filter(|caught| !**caught).count();
        misses as f64 / shown as f64
    });
    let rates: Vec<f64> = rates.collect();
    let by_chance = rates.iter().product();
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    let together = missed.rate().unwrap_or_default();
    let worth = (together > 0.0 && together < 1.0 && mean > 0.0 && mean < 1.0)
        .then(|| (together.ln() / mean.ln()).clamp(1.0, judges.len() as f64));
    Some(Joint {
        missed,
        by_chance,
        worth,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A generator with a seed: SplitMix64.
    struct Dice(u64);

    impl Dice {
        fn next(&mut self) -> f64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
        }
    }

    #[test]
    fn intervals_are_wilsons() {
        // The roots of (rate - p)² = z² p (1 - p) / n, found by bisection.
        for (hits, of, low, high) in [
            (14, 20, 0.481_027, 0.854_523),
            (0, 20, 0.0, 0.161_125),
            (20, 20, 0.838_875, 1.0),
            (1, 10, 0.017_876, 0.404_150),
            (50, 100, 0.403_832, 0.596_168),
        ] {
            let found = Share { hits, of }.interval();
            assert!(
                (found.low - low).abs() < 1e-5 && (found.high - high).abs() < 1e-5,
                "{hits} of {of}: {found:?}"
            );
        }
        assert_eq!(
            Share::default().interval(),
            Interval {
                low: 0.0,
                high: 1.0
            }
        );
        assert_eq!(Share::default().rate(), None);
    }

    #[test]
    fn intervals_hold_the_truth_in_93_of_100_seeded_runs() {
        for (catches, alarms, cases) in [
            (0.7, 0.1, 20),
            (0.9, 0.05, 40),
            (0.5, 0.5, 20),
            (0.95, 0.02, 60),
            (0.3, 0.2, 30),
        ] {
            let (mut caught, mut alarmed) = (0, 0);
            for seed in 0..1_000 {
                let mut dice = Dice(seed * 7_919 + cases as u64);
                let answers: Vec<Answer> = (0..2 * cases)
                    .map(|case| {
                        let faulty = case % 2 == 0;
                        let rate = if faulty { catches } else { alarms };
                        Answer {
                            faulty,
                            refused: dice.next() < rate,
                        }
                    })
                    .collect();
                let record = Record::of(&answers);
                assert_eq!(
                    (record.caught.of, record.alarms.of),
                    (cases as u64, cases as u64)
                );
                caught += u32::from(record.caught.interval().holds(catches));
                alarmed += u32::from(record.alarms.interval().holds(alarms));
            }
            assert!(
                caught >= 930,
                "a judge that catches {catches} of {cases}: {caught}"
            );
            assert!(
                alarmed >= 930,
                "a judge that alarms at {alarms} of {cases}: {alarmed}"
            );
        }
    }

    #[test]
    fn judges_that_err_together_are_worth_one() {
        let mut dice = Dice(7);
        let alike: Vec<bool> = (0..2_000).map(|_| dice.next() < 0.7).collect();
        let same = joint(&[alike.clone(), alike.clone(), alike.clone()]).unwrap();
        assert_eq!(same.worth, Some(1.0));
        assert!(
            same.missed.rate().unwrap() > 0.25 && same.by_chance < 0.04,
            "{same:?}"
        );
        let others: Vec<Vec<bool>> = (0..3)
            .map(|_| (0..2_000).map(|_| dice.next() < 0.7).collect())
            .collect();
        let apart = joint(&others).unwrap();
        assert!(apart.missed.interval().holds(0.027), "{apart:?}");
        assert!(apart.worth.unwrap() > 2.6, "{apart:?}");
        let perfect = joint(&[vec![true; 5], vec![false, true, true, true, true]]).unwrap();
        assert_eq!((perfect.missed.hits, perfect.worth), (0, None));
        assert_eq!(joint(&[]), None);
        assert_eq!(joint(&[vec![], vec![true]]), None);
    }
}
