//! Random choices of the engines that walk: [`gander_runtime::Random`] with Booleans of a varying
//! bias.

/// A generator; the same seed gives the same choices on every machine.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    numbers: gander_runtime::Random,
    bias: BoolBias,
}

/// How often undetermined Booleans are true.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum BoolBias {
    Even,
    Rarely,
    Mostly,
}

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random { numbers: gander_runtime::Random::new(seed), bias: BoolBias::Even }
    }

    /// A number below `n`, which must not be 0.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.numbers.below(n)
    }

    /// True with probability `1 / n`.
    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.numbers.one_in(n)
    }

    /// Changes how often [`Random::coin`] is true: models often need few, or nearly all, of many
    /// Booleans to be true.
    pub(crate) fn change_bias(&mut self) {
        use BoolBias::{Even, Mostly, Rarely};
        self.bias = self.numbers.pick(&[Even, Rarely, Mostly, Rarely]);
    }

    /// A random Boolean, with the current bias.
    pub(crate) fn coin(&mut self) -> bool {
        match self.bias {
            BoolBias::Even => self.one_in(2),
            BoolBias::Rarely => self.one_in(8),
            BoolBias::Mostly => !self.one_in(8),
        }
    }

    /// A random element of a non-empty list.
    pub(crate) fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }

    /// Shuffles a list.
    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        self.numbers.shuffle(list);
    }
}
