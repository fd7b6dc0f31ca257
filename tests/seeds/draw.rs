//! Chance from a seed: the same seed and number give the same draws, on any machine.

/// A row of draws (SplitMix64).
pub struct Draw(u64);

impl Draw {
    /// The draws of one thing (`number`) within a seed.
    pub fn of(seed: u64, number: u64) -> Self {
        let mut draw = Self(seed.wrapping_mul(0xD1B5_4A32_D192_ED03) ^ number);
        draw.next();
        draw
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    /// True so many times in a hundred.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of several.
    pub fn draw_one_of<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        let at = usize::try_from(self.below(of.len() as u64)).unwrap();
        &of[at]
    }
}
