//! Declarations of an instance: definitions, variables, elements of arrays, instances of other
//! modules.
//!
//! An array is represented by its elements, variables named like `a[0]`.

use super::elaborate::{Array, Define, Elaborate, Entity, Instance};
use super::syntax::*;
use super::values::{self, Value};
use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::span::Span;
use crate::diagnostics::suggest::nearest;
use crate::machine::Variable;
use gander_system::Numerals;
use gander_term::{IBig, Sort, TermId, Width};
use rustc_hash::FxHashMap;

const MAX_INSTANCES: usize = 10_000;

/// The number of variables of a file with arrays.
const MAX_ELEMENTS: usize = 10_000;

impl Elaborate<'_> {
    /// Declares the names of a module, including instances of other modules.
    pub(super) fn declare(&mut self, i: usize) -> Option<()> {
        let module = self.instances[i].module;
        for (name, value) in &module.defines {
            let define = Define { instance: i, value: *value, span: name.span, made: None };
            self.defines.push(define);
            self.name(i, name, Entity::Define(self.defines.len() - 1));
        }
        for (role, name, of) in &module.vars {
            let full = format!("{}{}", self.instances[i].prefix, name.text);
            match of {
                Type::Module(of, args) => {
                    let Some(target) = self.file.modules.iter().find(|m| m.name == of.text) else {
                        let near =
                            nearest(&of.text, self.file.modules.iter().map(|m| m.name.as_str()));
                        let message = format!("there is no module `{}`", of.text);
                        self.report
                            .add(Diagnostic::new(Code::E0701, of.span, message).did_you_mean(near));
                        return None;
                    };
                    if self.instances.len() >= MAX_INSTANCES {
                        self.report.error(
                            Code::E0704,
                            of.span,
                            "there are too many module instances",
                        );
                        return None;
                    }
                    if target.params.len() != args.len() {
                        let message =
                            format!("`{}` takes {} arguments", of.text, target.params.len());
                        self.report.error(Code::E0304, of.span, message);
                        return None;
                    }
                    let at = self.instances.len();
                    let prefix = format!("{full}.");
                    self.instances.push(Instance {
                        prefix,
                        module: target,
                        names: FxHashMap::default(),
                    });
                    for (param, arg) in target.params.iter().zip(args) {
                        self.defines.push(Define {
                            instance: i,
                            value: *arg,
                            span: param.span,
                            made: None,
                        });
                        let define = self.defines.len() - 1;
                        self.name(at, param, Entity::Define(define));
                    }
                    self.name(i, name, Entity::Instance(at));
                }
                _ => {
                    let entity = self.entity(i, *role, &name.text, name.span, of)?;
                    self.name(i, name, entity);
                }
            }
        }
        Some(())
    }

    /// Declares a variable, or the elements of an array, each also under its own name.
    fn entity(
        &mut self,
        i: usize,
        role: Role,
        name: &str,
        span: Span,
        of: &Type,
    ) -> Option<Entity> {
        let Type::Array(low, high, inner) = of else {
            return self.variable(i, role, name, span, of);
        };
        let (low, high) = (self.bound(i, *low)?, self.bound(i, *high)?);
        let size = usize::try_from(&high - &low + IBig::ONE).unwrap_or(0);
        if size == 0 || size + self.variables.len() > MAX_ELEMENTS {
            let message = format!(
                "an array over {low}..{high} is not possible here: at most {MAX_ELEMENTS} elements are"
            );
            self.report.error(Code::E0204, span, message);
            return None;
        }
        let mut elements = Vec::new();
        for k in 0..size {
            let text = format!("{name}[{}]", &low + IBig::from(k));
            // The parser limits the nesting of types.
            let element = self.entity(i, role, &text, span, inner)?;
            self.name(i, &Name { text, span }, element.clone());
            elements.push(element);
        }
        self.arrays.push(Array { low, elements });
        Some(Entity::Array(self.arrays.len() - 1))
    }

    fn variable(
        &mut self,
        i: usize,
        role: Role,
        name: &str,
        span: Span,
        of: &Type,
    ) -> Option<Entity> {
        let full = format!("{}{name}", self.instances[i].prefix);
        let (sort, signed) = self.sort(of, span)?;
        let current = self.pool.declare_fresh(&full, sort);
        let next =
            (role != Role::Input).then(|| self.pool.declare_fresh(&format!("next({full})"), sort));
        let x = self.pool.var(current);
        if let Some(next) = next {
            let primed = self.pool.var(next);
            self.primes.insert(current, primed);
            if role == Role::Frozen {
                let kept = self.pool.eq(primed, x);
                self.machine.trans.push(kept);
            }
        }
        let numerals = if signed { Numerals::Signed } else { Numerals::Unsigned };
        let variable = Variable { name: full, sort, current, next, numerals, span: Some(span) };
        self.variables.push((variable, signed));
        self.domain(i, of, x);
        Some(Entity::Var(self.variables.len() - 1))
    }

    /// A constant bound of an array.
    fn bound(&mut self, i: usize, e: Expr) -> Option<IBig> {
        let t = self.term(i, e, Sort::Int)?;
        match self.pool.as_constant(t) {
            Some(gander_term::Value::Int(i)) => Some(i),
            _ => {
                self.report.error(
                    Code::E0204,
                    self.file.span(e),
                    "the bounds of an array are constants",
                );
                None
            }
        }
    }

    /// The value of an array.
    pub(super) fn array(&mut self, a: usize) -> Value {
        let Array { low, elements } = self.arrays[a].clone();
        let mut values = Vec::new();
        for element in elements {
            values.push(match element {
                Entity::Array(inner) => self.array(inner),
                Entity::Var(v) => {
                    let (symbol, signed) = (self.variables[v].0.current, self.variables[v].1);
                    Value::Term(self.pool.var(symbol), signed)
                }
                Entity::Define(_) | Entity::Instance(_) => continue,
            });
        }
        Value::Array(low, values)
    }

    fn name(&mut self, i: usize, name: &Name, entity: Entity) {
        if let Some((_, first)) =
            self.instances[i].names.insert(name.text.clone(), (entity, name.span))
        {
            let diagnostic = Diagnostic::new(
                Code::E0201,
                name.span,
                format!("`{}` is declared twice", name.text),
            );
            self.report.add(diagnostic.label(first, "first declared here"));
        }
    }

    fn sort(&mut self, of: &Type, span: Span) -> Option<(Sort, bool)> {
        Some(match of {
            Type::Boolean => (Sort::Bool, false),
            Type::Integer | Type::Range(..) => (Sort::Int, false),
            Type::Real => (Sort::Real, false),
            Type::Word(signed, bits) => match Width::new(*bits) {
                Some(width) => (Sort::BitVec(width), *signed),
                None => {
                    self.report.error(
                        Code::E0204,
                        span,
                        format!("a word of {bits} bits is not possible"),
                    );
                    return None;
                }
            },
            Type::Values(values) => {
                let numbers = values.iter().filter(|v| v.parse::<IBig>().is_ok()).count();
                if numbers == values.len() {
                    return Some((Sort::Int, false));
                }
                if numbers > 0 {
                    self.report.error(
                        Code::E0510,
                        span,
                        "a type with both numbers and symbols is not supported",
                    );
                    return None;
                }
                let name = format!("{{{}}}", values.join(", "));
                let variants: Vec<&str> = values.iter().map(String::as_str).collect();
                match self.pool.declare_enum(&name, &variants) {
                    Ok(id) => (Sort::Enum(id), false),
                    Err(_) => {
                        self.report.error(Code::E0201, span, "a value is listed twice");
                        return None;
                    }
                }
            }
            Type::Module(..) | Type::Array(..) => return None,
        })
    }

    /// Adds the constraint of a variable's type on every state.
    fn domain(&mut self, i: usize, of: &Type, x: TermId) {
        let variable = Value::Term(x, false);
        let allowed = match of {
            Type::Range(low, high) => {
                let (Some(low), Some(high)) =
                    (self.term(i, *low, Sort::Int), self.term(i, *high, Sort::Int))
                else {
                    return;
                };
                Value::Range(low, high)
            }
            Type::Values(values) if self.pool.sort(x) == Sort::Int => {
                let ints = values.iter().filter_map(|v| v.parse::<IBig>().ok());
                let ints: Vec<IBig> = ints.collect();
                Value::Set(ints.into_iter().map(|v| Value::Term(self.pool.int(v), false)).collect())
            }
            _ => return,
        };
        if let Ok(inside) = values::equal(&mut self.pool, &variable, &allowed) {
            self.machine.invariant.push(inside);
        }
    }
}
