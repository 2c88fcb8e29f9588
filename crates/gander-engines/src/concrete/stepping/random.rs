//! Reproducible random numbers: xorshift64* (Vigna 2016), seeded through splitmix64.

/// A generator; the same seed gives the same numbers on every machine.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    state: u64,
    mood: Mood,
}

/// How often truth values that nothing determines are true.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mood {
    Even,
    Rarely,
    Mostly,
}

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Random { state: (z ^ (z >> 31)).max(1), mood: Mood::Even }
    }

    fn next(&mut self) -> u64 {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        self.state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `n`, which must not be 0.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }

    /// True once in `n` times.
    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// Changes how often [`Random::coin`] is true: models often want few, or nearly all, of many truth values to be true.
    pub(crate) fn change_mood(&mut self) {
        self.mood = [Mood::Even, Mood::Rarely, Mood::Mostly, Mood::Rarely][self.below(4)];
    }

    /// A truth value.
    pub(crate) fn coin(&mut self) -> bool {
        match self.mood {
            Mood::Even => self.one_in(2),
            Mood::Rarely => self.one_in(8),
            Mood::Mostly => !self.one_in(8),
        }
    }

    /// One of a list that is not empty.
    pub(crate) fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }

    /// Brings a list into random order.
    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        for i in (1..list.len()).rev() {
            list.swap(i, self.below(i + 1));
        }
    }
}
