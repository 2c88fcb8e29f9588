//! Constrained Horn clauses with one predicate over the variables. All queries of a file are
//! decided together, except in the dialect with a query for each claim.

use std::fmt::Write as _;

use crate::encode::flat::Flat;
use crate::text::printer::{Printer, Style};
use crate::text::smtlib::{SmtLib, sort_name};
use crate::{HornDialect, Refusal};
use gander_term::{Pool, Sort, TermId};

/// The SMT-LIB style with `let` for definitions.
struct Lets(SmtLib);

impl Style for Lets {
    fn write(&self, pool: &Pool, t: TermId, args: &[&str]) -> Result<String, Refusal> {
        self.0.write(pool, t, args)
    }

    fn define(&self, name: &str, _: &Pool, _: Sort, body: &str) -> String {
        format!("(let (({name} {body}))\n")
    }

    fn prefix(&self) -> String {
        "d.".to_string()
    }
}

fn formula(style: &Lets, pool: &Pool, t: TermId) -> Result<String, Refusal> {
    let mut printer = Printer::new(style);
    let body = printer.text(pool, t)?;
    let lets = printer.take_definitions();
    let count = lets.matches("(let ((d.").count();
    Ok(format!("{lets}{body}{}", ")".repeat(count)))
}

pub(crate) fn write(flat: &mut Flat, dialect: HornDialect) -> Result<String, Refusal> {
    let invariants = flat.invariants();
    let mut text = flat.header(";;");
    text.push_str(&flat.opposites(";;"));
    let style = Lets(SmtLib::of(flat));
    let (first, relation) = (flat.first(), flat.relation());
    let (mut sorts, mut now, mut later) = (Vec::new(), Vec::new(), Vec::new());
    let (mut names, mut nexts, mut domain, mut next_domain) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for v in &flat.vars {
        let sort = sort_name(&flat.pool, v.sort)?;
        now.push(format!("({} {sort})", v.name));
        later.push(format!("({}.next {sort})", v.name));
        names.push(v.name.clone());
        nexts.push(format!("{}.next", v.name));
        domain.extend(SmtLib::domain(&flat.pool, v.sort, &v.name));
        next_domain.extend(SmtLib::domain(&flat.pool, v.sort, &format!("{}.next", v.name)));
        sorts.push(sort);
    }
    for (name, sort, _) in &flat.params {
        later.push(format!("({name} {})", sort_name(&flat.pool, *sort)?));
        next_domain.extend(SmtLib::domain(&flat.pool, *sort, name));
    }
    let applied = |names: &[String]| {
        if names.is_empty() { "state".to_string() } else { format!("(state {})", names.join(" ")) }
    };
    let quantified = |names: &[String], matrix: String| {
        if names.is_empty() {
            matrix
        } else {
            format!("(forall ({})\n  {matrix})", names.join(" "))
        }
    };
    let both = |parts: &[String]| {
        if parts.len() == 1 { parts[0].clone() } else { format!("(and {})", parts.join(" ")) }
    };
    let assert = match dialect {
        HornDialect::Standard => {
            let _ =
                writeln!(text, "(set-logic HORN)\n(declare-fun state ({}) Bool)", sorts.join(" "));
            "assert"
        }
        HornDialect::Rules => {
            let _ =
                writeln!(text, "(declare-rel state ({}))\n(declare-rel error ())", sorts.join(" "));
            "rule"
        }
        HornDialect::Queries => {
            let _ = writeln!(text, "(declare-rel state ({}))", sorts.join(" "));
            for (name, _) in &invariants {
                let _ = writeln!(text, "(declare-rel {name} ())");
            }
            "rule"
        }
    };
    domain.push(formula(&style, &flat.pool, first)?);
    let matrix = format!("(=> {}\n  {})", both(&domain), applied(&names));
    let _ = writeln!(text, "({assert} {})", quantified(&now, matrix));
    next_domain.insert(0, applied(&names));
    next_domain.push(formula(&style, &flat.pool, relation)?);
    let matrix = format!("(=> {}\n  {})", both(&next_domain), applied(&nexts));
    let all: Vec<String> = now.iter().chain(&later).cloned().collect();
    let _ = writeln!(text, "({assert} {})", quantified(&all, matrix));
    for (name, p) in &invariants {
        let (name, p) = (name.as_str(), *p);
        let _ = writeln!(text, ";; {name}");
        let free = flat.pool.free_symbols(&[p]);
        let (mut bound, mut here) = (now.clone(), vec![applied(&names)]);
        for (param, sort, symbol) in &flat.params {
            if free.contains(symbol) {
                bound.push(format!("({param} {})", sort_name(&flat.pool, *sort)?));
                here.extend(SmtLib::domain(&flat.pool, *sort, param));
            }
        }
        let here = both(&here);
        let matrix = match dialect {
            HornDialect::Standard => format!("(=> {here}\n  {})", formula(&style, &flat.pool, p)?),
            HornDialect::Rules => {
                format!("(=> (and {here}\n  (not {})) error)", formula(&style, &flat.pool, p)?)
            }
            HornDialect::Queries => {
                format!("(=> (and {here}\n  (not {})) {name})", formula(&style, &flat.pool, p)?)
            }
        };
        let _ = writeln!(text, "({assert} {})", quantified(&bound, matrix));
    }
    match dialect {
        HornDialect::Standard => text.push_str("(check-sat)\n"),
        HornDialect::Rules => text.push_str("(query error :print-certificate true)\n"),
        HornDialect::Queries => {
            for (name, _) in &invariants {
                let _ = writeln!(text, "(query {name})");
            }
        }
    }
    Ok(text)
}
