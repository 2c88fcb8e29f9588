//! Random models with records, data and lists.

use super::{Claim, Expr, Leaf, Part, Sorts, Step, Sts, Type, Value, Variable};
use crate::random::Random;

/// The product of the numbers of values of the variables.
const ROOM: usize = 200;

struct Maker<'a> {
    random: &'a mut Random,
    sts: Sts,
    /// The types of the names bound around the expression at hand.
    bound: Vec<Type>,
    parameter: Option<Type>,
    /// Variables whose next values may be mentioned.
    next: Vec<usize>,
}

fn boxed(e: Expr) -> Box<Expr> {
    Box::new(e)
}

impl Maker<'_> {
    fn leaf(&mut self) -> Type {
        Type::Leaf(*self.random.pick(&[Leaf::Bool, Leaf::Colour, Leaf::Int]))
    }

    fn any_type(&mut self) -> Type {
        match self.random.below(6) {
            0 | 1 => Type::Record,
            2 | 3 => Type::Data,
            4 => {
                let element = *self.random.pick(&[Leaf::Bool, Leaf::Colour]);
                Type::List(self.random.between(1, 3) as usize, Box::new(Type::Leaf(element)))
            }
            _ => {
                let element = if self.random.chance(60) { Type::Data } else { Type::Record };
                Type::List(self.random.between(1, 2) as usize, Box::new(element))
            }
        }
    }

    /// Names that have a type.
    fn names(&self, ty: &Type) -> Vec<Expr> {
        let mut found = Vec::new();
        for (i, v) in self.sts.variables.iter().enumerate() {
            if v.ty == *ty {
                found.push(Expr::Var(i));
                if self.next.contains(&i) {
                    found.extend([Expr::Next(i), Expr::Next(i)]);
                }
            }
        }
        if self.parameter.as_ref() == Some(ty) {
            found.extend([Expr::Parameter, Expr::Parameter]);
        }
        for (i, bound) in self.bound.iter().enumerate() {
            if bound == ty {
                found.extend([Expr::Bound(i), Expr::Bound(i)]);
            }
        }
        found
    }

    /// The types of list that some name has.
    fn lists(&self) -> Vec<Type> {
        let variables = self.sts.variables.iter().map(|v| &v.ty);
        let all = variables.chain(&self.parameter).chain(&self.bound);
        all.filter(|ty| matches!(ty, Type::List(..))).cloned().collect()
    }

    fn value(&mut self, ty: &Type) -> Expr {
        let mut domain = self.sts.sorts.domain(ty);
        if *ty == Type::Leaf(Leaf::Int) && self.random.chance(10) {
            domain = vec![Value::Int(2)];
        }
        Expr::Value(self.random.pick(&domain).clone())
    }

    /// An expression of a type. `typed` is true where a list in brackets gets its sort.
    fn make(&mut self, ty: &Type, depth: usize, typed: bool) -> Expr {
        let names = self.names(ty);
        let is_list = matches!(ty, Type::List(..));
        if depth == 0 || self.random.chance(15) {
            if !names.is_empty() && (self.random.chance(65) || is_list && !typed) {
                return self.random.pick(&names).clone();
            }
            if !is_list || typed {
                return self.value(ty);
            }
        }
        let d = depth.saturating_sub(1);
        if self.random.chance(12) && (!is_list || typed || !names.is_empty()) {
            let c = self.make(&Type::Leaf(Leaf::Bool), d, false);
            let (yes, no) = (self.make(ty, d, typed), self.make(ty, d, typed));
            return Expr::If(boxed(c), boxed(yes), boxed(no));
        }
        if let Some(found) = self.selection(ty, d) {
            return found;
        }
        match ty {
            Type::Leaf(Leaf::Bool) => self.truth(d),
            Type::Leaf(Leaf::Int) => match self.random.below(3) {
                0 => {
                    let lists = self.lists();
                    if lists.is_empty() {
                        return self.value(ty);
                    }
                    let list = self.random.pick(&lists).clone();
                    Expr::Length(boxed(self.make(&list, d, false)))
                }
                1 => Expr::Sum(boxed(self.make(ty, d, false)), boxed(self.make(ty, d, false))),
                _ => self.value(ty),
            },
            Type::Leaf(Leaf::Colour) => self.value(ty),
            Type::Record => {
                if self.random.chance(40) {
                    let field = self.random.below(self.sts.sorts.record.len());
                    let of = self.sts.sorts.record[field].clone();
                    let (r, v) = (self.make(ty, d, typed), self.make(&of, d, true));
                    return Expr::WithField(boxed(r), field, boxed(v));
                }
                let fields = self.sts.sorts.record.clone();
                Expr::Make(fields.iter().map(|t| self.make(t, d, true)).collect())
            }
            Type::Data => {
                if self.random.chance(35) {
                    let field = self.random.below(self.sts.sorts.fields.len());
                    if self.used(field) {
                        let of = self.sts.sorts.fields[field].clone();
                        let (r, v) = (self.make(ty, d, typed), self.make(&of, d, true));
                        return Expr::WithDataField(boxed(r), field, boxed(v));
                    }
                }
                let c = self.random.below(self.sts.sorts.constructors.len());
                let own = self.sts.sorts.constructors[c].clone();
                let fields = own.iter().map(|&f| {
                    let ty = self.sts.sorts.fields[f].clone();
                    self.make(&ty, d, true)
                });
                Expr::Construct(c, fields.collect())
            }
            Type::List(limit, element) => {
                if names.is_empty() && !typed {
                    // Not reached: lists without a name are made only where they get their sort.
                    return self.value(ty);
                }
                let list = boxed(self.make(ty, d, typed));
                match self.random.below(4) {
                    0 => Expr::Tail(list),
                    1 => Expr::Append(list, boxed(self.make(element, d, true)), *limit),
                    2 => Expr::Cons(boxed(self.make(element, d, true)), list, *limit),
                    _ => {
                        let i = boxed(self.make(&Type::Leaf(Leaf::Int), d.min(1), false));
                        Expr::WithElement(list, i, boxed(self.make(element, d, true)))
                    }
                }
            }
        }
    }

    fn used(&self, field: usize) -> bool {
        self.sts.sorts.constructors.iter().any(|own| own.contains(&field))
    }

    /// A part of a value that has a part of this type, sometimes.
    fn selection(&mut self, ty: &Type, d: usize) -> Option<Expr> {
        if !self.random.chance(45) {
            return None;
        }
        let sorts = self.sts.sorts.clone();
        let mut found: Vec<Expr> = Vec::new();
        for f in 0..sorts.record.len() {
            if d > 0 && sorts.record[f] == *ty {
                found.push(Expr::Select(boxed(self.make(&Type::Record, d - 1, false)), f));
            }
        }
        for f in 0..sorts.fields.len() {
            if d > 0 && sorts.fields[f] == *ty && self.used(f) {
                found.push(Expr::SelectData(boxed(self.make(&Type::Data, d - 1, false)), f));
            }
        }
        for list in self.lists() {
            let Type::List(_, element) = &list else { continue };
            if **element == *ty && d > 0 {
                let of = boxed(self.make(&list, d - 1, false));
                found.push(match self.random.below(3) {
                    0 => Expr::Head(of, ty.clone()),
                    1 => Expr::Last(of, ty.clone()),
                    _ => {
                        let i = self.make(&Type::Leaf(Leaf::Int), 1, false);
                        Expr::At(of, boxed(i), ty.clone())
                    }
                });
            }
        }
        if d > 0 && self.random.chance(20) && !matches!(ty, Type::List(..)) {
            let of = boxed(self.make(&Type::Data, d - 1, false));
            let cases = sorts.constructors.iter().map(|own| {
                let before = self.bound.len();
                self.bound.extend(own.iter().map(|&f| sorts.fields[f].clone()));
                let case = self.make(ty, d - 1, false);
                self.bound.truncate(before);
                case
            });
            found.push(Expr::Match(of, cases.collect()));
        }
        if found.is_empty() { None } else { Some(self.random.pick(&found).clone()) }
    }

    fn truth(&mut self, d: usize) -> Expr {
        let bool = Type::Leaf(Leaf::Bool);
        match self.random.below(10) {
            0 => Expr::Not(boxed(self.make(&bool, d, false))),
            1 => Expr::And(boxed(self.make(&bool, d, false)), boxed(self.make(&bool, d, false))),
            2 => Expr::Or(boxed(self.make(&bool, d, false)), boxed(self.make(&bool, d, false))),
            3 | 4 => {
                let c = self.random.below(self.sts.sorts.constructors.len());
                Expr::Is(boxed(self.make(&Type::Data, d, false)), c)
            }
            5 => {
                let int = Type::Leaf(Leaf::Int);
                Expr::Less(boxed(self.make(&int, d, false)), boxed(self.make(&int, d, false)))
            }
            6 => {
                let lists = self.lists();
                if lists.is_empty() {
                    return self.value(&bool);
                }
                let list = self.random.pick(&lists).clone();
                let Type::List(_, element) = &list else { return self.value(&bool) };
                let of = boxed(self.make(&list, d, false));
                Expr::Contains(of, boxed(self.make(element, d, true)))
            }
            7 if d > 0 && self.bound.len() < 3 => {
                let ty = if self.random.chance(50) { Type::Record } else { Type::Data };
                self.bound.push(ty.clone());
                let body = boxed(self.make(&bool, d - 1, false));
                self.bound.pop();
                if self.random.chance(50) { Expr::Exists(ty, body) } else { Expr::Forall(ty, body) }
            }
            _ => {
                let mut types = vec![Type::Record, Type::Data, Type::Leaf(Leaf::Int)];
                types.extend(self.lists());
                types.extend(self.sts.variables.iter().map(|v| v.ty.clone()));
                let ty = self.random.pick(&types).clone();
                let a = boxed(self.make(&ty, d, false));
                Expr::Equal(a, boxed(self.make(&ty, d, true)))
            }
        }
    }

    fn step(&mut self) -> Step {
        let parameter = self.random.chance(45).then(|| self.any_type());
        let parameter = parameter.filter(|ty| self.sts.sorts.domain(ty).len() <= 30);
        self.parameter.clone_from(&parameter);
        let bool = Type::Leaf(Leaf::Bool);
        let guard = self.random.chance(55).then(|| self.make(&bool, 3, false));
        let mut effect = Vec::new();
        let mut free = Vec::new();
        for i in 0..self.sts.variables.len() {
            let Variable { ty, is_input } = self.sts.variables[i].clone();
            if is_input {
                continue;
            }
            let open = !self.sts.sorts.has_ints(&ty);
            match self.random.below(10) {
                0 | 1 => {}
                2 if open => effect.push(Part::Any(i)),
                3 | 4 if open => free.push(i),
                5 | 6 if matches!(ty, Type::Record | Type::Data) => {
                    let types = match ty {
                        Type::Record => self.sts.sorts.record.clone(),
                        _ => self.sts.sorts.fields.clone(),
                    };
                    let field = self.random.below(types.len());
                    if ty == Type::Data && !self.used(field) {
                        continue;
                    }
                    let is_open = ty == Type::Record && !self.sts.sorts.has_ints(&types[field]);
                    if is_open && self.random.chance(30) {
                        effect.push(Part::AnyField(i, field));
                    } else {
                        let e = self.make(&types[field], 2, true);
                        effect.push(Part::AssignField(i, field, e));
                    }
                }
                _ => {
                    let depth = self.random.between(1, 3) as usize;
                    effect.push(Part::Assign(i, self.make(&ty, depth, true)));
                }
            }
        }
        if !free.is_empty() {
            self.next.clone_from(&free);
            let i = *self.random.pick(&free);
            let ty = self.sts.variables[i].ty.clone();
            let e = match self.random.below(3) {
                0 => self.make(&bool, 3, false),
                1 if ty == Type::Record => {
                    let field = self.random.below(self.sts.sorts.record.len());
                    let of = self.sts.sorts.record[field].clone();
                    let now = self.make(&of, 2, true);
                    Expr::Equal(boxed(Expr::Select(boxed(Expr::Next(i)), field)), boxed(now))
                }
                _ => {
                    let e = self.make(&ty, 2, true);
                    Expr::Equal(boxed(Expr::Next(i)), boxed(e))
                }
            };
            effect.push(Part::Constraint(e));
            self.next.clear();
        }
        self.parameter = None;
        Step { parameter, guard, effect }
    }

    fn claim(&mut self) -> Claim {
        let bool = Type::Leaf(Leaf::Bool);
        let p = self.make(&bool, 3, false);
        match self.random.below(12) {
            0..=2 => Claim::Always(p),
            3 | 4 => Claim::Reachable(p),
            5 => Claim::Eventually(p),
            6 => Claim::Recurs(p),
            7 => Claim::LeadsTo(p, self.make(&bool, 3, false)),
            8 => Claim::Possible(p),
            9 => Claim::ExistsAlways(p),
            10 => Claim::NoDeadlock,
            _ => Claim::InfiniteRun,
        }
    }
}

pub(super) fn generate(random: &mut Random) -> Sts {
    let sorts = Sorts { record: Vec::new(), fields: Vec::new(), constructors: Vec::new() };
    let sts = Sts {
        sorts,
        variables: Vec::new(),
        start: Vec::new(),
        steps: Vec::new(),
        claims: Vec::new(),
    };
    let mut maker = Maker { random, sts, bound: Vec::new(), parameter: None, next: Vec::new() };
    for _ in 0..maker.random.between(1, 2) {
        let leaf = maker.leaf();
        maker.sts.sorts.record.push(leaf);
    }
    for _ in 0..maker.random.between(1, 3) {
        let leaf = maker.leaf();
        maker.sts.sorts.fields.push(leaf);
    }
    match maker.random.below(4) {
        0 => maker.sts.sorts.record[0] = Type::Data,
        1 => maker.sts.sorts.fields[0] = Type::Record,
        _ => {}
    }
    for _ in 0..maker.random.between(2, 3) {
        let count = maker.sts.sorts.fields.len();
        let own = (0..count).filter(|_| maker.random.chance(45)).collect();
        maker.sts.sorts.constructors.push(own);
    }
    let mut room = ROOM;
    for i in 0..maker.random.between(1, 2) {
        let ty = maker.any_type();
        let size = maker.sts.sorts.domain(&ty).len();
        if i == 0 || size <= room {
            room /= size.clamp(1, room.max(1));
            let is_input = i > 0 && maker.random.chance(30);
            maker.sts.variables.push(Variable { ty, is_input });
        }
    }
    for i in 0..maker.sts.variables.len() {
        let Variable { ty, is_input } = maker.sts.variables[i].clone();
        let needed = maker.sts.sorts.has_ints(&ty);
        if !is_input && (needed || maker.random.chance(60)) {
            let domain = maker.sts.sorts.domain(&ty);
            let value = Expr::Value(maker.random.pick(&domain).clone());
            maker.sts.start.push(Expr::Equal(boxed(Expr::Var(i)), boxed(value)));
        }
    }
    if maker.random.chance(25) {
        let e = maker.make(&Type::Leaf(Leaf::Bool), 2, false);
        maker.sts.start.push(e);
    }
    for _ in 0..maker.random.between(1, 4) {
        let step = maker.step();
        maker.sts.steps.push(step);
    }
    for _ in 0..maker.random.between(2, 5) {
        let claim = maker.claim();
        maker.sts.claims.push(claim);
        // Claims without a name occur once at most.
        let last = maker.sts.claims.len() - 1;
        let name = maker.sts.claim_name(last);
        if (0..last).any(|i| maker.sts.claim_name(i) == name) {
            maker.sts.claims.pop();
        }
    }
    maker.sts
}
