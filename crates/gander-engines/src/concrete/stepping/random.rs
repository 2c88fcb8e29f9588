//! Random choices of the engines that walk: xorshift64* (Vigna 2016), seeded through
//! [`gander_runtime::Random`].
//!
//! Other parts of gander use [`gander_runtime::Random`] itself. The engines keep xorshift64*, so
//! that `check --seed` finds the runs that it found in earlier versions.

/// A generator; the same seed gives the same numbers on every machine.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    state: u64,
    mood: Mood,
}

/// How often undetermined Booleans are true.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mood {
    Even,
    Rarely,
    Mostly,
}

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        let first = gander_runtime::Random::new(seed).next_u64();
        Random { state: first.max(1), mood: Mood::Even }
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

    /// True with probability `1 / n`.
    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// Changes how often [`Random::coin`] is true: models often need few, or nearly all, of many
    /// Booleans to be true.
    pub(crate) fn change_mood(&mut self) {
        self.mood = [Mood::Even, Mood::Rarely, Mood::Mostly, Mood::Rarely][self.below(4)];
    }

    /// A random Boolean, with the current bias.
    pub(crate) fn coin(&mut self) -> bool {
        match self.mood {
            Mood::Even => self.one_in(2),
            Mood::Rarely => self.one_in(8),
            Mood::Mostly => !self.one_in(8),
        }
    }

    /// A random element of a non-empty list.
    pub(crate) fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }

    /// Shuffles a list.
    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        for i in (1..list.len()).rev() {
            list.swap(i, self.below(i + 1));
        }
    }
}
