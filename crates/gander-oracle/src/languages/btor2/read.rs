//! A strict reader of BTOR2, by the rules that the parser of btor2tools enforces.
//!
//! Ids increase from line to line; an argument is the id of an earlier line with a value, possibly
//! negated; sorts match. A state has at most one `init`, whose value has a smaller id than the
//! state and depends on no input, and at most one `next`. A constant fits its sort and ends its
//! line. The last line ends with a newline, too.

use std::collections::HashMap;

use super::{Btor2, Property, State};
use crate::languages::expression::{Expr, Op, Sort};

/// Limits the size of evaluated expressions, as trees.
const SIZE: usize = 20_000;

/// The content of a line.
#[derive(Clone, Debug)]
enum Line {
    Sort(Sort),
    /// Arrays of arrays.
    OtherSort,
    /// The value, whether it is a constant, and whether it depends on an input; the value is `None`
    /// if it is too large to be evaluated.
    Value {
        sort: Option<Sort>,
        value: Option<Expr>,
        is_constant: bool,
        has_input: bool,
    },
    /// `init`, `bad` and so on, which are no arguments of other lines.
    Directive,
}

/// The result of reading a file.
pub(super) struct Read {
    /// The model; `None` if it has parts that cannot be evaluated.
    pub model: Option<Btor2>,
    /// Names of the properties.
    pub names: Vec<String>,
}

fn number(word: Option<&&str>, what: &str) -> Result<i64, String> {
    let word = word.ok_or_else(|| format!("{what} is missing"))?;
    if word.len() > 1 && word.starts_with('0') || !word.chars().all(|c| c.is_ascii_digit()) {
        return Err(format!("`{word}` is no {what}"));
    }
    word.parse().map_err(|_| format!("`{word}` is no {what}"))
}

fn id(word: Option<&&str>) -> Result<i64, String> {
    match number(word, "id")? {
        0 => Err("an id is not 0".to_string()),
        n => Ok(n),
    }
}

/// True if values of the sort can be evaluated.
fn is_small(sort: Sort) -> bool {
    match sort {
        Sort::Bits { width, .. } => width <= 12,
        Sort::Array { index, element } => index <= 2 && element <= 3,
        _ => false,
    }
}

/// Checks a constant and returns its value; 0 if it has 60 bits or more, as such values are not
/// evaluated.
fn constant(tag: &str, width: u32, word: &str) -> Result<i64, String> {
    let bad = || format!("`{word}` does not fit into {width} bits");
    let (digits, base) = match tag {
        "const" => (word, 2),
        "consth" => (word, 16),
        _ => (word.strip_prefix('-').unwrap_or(word), 10),
    };
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(base)) {
        return Err(format!("`{word}` is no constant"));
    }
    if tag == "const" && digits.len() != width as usize {
        return Err(bad());
    }
    if width >= 60 {
        let digits = digits.trim_start_matches('0');
        let top = digits.chars().next().and_then(|c| c.to_digit(base)).unwrap_or(0);
        let bits = (digits.len() * 4).saturating_sub(top.leading_zeros() as usize - 28);
        return if tag == "consth" && bits > width as usize { Err(bad()) } else { Ok(0) };
    }
    let value = i64::from_str_radix(digits, base).map_err(|_| bad())?;
    let most = 1i64.checked_shl(width).filter(|_| width < 62).unwrap_or(i64::MAX);
    if tag == "constd" && word.starts_with('-') {
        return if value <= most / 2 { Ok((most - value) % most) } else { Err(bad()) };
    }
    if value < most { Ok(value) } else { Err(bad()) }
}

struct Reader {
    lines: HashMap<i64, Line>,
    last: i64,
    model: Btor2,
    states: HashMap<i64, usize>,
    names: Vec<String>,
    whole: bool,
}

impl Reader {
    fn sort(&self, word: Option<&&str>) -> Result<Option<Sort>, String> {
        match self.lines.get(&id(word)?) {
            Some(Line::Sort(sort)) => Ok(Some(*sort)),
            Some(Line::OtherSort) => Ok(None),
            _ => Err("no such sort".to_string()),
        }
    }

    /// An argument: its sort, its value if it can be evaluated, whether it depends on an input.
    fn argument(&self, word: Option<&&str>) -> Result<(Option<Sort>, Option<Expr>, bool), String> {
        let word = word.ok_or("an argument is missing")?;
        let (negated, digits) = word.strip_prefix('-').map_or((false, *word), |rest| (true, rest));
        match self.lines.get(&id(Some(&digits))?) {
            Some(Line::Value { sort, value, has_input, .. }) => {
                let mut value = value.clone();
                if negated {
                    if matches!(sort, Some(Sort::Array { .. })) {
                        return Err("a negated array".to_string());
                    }
                    value = value.zip(*sort).map(|(v, sort)| Expr::Op(sort, Op::BvNot, vec![v]));
                }
                Ok((*sort, value, *has_input))
            }
            Some(_) => Err(format!("{digits} is no value")),
            None => Err(format!("{digits} is not defined")),
        }
    }

    fn line(&mut self, words: &[&str]) -> Result<(), String> {
        let number = id(words.first())?;
        if number <= self.last {
            return Err(format!("id {number} is not larger than those before"));
        }
        self.last = number;
        let tag = *words.get(1).ok_or("no tag")?;
        let rest = &words[2..];
        let mut used = 0;
        let made = match tag {
            "sort" => {
                used = if rest.first() == Some(&"array") { 3 } else { 2 };
                self.declared_sort(rest)?
            }
            "input" | "state" => {
                used = 1;
                let sort = self.sort(rest.first())?;
                let place = self.model.states.len();
                self.states.insert(number, place);
                let is_input = tag == "input";
                // If a sort cannot be evaluated, the model cannot.
                self.whole &= sort.is_some_and(is_small);
                let known = sort.filter(|s| is_small(*s)).unwrap_or(Sort::bits(1));
                self.model.states.push(State { sort: known, is_input, init: None, next: None });
                let value = sort.filter(|s| is_small(*s)).map(|sort| Expr::Var(sort, place));
                Line::Value { sort, value, is_constant: false, has_input: is_input }
            }
            "const" | "constd" | "consth" | "zero" | "one" | "ones" => {
                let sort = self.sort(rest.first())?;
                if matches!(sort, Some(Sort::Array { .. })) {
                    return Err("a constant array".to_string());
                }
                used = if tag.starts_with("const") { 2 } else { 1 };
                let width = sort.map_or(60, Sort::width);
                let value = match tag {
                    "zero" => 0,
                    "one" => 1,
                    "ones" => (1 << width.min(60)) - 1,
                    _ => constant(tag, width, rest.get(1).ok_or("the constant is missing")?)?,
                };
                if tag.starts_with("const") && rest.len() > 2 && !rest[2].starts_with(';') {
                    return Err("something follows a constant".to_string());
                }
                let value = sort.filter(|s| is_small(*s)).map(|sort| Expr::Const(sort, value));
                Line::Value { sort, value, is_constant: true, has_input: false }
            }
            "init" | "next" => {
                used = 3;
                self.assignment(tag, rest)?;
                Line::Directive
            }
            "bad" | "constraint" | "fair" | "output" => {
                used = 1;
                let (sort, value, _) = self.argument(rest.first())?;
                if tag != "output" && sort.is_some_and(|s| s != Sort::bits(1)) {
                    return Err(format!("{tag} of more than one bit"));
                }
                let Some(value) = value else {
                    self.whole = false;
                    self.lines.insert(number, Line::Directive);
                    return self.name(tag, rest, used);
                };
                match tag {
                    "bad" => self.model.properties.push(Property::Bad(value)),
                    "constraint" => self.model.constraints.push(value),
                    "fair" => self.model.fair.push(value),
                    _ => {}
                }
                Line::Directive
            }
            "justice" => {
                let count = self::number(rest.first(), "number")? as usize;
                used = 1 + count;
                let mut conditions = Vec::new();
                for k in 0..count {
                    let (sort, value, _) = self.argument(rest.get(1 + k))?;
                    if sort.is_some_and(|s| s != Sort::bits(1)) {
                        return Err("justice of more than one bit".to_string());
                    }
                    self.whole &= value.is_some();
                    conditions.extend(value);
                }
                if count == 0 {
                    return Err("justice of nothing".to_string());
                }
                self.model.properties.push(Property::Justice(conditions));
                Line::Directive
            }
            _ => self.operator(tag, rest, &mut used)?,
        };
        self.lines.insert(number, made);
        self.name(tag, rest, used)
    }

    /// Reads what follows the arguments: a symbol, a comment, or nothing.
    fn name(&mut self, tag: &str, rest: &[&str], used: usize) -> Result<(), String> {
        let behind = &rest[used.min(rest.len())..];
        let symbol = behind.first().filter(|w| !w.starts_with(';'));
        if symbol.is_some() && behind.get(1).is_some_and(|w| !w.starts_with(';')) {
            return Err("something follows the symbol".to_string());
        }
        if tag == "bad" || tag == "justice" {
            let count = self.names.len();
            self.names.push(symbol.map_or_else(|| format!("{tag} {count}"), |s| s.to_string()));
        }
        Ok(())
    }

    fn declared_sort(&self, rest: &[&str]) -> Result<Line, String> {
        match rest.first() {
            Some(&"bitvec") => match number(rest.get(1), "width")? {
                0 => Err("no bits".to_string()),
                width => Ok(Line::Sort(Sort::bits(u32::try_from(width).map_err(|_| "too wide")?))),
            },
            Some(&"array") => match (self.sort(rest.get(1))?, self.sort(rest.get(2))?) {
                (
                    Some(Sort::Bits { width: index, .. }),
                    Some(Sort::Bits { width: element, .. }),
                ) => Ok(Line::Sort(Sort::Array { index, element })),
                _ => Ok(Line::OtherSort),
            },
            _ => Err("no such kind of sorts".to_string()),
        }
    }

    fn assignment(&mut self, tag: &str, rest: &[&str]) -> Result<(), String> {
        let sort = self.sort(rest.first())?;
        let state = id(rest.get(1))?;
        let (value_sort, value, has_input) = self.argument(rest.get(2))?;
        let place = match self.states.get(&state) {
            Some(place) if !self.model.states[*place].is_input => *place,
            _ => return Err(format!("{state} is no state")),
        };
        let word = rest.get(2).ok_or("the value is missing")?;
        let value_id = id(Some(&word.trim_start_matches('-')))?;
        let state_sort = match self.lines.get(&state) {
            Some(Line::Value { sort, .. }) => *sort,
            _ => None,
        };
        let (Some(sort), Some(state_sort), Some(value_sort)) = (sort, state_sort, value_sort)
        else {
            self.whole = false;
            return Ok(());
        };
        if sort != state_sort {
            return Err("the sort is not that of the state".to_string());
        }
        let mut value = value;
        if value_sort != sort {
            // An array may be initialised with one element everywhere.
            let Sort::Array { index, element } = sort else {
                return Err("sorts differ".to_string());
            };
            let is_constant =
                matches!(self.lines.get(&value_id), Some(Line::Value { is_constant: true, .. }));
            if tag != "init" || value_sort != Sort::bits(element) || !is_constant {
                return Err("sorts differ".to_string());
            }
            value = value.map(|e| {
                let v = e.value(&[], &[]);
                Expr::Const(sort, (0..1 << index).fold(0, |all, _| all << element | v))
            });
        }
        self.whole &= value.is_some();
        let target = &mut self.model.states[place];
        if tag == "next" {
            if target.next.is_some() {
                return Err("a second next".to_string());
            }
            target.next = value;
            return Ok(());
        }
        if value_id > state {
            return Err("the initial value is defined behind its state".to_string());
        }
        if has_input {
            return Err("the initial value depends on an input".to_string());
        }
        if target.init.is_some() {
            return Err("a second init".to_string());
        }
        target.init = value;
        Ok(())
    }

    fn operator(&mut self, tag: &str, rest: &[&str], used: &mut usize) -> Result<Line, String> {
        let sort = self.sort(rest.first())?;
        let (op, count) = operator(tag).ok_or_else(|| format!("no tag `{tag}`"))?;
        let mut arguments = Vec::new();
        let (mut known, mut has_input) = (sort.is_some(), false);
        for k in 0..count {
            let (sort, value, input) = self.argument(rest.get(1 + k))?;
            has_input |= input;
            known &= sort.is_some();
            arguments.push((sort, value));
        }
        *used = 1 + count;
        let mut extra = Vec::new();
        let extras = match op {
            Op::Extract(..) => 2,
            Op::ZeroExtend(_) | Op::SignExtend(_) => 1,
            _ => 0,
        };
        for _ in 0..extras {
            extra.push(number(rest.get(*used), "number")?);
            *used += 1;
        }
        let (Some(sort), true) = (sort, known) else {
            self.whole = false;
            return Ok(Line::Value { sort, value: None, is_constant: false, has_input });
        };
        let sorts: Vec<Sort> = arguments.iter().filter_map(|a| a.0).collect();
        let op = match op {
            Op::Extract(..) => {
                if extra[1] > extra[0] {
                    return Err("the slice ends before it begins".to_string());
                }
                Op::Extract(extra[0] as u32, extra[1] as u32)
            }
            Op::ZeroExtend(_) => Op::ZeroExtend(extra[0] as u32),
            Op::SignExtend(_) => Op::SignExtend(extra[0] as u32),
            other => other,
        };
        if !fits(op, sort, &sorts) {
            return Err(format!("sorts do not fit {tag}"));
        }
        let values: Option<Vec<Expr>> = arguments.into_iter().map(|a| a.1).collect();
        let value = values
            .filter(|_| is_small(sort))
            .map(|v| Expr::Op(sort, op, v))
            .filter(|e| e.size() <= SIZE);
        self.whole &= value.is_some();
        Ok(Line::Value { sort: Some(sort), value, is_constant: false, has_input })
    }
}

/// True if an operator with arguments of these sorts has a value of this sort.
fn fits(op: Op, sort: Sort, sorts: &[Sort]) -> bool {
    let bit = Sort::bits(1);
    let is_bits = |s: &Sort| matches!(s, Sort::Bits { .. });
    match op {
        Op::Ite => sorts[0] == bit && sorts[1] == sorts[2] && sorts[1] == sort,
        Op::Eq | Op::Neq => sort == bit && sorts[0] == sorts[1],
        Op::Read => matches!(sorts[0], Sort::Array { index, element }
            if sorts[1] == Sort::bits(index) && sort == Sort::bits(element)),
        Op::Write => matches!(sorts[0], Sort::Array { index, element }
            if sorts[1] == Sort::bits(index) && sorts[2] == Sort::bits(element) && sort == sorts[0]),
        _ if !sorts.iter().all(is_bits) || !is_bits(&sort) => false,
        Op::Implies | Op::Iff => sort == bit && sorts.iter().all(|s| *s == bit),
        Op::BvRedand | Op::BvRedor | Op::BvRedxor => sort == bit,
        Op::Concat => sorts[0].width().checked_add(sorts[1].width()) == Some(sort.width()),
        Op::Extract(high, low) => high < sorts[0].width() && sort.width() == high - low + 1,
        Op::ZeroExtend(n) | Op::SignExtend(n) => {
            sorts[0].width().checked_add(n) == Some(sort.width())
        }
        _ if is_comparison(op) => sort == bit && sorts[0] == sorts[1],
        _ => sorts.iter().all(|s| *s == sort),
    }
}

fn is_comparison(op: Op) -> bool {
    use Op::{
        Saddo, Sdivo, Sge, Sgt, Sle, Slt, Smulo, Ssubo, Uaddo, Uge, Ugt, Ule, Ult, Umulo, Usubo,
    };
    matches!(
        op,
        Ult | Ule
            | Ugt
            | Uge
            | Slt
            | Sle
            | Sgt
            | Sge
            | Uaddo
            | Saddo
            | Usubo
            | Ssubo
            | Umulo
            | Smulo
            | Sdivo
    )
}

/// The operator of a tag, and its number of arguments.
fn operator(tag: &str) -> Option<(Op, usize)> {
    const ONE: [Op; 7] =
        [Op::BvNot, Op::BvNeg, Op::BvInc, Op::BvDec, Op::BvRedand, Op::BvRedor, Op::BvRedxor];
    const TWO: [Op; 40] = [
        Op::Implies,
        Op::Iff,
        Op::Eq,
        Op::Neq,
        Op::BvAnd,
        Op::BvOr,
        Op::BvXor,
        Op::BvNand,
        Op::BvNor,
        Op::BvXnor,
        Op::BvAdd,
        Op::BvSub,
        Op::BvMul,
        Op::BvUdiv,
        Op::BvUrem,
        Op::BvSdiv,
        Op::BvSrem,
        Op::BvSmod,
        Op::BvShl,
        Op::BvLshr,
        Op::BvAshr,
        Op::BvRol,
        Op::BvRor,
        Op::Ult,
        Op::Ule,
        Op::Ugt,
        Op::Uge,
        Op::Slt,
        Op::Sle,
        Op::Sgt,
        Op::Sge,
        Op::Uaddo,
        Op::Saddo,
        Op::Usubo,
        Op::Ssubo,
        Op::Umulo,
        Op::Smulo,
        Op::Sdivo,
        Op::Concat,
        Op::Read,
    ];
    let with = |ops: &[Op], count: usize| {
        ops.iter().find(|op| super::word(**op) == tag).map(|op| (*op, count))
    };
    with(&ONE, 1)
        .or_else(|| with(&TWO, 2))
        .or_else(|| with(&[Op::Ite, Op::Write], 3))
        .or_else(|| with(&[Op::Extract(0, 0), Op::ZeroExtend(0), Op::SignExtend(0)], 1))
}

/// Reads a file.
pub(super) fn read(text: &str) -> Result<Read, String> {
    let model = Btor2 {
        states: Vec::new(),
        constraints: Vec::new(),
        fair: Vec::new(),
        properties: Vec::new(),
    };
    let (lines, states) = (HashMap::new(), HashMap::new());
    let mut reader = Reader { lines, last: 0, model, states, names: Vec::new(), whole: true };
    for (at, line) in text.lines().enumerate() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.is_empty() || words[0].starts_with(';') {
            continue;
        }
        reader.line(&words).map_err(|e| format!("line {}: {e}", at + 1))?;
    }
    if text.lines().last().is_some_and(|l| !l.trim().is_empty()) && !text.ends_with('\n') {
        return Err("the last line has no end".to_string());
    }
    let bits: u32 = reader.model.states.iter().map(|s| s.sort.width()).sum();
    Ok(Read { model: (reader.whole && bits <= 9).then_some(reader.model), names: reader.names })
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn what_btor2tools_rejects_is_rejected() {
        let good = "1 sort bitvec 2\n2 constd 1 -2\n3 state 1\n4 init 1 3 2\n5 inc 1 3\n6 next 1 3 5\n7 redand 1 3\n";
        let good = good
            .replace("7 redand 1 3\n", "7 sort bitvec 1\n8 redand 7 3\n9 bad 8 full ; a comment\n");
        assert!(read(&good).is_ok_and(|r| r.names == ["full"] && r.model.is_some()));
        for (from, to) in [
            ("constd 1 -2", "constd 1 -3"),
            ("constd 1 -2", "constd 1 4"),
            ("constd 1 -2", "constd 1 -2 junk"),
            ("constd 1 -2", "const 1 111"),
            ("2 constd", "1 constd"),
            ("6 next 1 3 5", "6 next 1 3 5\n6 next 1 3 5"),
            ("4 init 1 3 2", "4 init 1 3 2\n5 init 1 3 2"),
            ("8 redand 7 3", "8 redand 1 3"),
            ("9 bad 8 full", "9 bad 3 full"),
            ("9 bad 8 full", "9 bad 8 full of junk"),
            ("9 bad 8", "9 bad 6"),
            ("5 inc 1 3", "5 inc 1 4"),
            ("5 inc 1 3", "5 ink 1 3"),
        ] {
            assert!(read(&good.replace(from, to)).is_err(), "{to}");
        }
    }
}
