//! An abstract form of a system with arrays of an open size. It can be written for the open size,
//! with arrays and quantifiers, and for a given size, without either.

use crate::random::Random;

/// An index of an array.
#[derive(Clone, Copy, Debug)]
pub(super) enum Index {
    First,
    Last,
    /// The bound variable of a quantifier.
    Bound(usize),
    /// The successor of a bound variable; exists if the quantifier omits the last index.
    After(usize),
    /// The value of a number variable that is known to be below the size.
    Scalar(usize),
}

/// A number.
#[derive(Clone, Debug)]
pub(super) enum Number {
    Constant(i64),
    Scalar(usize),
    Element(usize, Index),
    Bound(usize),
    Size,
    Sum(Box<Number>, Box<Number>),
    Difference(Box<Number>, Box<Number>),
    /// The remainder of the division by a positive number.
    Rest(Box<Number>, i64),
    Choice(Box<Formula>, Box<Number>, Box<Number>),
}

/// A comparison of numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Relation {
    Equal,
    Less,
    AtMost,
}

/// The indices that a quantifier ranges over, and the form of its bounds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Domain {
    /// The number of the variable that is bound, unique in a system.
    pub bound: usize,
    /// True if the last index is omitted.
    pub shorter: bool,
    /// Selects one of several equivalent forms.
    pub way: usize,
}

/// A formula.
#[derive(Clone, Debug)]
pub(super) enum Formula {
    Compare(Relation, Number, Number),
    /// An element of an array of truth values.
    Flag(usize, Index),
    Not(Box<Formula>),
    Both(Box<Formula>, Box<Formula>),
    Either(Box<Formula>, Box<Formula>),
    Every(Vec<Domain>, Box<Formula>),
    Some(Vec<Domain>, Box<Formula>),
}

/// The sort of the elements of an array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Elements {
    Numbers,
    Flags,
}

/// A value of an element.
#[derive(Clone, Debug)]
pub(super) enum Content {
    Number(Number),
    Flag(Formula),
}

/// The effect of a step on an array; the domain names the index variable.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Keep,
    /// Every element gets a value.
    Every(Domain, Content),
    /// Every element either is kept or gets a value.
    Perhaps(Domain, Content),
    /// One element gets a value.
    Store(Index, Content),
}

/// The effect of a step on a number variable that it changes.
#[derive(Clone, Debug)]
pub(super) enum Next {
    Is(Number),
    /// Some value greater than this, below [`SCALARS`]; no step if there is none.
    Above(Number),
}

/// A step.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub source: u32,
    pub target: u32,
    pub guard: Option<Formula>,
    /// By number variable.
    pub scalars: Vec<Option<Next>>,
    pub arrays: Vec<Change>,
}

/// The initial value of an array.
#[derive(Clone, Debug)]
pub(super) enum Beginning {
    Is(Content),
    /// Any values.
    Open,
}

/// A system.
#[derive(Clone, Debug)]
pub(super) struct Sketch {
    pub nodes: u32,
    /// The number of number variables; their values are below [`SCALARS`].
    pub scalars: usize,
    pub arrays: Vec<Elements>,
    /// By array: true if it is an input.
    pub inputs: Vec<bool>,
    /// By array: true if its size is the second constant.
    pub second: Vec<bool>,
    pub first: Vec<(Domain, Beginning)>,
    /// By array: the indices for which it is assumed that the elements of an input are small.
    pub ranges: Vec<Domain>,
    pub steps: Vec<Step>,
    /// Formulas; the flag distinguishes *always* from *reachable*.
    pub claims: Vec<(Formula, bool)>,
}

/// Upper bounds (exclusive) of number variables and of numbers in arrays.
pub(super) const SCALARS: i64 = 4;
pub(super) const ELEMENTS: i64 = 3;

/// Generates a sketch.
pub(super) struct SketchGenerator {
    random: Random,
    scalars: usize,
    arrays: Vec<Elements>,
    bound: usize,
}

/// The index variables in scope.
type Scope<'a> = &'a [Domain];

impl SketchGenerator {
    pub(super) fn new(mut random: Random) -> SketchGenerator {
        let scalars = 1 + random.below(2);
        let count = 1 + random.below(2);
        let kind = |random: &mut Random| {
            if random.chance(65) { Elements::Numbers } else { Elements::Flags }
        };
        let arrays = (0..count).map(|_| kind(&mut random)).collect();
        SketchGenerator { random, scalars, arrays, bound: 0 }
    }

    pub(super) fn sketch(mut self) -> Sketch {
        let nodes = 1 + self.random.below(3) as u32;
        let count = self.arrays.len();
        let second = self.random.chance(25);
        let inputs: Vec<bool> = (0..count).map(|a| a > 0 && self.random.chance(30)).collect();
        let first = (0..count).map(|a| self.beginning(a)).collect();
        let ranges = (0..count).map(|_| self.domain(false)).collect();
        let mut steps: Vec<Step> = (0..nodes).map(|n| self.step(n, (n + 1) % nodes)).collect();
        for _ in 0..self.random.below(3) {
            let (source, target) = (
                self.random.below(nodes as usize) as u32,
                self.random.below(nodes as usize) as u32,
            );
            steps.push(self.step(source, target));
        }
        for step in &mut steps {
            step.arrays
                .iter_mut()
                .zip(&inputs)
                .filter(|(_, input)| **input)
                .for_each(|(c, _)| *c = Change::Keep);
        }
        let claims = (0..3 + self.random.below(3))
            .map(|_| (self.formula(&[], 2), self.random.chance(50)))
            .collect();
        let second = (0..count).map(|a| second && a == 1).collect();
        Sketch {
            nodes,
            scalars: self.scalars,
            arrays: self.arrays,
            inputs,
            second,
            first,
            ranges,
            steps,
            claims,
        }
    }

    fn domain(&mut self, shorter: bool) -> Domain {
        self.bound += 1;
        Domain { bound: self.bound - 1, shorter, way: self.random.below(4) }
    }

    fn beginning(&mut self, array: usize) -> (Domain, Beginning) {
        let domain = self.domain(false);
        let how = if self.random.chance(25) {
            Beginning::Open
        } else {
            // Only the index occurs here, although other variables have initial values too.
            let content = match (self.arrays[array], self.random.below(3)) {
                (Elements::Numbers, 0) => {
                    Content::Number(Number::Rest(Box::new(Number::Bound(domain.bound)), ELEMENTS))
                }
                (Elements::Numbers, n) => Content::Number(Number::Constant(n as i64 - 1)),
                (Elements::Flags, 0) => {
                    let last =
                        Number::Difference(Box::new(Number::Size), Box::new(Number::Constant(1)));
                    Content::Flag(Formula::Compare(
                        Relation::Equal,
                        Number::Bound(domain.bound),
                        last,
                    ))
                }
                (Elements::Flags, n) => {
                    let (a, b) = (Number::Constant(0), Number::Constant(n as i64 - 1));
                    Content::Flag(Formula::Compare(Relation::Equal, a, b))
                }
            };
            Beginning::Is(content)
        };
        (domain, how)
    }

    fn step(&mut self, source: u32, target: u32) -> Step {
        let guard = self.random.chance(60).then(|| self.formula(&[], 2));
        let scalars = (0..self.scalars).map(|_| self.next()).collect();
        let arrays = (0..self.arrays.len()).map(|a| self.change(a)).collect();
        Step { source, target, guard, scalars, arrays }
    }

    fn next(&mut self) -> Option<Next> {
        match self.random.weighted(&[40, 48, 12]) {
            0 => None,
            1 => Some(Next::Is(Number::Rest(Box::new(self.number(&[], 2)), SCALARS))),
            _ => Some(Next::Above(self.number(&[], 1))),
        }
    }

    fn change(&mut self, array: usize) -> Change {
        match self.random.weighted(&[25, 40, 15, 20]) {
            0 => Change::Keep,
            3 => {
                let index = if self.random.chance(50) { Index::First } else { Index::Last };
                let content = self.content(array, &[]);
                Change::Store(index, content)
            }
            n => {
                let domain = self.domain(false);
                let content = self.content(array, &[domain]);
                if n == 1 {
                    Change::Every(domain, content)
                } else {
                    Change::Perhaps(domain, content)
                }
            }
        }
    }

    fn content(&mut self, array: usize, scope: Scope) -> Content {
        match self.arrays[array] {
            Elements::Numbers => {
                Content::Number(Number::Rest(Box::new(self.number(scope, 2)), ELEMENTS))
            }
            Elements::Flags => Content::Flag(self.formula(scope, 1)),
        }
    }

    fn index(&mut self, scope: Scope) -> Index {
        match scope {
            [] if self.random.chance(50) => Index::First,
            [] => Index::Last,
            _ => {
                let domain = *self.random.pick(scope);
                if domain.shorter && self.random.chance(50) {
                    Index::After(domain.bound)
                } else {
                    Index::Bound(domain.bound)
                }
            }
        }
    }

    fn array(&mut self, elements: Elements) -> Option<usize> {
        let fit: Vec<usize> =
            (0..self.arrays.len()).filter(|&a| self.arrays[a] == elements).collect();
        (!fit.is_empty()).then(|| *self.random.pick(&fit))
    }

    fn number(&mut self, scope: Scope, depth: u32) -> Number {
        let weights =
            if depth == 0 { [20, 25, 40, 15, 5, 0, 0, 0] } else { [8, 15, 30, 12, 5, 20, 8, 12] };
        match self.random.weighted(&weights) {
            0 => Number::Constant(self.random.between(0, 3)),
            2 => match self.array(Elements::Numbers) {
                Some(array) => Number::Element(array, self.index(scope)),
                None => Number::Scalar(self.random.below(self.scalars)),
            },
            3 if !scope.is_empty() => Number::Bound(self.random.pick(scope).bound),
            4 => Number::Size,
            5 => Number::Sum(
                Box::new(self.number(scope, depth - 1)),
                Box::new(self.number(scope, depth - 1)),
            ),
            6 => Number::Difference(
                Box::new(self.number(scope, depth - 1)),
                Box::new(self.number(scope, depth - 1)),
            ),
            7 => {
                let condition = self.comparison(scope);
                let (a, b) = (self.number(scope, depth - 1), self.number(scope, depth - 1));
                Number::Choice(Box::new(condition), Box::new(a), Box::new(b))
            }
            _ => Number::Scalar(self.random.below(self.scalars)),
        }
    }

    fn comparison(&mut self, scope: Scope) -> Formula {
        if self.random.chance(30)
            && let Some(array) = self.array(Elements::Flags)
        {
            return Formula::Flag(array, self.index(scope));
        }
        let relation = *self.random.pick(&[
            Relation::Equal,
            Relation::Equal,
            Relation::Less,
            Relation::AtMost,
        ]);
        Formula::Compare(relation, self.number(scope, 1), self.number(scope, 0))
    }

    fn formula(&mut self, scope: Scope, depth: u32) -> Formula {
        if depth == 0 {
            return self.comparison(scope);
        }
        match self.random.weighted(&[25, 10, 12, 12, 22, 15, 12]) {
            1 => Formula::Not(Box::new(self.formula(scope, depth - 1))),
            2 => Formula::Both(
                Box::new(self.formula(scope, depth - 1)),
                Box::new(self.formula(scope, depth - 1)),
            ),
            3 => Formula::Either(
                Box::new(self.formula(scope, depth - 1)),
                Box::new(self.formula(scope, depth - 1)),
            ),
            // Nest at most two quantifiers.
            n @ (4 | 5) if scope.len() < 2 => {
                let shorter = self.random.chance(25);
                let mut domains = vec![self.domain(shorter)];
                if scope.is_empty() && self.random.chance(20) {
                    domains.push(self.domain(false));
                }
                let inner: Vec<Domain> = scope.iter().chain(&domains).copied().collect();
                let body = Box::new(self.formula(&inner, depth - 1));
                if n == 4 { Formula::Every(domains, body) } else { Formula::Some(domains, body) }
            }
            6 => self.within(scope),
            _ => self.comparison(scope),
        }
    }

    /// A formula about the element at the index given by a number variable, if that is within the
    /// array.
    fn within(&mut self, scope: Scope) -> Formula {
        let scalar = self.random.below(self.scalars);
        let array = self.random.below(self.arrays.len());
        let inside = Formula::Compare(Relation::Less, Number::Scalar(scalar), Number::Size);
        let about = match self.arrays[array] {
            Elements::Flags => Formula::Flag(array, Index::Scalar(scalar)),
            Elements::Numbers => {
                let element = Number::Element(array, Index::Scalar(scalar));
                Formula::Compare(Relation::Equal, element, self.number(scope, 0))
            }
        };
        Formula::Both(Box::new(inside), Box::new(about))
    }
}
