//! Operators: their operand sorts, and messages for wrong ones.

use super::data::{Ty, Val};
use super::{Checker, Place, bits};
use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::sts::format::one_line;
use crate::sts::syntax::{SyntaxKind as K, SyntaxNode};
use crate::sts::tree::{self, Leaf};
use gander_term::{Op, RBig, Sort, TermId, Value};

impl Checker {
    fn wrong_operand(&mut self, operand: &SyntaxNode, operator: &str, wanted: &str, found: Sort) {
        if self.place == Place::Guard
            && operator == "->"
            && let Some(token) =
                tree::ident(operand).filter(|token| self.graph.nodes.contains_key(token.text()))
        {
            return self.target_after_guard(token.text(), tree::token_span(&token));
        }
        let found = self.a_sort(found);
        let diagnostic = Diagnostic::new(
            Code::E0302,
            tree::span(operand),
            format!("`{operator}` takes {wanted}, but this is {found}"),
        )
        .here(format!("this is {found}"));
        self.report(diagnostic);
    }

    /// An operand that must be a bool.
    pub(super) fn bool_operand(&mut self, operand: &SyntaxNode, operator: &str) -> Option<TermId> {
        let term = self.expression(operand, Some(Sort::Bool))?;
        let sort = self.builder.pool.sort(term);
        if sort == Sort::Bool {
            return Some(term);
        }
        self.wrong_operand(operand, operator, "truth values", sort);
        None
    }

    fn bools(&mut self, operands: &[SyntaxNode], operator: &str) -> Option<Vec<TermId>> {
        // Translate all operands before giving up: each may have its own error.
        let terms: Vec<Option<TermId>> =
            operands.iter().map(|operand| self.bool_operand(operand, operator)).collect();
        terms.into_iter().collect()
    }

    /// Operands that must be numbers; ints become reals if one operand is a real.
    pub(super) fn numbers(
        &mut self,
        operands: &[SyntaxNode],
        operator: &str,
    ) -> Option<Vec<TermId>> {
        let terms = self.operands_with_quotients(operands);
        let mut good = true;
        for (operand, term) in operands.iter().zip(&terms) {
            good &= term.is_some_and(|term| self.is_number(operand, operator, term));
        }
        let terms: Vec<TermId> = terms.into_iter().collect::<Option<_>>().filter(|_| good)?;
        Some(self.one_sort(terms))
    }

    /// Operands that are compared or added: `1/3` is a real if another operand is.
    fn operands_with_quotients(&mut self, operands: &[SyntaxNode]) -> Vec<Option<TermId>> {
        let plain: Vec<Option<Option<TermId>>> = operands
            .iter()
            .map(|operand| {
                (!tree::is_literal_quotient(operand)).then(|| self.expression(operand, None))
            })
            .collect();
        let pool = &self.builder.pool;
        let real = plain.iter().flatten().flatten().any(|term| pool.sort(*term) == Sort::Real);
        let broken = plain.iter().flatten().any(Option::is_none);
        let expected = (real || broken).then_some(Sort::Real);
        plain
            .into_iter()
            .zip(operands)
            .map(|(term, operand)| term.unwrap_or_else(|| self.expression(operand, expected)))
            .collect()
    }

    fn number(&mut self, operand: &SyntaxNode, operator: &str) -> Option<TermId> {
        let term = self.expression(operand, None)?;
        self.is_number(operand, operator, term).then_some(term)
    }

    fn is_number(&mut self, operand: &SyntaxNode, operator: &str, term: TermId) -> bool {
        let sort = self.builder.pool.sort(term);
        let good =
            sort.is_numeric() || matches!(sort, Sort::BitVec(_)) && bits::has_operator(operator);
        if !good {
            self.wrong_operand(operand, operator, "numbers", sort);
        }
        good
    }

    /// Converts ints to reals if one term is a real, and numbers to bit-vectors if one is a
    /// bit-vector.
    fn one_sort(&mut self, mut terms: Vec<TermId>) -> Vec<TermId> {
        self.among_bits(&mut terms);
        let pool = &self.builder.pool;
        if terms.iter().any(|term| pool.sort(*term) == Sort::Real) {
            for term in &mut terms {
                if self.builder.pool.sort(*term) == Sort::Int {
                    *term = self.as_real(*term);
                }
            }
        }
        terms
    }

    pub(super) fn negation(&mut self, node: &SyntaxNode) -> Option<TermId> {
        let operand = tree::expression(node)?;
        let term = self.number(&operand, "-")?;
        match self.builder.pool.as_constant(term) {
            Some(Value::Int(value)) => Some(self.pool().constant(Value::Int(-value))),
            Some(Value::Real(value)) => Some(self.pool().constant(Value::Real(-value))),
            _ => self.arithmetic(Op::Neg, &[term], "-", tree::span(node)),
        }
    }

    /// `a ^ b ^ c` is `a ^ (b ^ c)`.
    pub(super) fn power(&mut self, node: &SyntaxNode) -> Option<TermId> {
        let operands: Vec<SyntaxNode> = tree::expressions(node).collect();
        let terms: Vec<Option<TermId>> =
            operands.iter().map(|operand| self.number(operand, "^")).collect();
        let terms: Vec<TermId> = terms.into_iter().collect::<Option<_>>()?;
        let mut result = *terms.last()?;
        for (at, base) in terms.iter().enumerate().rev().skip(1) {
            let exponent = &operands[at + 1];
            if self.builder.pool.sort(result) != Sort::Int {
                let diagnostic = Diagnostic::new(
                    Code::E0305,
                    tree::span(exponent),
                    "an exponent must be an int, but this is a real",
                )
                .help("only whole powers can be computed exactly");
                self.report(diagnostic);
                return None;
            }
            let negative = matches!(self.builder.pool.as_constant(result), Some(Value::Int(value)) if value < 0.into());
            if negative {
                let diagnostic = Diagnostic::new(
                    Code::E0305,
                    tree::span(exponent),
                    "an exponent cannot be negative",
                )
                .help("write the reciprocal: `1 / x ^ 2`");
                self.report(diagnostic);
                return None;
            }
            result = self.pool().mk(Op::Pow, &[*base, result]).ok()?;
        }
        Some(result)
    }

    /// A chain of `* / % div mod`, from left to right; runs of `*` become one product.
    pub(super) fn product(&mut self, node: &SyntaxNode, expected: Option<Sort>) -> Option<TermId> {
        let operands: Vec<SyntaxNode> = tree::expressions(node).collect();
        let green = node.green();
        let operators: Vec<Leaf> = tree::leaves(&green, tree::span(node).start).collect();
        let terms: Vec<Option<TermId>> = operands
            .iter()
            .enumerate()
            .map(|(at, operand)| {
                let operator = &operators[at.saturating_sub(1).min(operators.len() - 1)];
                self.number(operand, operator.text)
            })
            .collect();
        let mut terms: Vec<TermId> = terms.into_iter().collect::<Option<_>>()?;
        if expected == Some(Sort::Real) && tree::is_literal_quotient(node) {
            terms[0] = self.as_real(terms[0]);
            if let [numerator, denominator] = terms[..]
                && let (Some(Value::Real(a)), Some(Value::Int(b))) = (
                    self.builder.pool.as_constant(numerator),
                    self.builder.pool.as_constant(denominator),
                )
                && b != 0.into()
            {
                return Some(self.pool().constant(Value::Real(a / RBig::from(b))));
            }
        }
        let mut result = terms[0];
        let mut at = 0;
        while at < operators.len() {
            let operator = &operators[at];
            match operator.kind {
                K::Star => {
                    let run =
                        operators[at..].iter().take_while(|token| token.kind == K::Star).count();
                    let mut factors = vec![result];
                    factors.extend(&terms[at + 1..at + 1 + run]);
                    let factors = self.one_sort(factors);
                    result = self.arithmetic(Op::Mul, &factors, "*", operator.span)?;
                    at += run;
                }
                K::Slash => {
                    result = self.quotient(
                        result,
                        terms[at + 1],
                        operator,
                        (&operands[0], &operands[at + 1]),
                    )?;
                    at += 1;
                }
                _ => {
                    result = self.int_quotient(
                        result,
                        terms[at + 1],
                        operator,
                        (&operands[0], &operands[at + 1]),
                    )?;
                    at += 1;
                }
            }
        }
        Some(result)
    }

    fn quotient(
        &mut self,
        a: TermId,
        b: TermId,
        operator: &Leaf,
        sides: (&SyntaxNode, &SyntaxNode),
    ) -> Option<TermId> {
        let pool = &self.builder.pool;
        for (term, side) in [(a, sides.0), (b, sides.1)] {
            if let sort @ Sort::BitVec(_) = pool.sort(term) {
                self.wrong_operand(side, operator.text, "reals", sort);
                return None;
            }
        }
        if pool.sort(a) == Sort::Int && pool.sort(b) == Sort::Int {
            let (left, right) = (one_line(sides.0, 30), one_line(sides.1, 30));
            let exact = if sides.0.kind() == K::Literal {
                format!("{left}.0 / {right}")
            } else {
                format!("to_real({left}) / {right}")
            };
            let diagnostic = Diagnostic::new(
                Code::E0303,
                operator.span,
                "`/` divides reals, but both sides are ints",
            )
            .help(format!(
                "write `{left} div {right}` for the whole quotient, or `{exact}` for the exact one"
            ));
            self.report(diagnostic);
            return None;
        }
        let terms = self.one_sort(vec![a, b]);
        self.pool().mk(Op::Div, &terms).ok()
    }

    fn int_quotient(
        &mut self,
        a: TermId,
        b: TermId,
        operator: &Leaf,
        sides: (&SyntaxNode, &SyntaxNode),
    ) -> Option<TermId> {
        let op = if operator.text == "div" { Op::IntDiv } else { Op::Mod };
        for (term, side) in [(a, sides.0), (b, sides.1)] {
            let sort = self.builder.pool.sort(term);
            if sort != Sort::Int {
                self.wrong_operand(side, operator.text, "ints", sort);
                return None;
            }
        }
        self.pool().mk(op, &[a, b]).ok()
    }

    /// A chain of `+ - ++`; runs of `+` become one sum.
    pub(super) fn sum(&mut self, node: &SyntaxNode) -> Option<TermId> {
        let operands: Vec<SyntaxNode> = tree::expressions(node).collect();
        let green = node.green();
        let operators: Vec<Leaf> = tree::leaves(&green, tree::span(node).start).collect();
        if operators.iter().any(|token| token.kind == K::PlusPlus) {
            return self.concatenation(&operands, &operators);
        }
        let terms = self.operands_with_quotients(&operands);
        let first = terms.first().copied().flatten();
        if first.is_some_and(|first| self.builder.pool.sort(first) == Sort::String)
            && operators.iter().all(|token| token.kind == K::Plus)
        {
            let span = operators[0].span;
            self.report(
                Diagnostic::new(Code::E0302, span, "strings are joined with `++`, not `+`")
                    .help("write `++`")
                    .fix(span, "++"),
            );
            return None;
        }
        let mut good = true;
        for (at, term) in terms.iter().enumerate() {
            let operator = &operators[at.saturating_sub(1).min(operators.len() - 1)];
            good &= term.is_some_and(|term| self.is_number(&operands[at], operator.text, term));
        }
        let terms: Vec<TermId> = terms.into_iter().collect::<Option<_>>().filter(|_| good)?;
        let terms = self.one_sort(terms);
        let mut result = terms[0];
        let mut at = 0;
        while at < operators.len() {
            if operators[at].kind == K::Minus {
                result =
                    self.arithmetic(Op::Sub, &[result, terms[at + 1]], "-", operators[at].span)?;
                at += 1;
            } else {
                let run = operators[at..].iter().take_while(|token| token.kind == K::Plus).count();
                let mut parts = vec![result];
                parts.extend(&terms[at + 1..at + 1 + run]);
                result = self.arithmetic(Op::Add, &parts, "+", operators[at].span)?;
                at += run;
            }
        }
        Some(result)
    }

    fn concatenation(&mut self, operands: &[SyntaxNode], operators: &[Leaf]) -> Option<TermId> {
        if let Some(other) = operators.iter().find(|token| token.kind != K::PlusPlus) {
            let diagnostic = Diagnostic::new(
                Code::E0302,
                other.span,
                format!(
                    "`{}` is for numbers and `++` for strings; they cannot be mixed",
                    other.text
                ),
            );
            self.report(diagnostic);
            return None;
        }
        let mut terms = Vec::new();
        let mut good = true;
        for operand in operands {
            match self.expression(operand, Some(Sort::String)) {
                Some(term) if self.builder.pool.sort(term) == Sort::String => terms.push(term),
                Some(term) => {
                    let sort = self.builder.pool.sort(term);
                    self.wrong_operand(operand, "++", "strings", sort);
                    good = false;
                }
                None => good = false,
            }
        }
        if good { self.pool().mk(Op::Concat, &terms).ok() } else { None }
    }

    /// `a < b`, and `a <= b < c` as a conjunction.
    pub(super) fn comparison(&mut self, node: &SyntaxNode) -> Option<TermId> {
        let operands: Vec<SyntaxNode> = tree::expressions(node).collect();
        let green = node.green();
        let operators: Vec<Leaf> = tree::leaves(&green, tree::span(node).start).collect();
        let upward = |token: &Leaf| matches!(token.kind, K::Less | K::LessEq);
        let mixed = operators.iter().find(|token| upward(token) != upward(&operators[0]));
        if let Some(token) = mixed {
            let diagnostic = Diagnostic::new(
                Code::E0309,
                token.span,
                "a chain of comparisons must point in one direction",
            )
            .label(operators[0].span, "this one points the other way")
            .help("write two comparisons joined by `and`");
            self.report(diagnostic);
            return None;
        }
        let first = operators.first()?.text;
        let terms = self.numbers(&operands, first)?;
        let mut parts = Vec::new();
        for (operator, pair) in operators.iter().zip(terms.windows(2)) {
            let op = match operator.kind {
                K::Less => Op::Lt,
                K::LessEq => Op::Le,
                K::Greater => Op::Gt,
                _ => Op::Ge,
            };
            parts.push(self.arithmetic(op, pair, operator.text, operator.span)?);
        }
        Some(self.pool().and(parts))
    }

    /// `a == b`, `a != b`, and `a == b == c` as a conjunction.
    pub(super) fn equality(&mut self, node: &SyntaxNode) -> Option<TermId> {
        let operands: Vec<SyntaxNode> = tree::expressions(node).collect();
        let green = node.green();
        let operators: Vec<Leaf> = tree::leaves(&green, tree::span(node).start).collect();
        let values = self.of_one_sort(&operands, &operators)?;
        let truths = self.ty(&values[0]) == Ty::Sort(Sort::Bool);
        let differs = operators.iter().any(|token| token.kind == K::NotEq);
        if operators.len() > 1 && (truths || differs) {
            let why = if truths { "truth values" } else { "`!=`" };
            let diagnostic = Diagnostic::new(
                Code::E0309,
                operators[1].span,
                format!("it is not clear what this chain of {why} means"),
            )
            .help("use parentheses, or join comparisons with `and`");
            self.report(diagnostic);
            return None;
        }
        let mut parts = Vec::new();
        for (operator, pair) in operators.iter().zip(values.windows(2)) {
            let equal = match (&pair[0], &pair[1]) {
                (Val::Term(a), Val::Term(b)) => self.pool().mk(Op::Eq, &[*a, *b]).ok()?,
                (a, b) => match self.equal_values(a, b) {
                    Some(equal) => equal,
                    None => {
                        let ty = self.ty(a);
                        self.no_equality(&ty, operator.span);
                        return None;
                    }
                },
            };
            parts.push(if operator.kind == K::NotEq {
                self.pool().mk(Op::Not, &[equal]).ok()?
            } else {
                equal
            });
        }
        Some(self.pool().and(parts))
    }

    /// Operands of any sort that must have the same sort.
    fn of_one_sort(&mut self, operands: &[SyntaxNode], operators: &[Leaf]) -> Option<Vec<Val>> {
        // A value of several enumerations, a list or `1/3` gets its sort from another operand.
        let clear = |operand: &SyntaxNode| {
            !self.is_ambiguous(operand) && !tree::is_literal_quotient(operand)
        };
        let leader = operands.iter().position(clear).unwrap_or(0);
        let lead = self.value(&operands[leader], None);
        if let Some(value @ Val::Parts(..)) = lead {
            let ty = self.ty(&value);
            let mut values = Vec::new();
            for (at, operand) in operands.iter().enumerate() {
                values.push(match at == leader {
                    true => Some(value.clone()),
                    false => self.typed(operand, &ty),
                });
            }
            return values.into_iter().collect();
        }
        let lead = lead.and_then(|lead| lead.term());
        let expected = lead.map(|lead| self.builder.pool.sort(lead));
        let mut terms = Vec::new();
        for (at, operand) in operands.iter().enumerate() {
            terms.push(if at == leader {
                lead
            } else if lead.is_none() && self.is_ambiguous(operand) {
                None
            } else {
                self.expression(operand, expected)
            });
        }
        let terms: Vec<TermId> = terms.into_iter().collect::<Option<_>>()?;
        let terms = self.one_sort(terms);
        for (at, pair) in terms.windows(2).enumerate() {
            let (a, b) = (self.builder.pool.sort(pair[0]), self.builder.pool.sort(pair[1]));
            if a != b {
                let (left, right) = (self.a_sort(a), self.a_sort(b));
                let diagnostic = Diagnostic::new(
                    Code::E0302,
                    operators[at].span,
                    format!(
                        "`{}` compares two values of one sort, but these are {left} and {right}",
                        operators[at].text
                    ),
                )
                .label(tree::span(&operands[at]), format!("this is {left}"))
                .label(tree::span(&operands[at + 1]), format!("this is {right}"));
                self.report(diagnostic);
                return None;
            }
        }
        Some(terms.into_iter().map(Val::Term).collect())
    }

    fn is_ambiguous(&self, operand: &SyntaxNode) -> bool {
        let node = tree::without_parentheses(operand);
        if node.kind() == K::ListExpr {
            return true;
        }
        let name = (node.kind() == K::NameExpr).then(|| tree::ident(&node)).flatten();
        let kind =
            name.and_then(|name| self.names.get(name.text()).map(|found| found.kind.clone()));
        matches!(kind, Some(super::names::NameKind::Values(values)) if values.len() > 1)
    }

    pub(super) fn junction(&mut self, node: &SyntaxNode) -> Option<TermId> {
        let operands: Vec<SyntaxNode> = tree::expressions(node).collect();
        let (op, word) = if node.kind() == K::AndExpr { (Op::And, "and") } else { (Op::Or, "or") };
        let terms = self.bools(&operands, word)?;
        self.pool().mk(op, &terms).ok()
    }

    /// `a -> b -> c` is `a -> (b -> c)`.
    pub(super) fn implication(&mut self, node: &SyntaxNode) -> Option<TermId> {
        let operands: Vec<SyntaxNode> = tree::expressions(node).collect();
        let terms = self.bools(&operands, "->")?;
        let (last, before) = terms.split_last()?;
        let mut result = *last;
        for premise in before.iter().rev() {
            result = self.pool().mk(Op::Implies, &[*premise, result]).ok()?;
        }
        Some(result)
    }

    /// `a <-> b <-> c` is `(a <-> b) <-> c`.
    pub(super) fn equivalence(&mut self, node: &SyntaxNode) -> Option<TermId> {
        let operands: Vec<SyntaxNode> = tree::expressions(node).collect();
        let terms = self.bools(&operands, "<->")?;
        let (first, rest) = terms.split_first()?;
        let mut result = *first;
        for term in rest {
            result = self.pool().mk(Op::Eq, &[result, *term]).ok()?;
        }
        Some(result)
    }

    /// `if c then a else if d then b else e`
    pub(super) fn if_expression(
        &mut self,
        node: &SyntaxNode,
        expected: Option<&Ty>,
    ) -> Option<Val> {
        let parts: Vec<SyntaxNode> = tree::expressions(node).collect();
        let (last, cases) = parts.split_last()?;
        let mut expected = expected.cloned();
        let mut conditions = Vec::new();
        let mut nodes = Vec::new();
        for case in cases.chunks_exact(2) {
            conditions.push(self.bool_operand(&case[0], "if"));
            nodes.push(case[1].clone());
        }
        nodes.push(last.clone());
        let is_list = |node: &SyntaxNode| tree::without_parentheses(node).kind() == K::ListExpr;
        let mut values: Vec<Option<Val>> = vec![None; nodes.len()];
        // A list gets its sort from another case.
        for late in [false, true] {
            for (node, value) in nodes.iter().zip(&mut values) {
                if late == is_list(node) {
                    *value = self.value(node, expected.as_ref());
                }
                if let (None, Some(known @ Val::Parts(..))) = (&expected, &*value) {
                    expected = Some(self.ty(known));
                }
            }
        }
        let conditions: Vec<TermId> = conditions.into_iter().collect::<Option<_>>()?;
        let values: Vec<Val> = values.into_iter().collect::<Option<_>>()?;
        if let Some(ty) = values.iter().find(|v| v.term().is_none()).map(|v| self.ty(v)) {
            let typed: Vec<Option<Val>> = values
                .into_iter()
                .zip(&nodes)
                .map(|(value, node)| self.expect_type(value, &ty, node))
                .collect();
            let mut typed: Vec<Val> = typed.into_iter().collect::<Option<_>>()?;
            let mut result = typed.pop()?;
            for (condition, value) in conditions.iter().zip(&typed).rev() {
                result = self.either(*condition, value, &result);
            }
            return Some(result);
        }
        let terms: Vec<TermId> = values.iter().filter_map(Val::term).collect();
        let terms = self.one_sort(terms);
        let sort = self.builder.pool.sort(terms[0]);
        for (term, node) in terms.iter().zip(&nodes) {
            let found = self.builder.pool.sort(*term);
            if found != sort {
                let (left, right) = (self.a_sort(sort), self.a_sort(found));
                let diagnostic = Diagnostic::new(
                    Code::E0302,
                    tree::span(node),
                    format!("both sides of `if` have one sort, but these are {left} and {right}"),
                )
                .label(tree::span(&nodes[0]), format!("this is {left}"))
                .here(format!("this is {right}"));
                self.report(diagnostic);
                return None;
            }
        }
        let (otherwise, values) = terms.split_last()?;
        let mut result = *otherwise;
        for (condition, value) in conditions.iter().zip(values).rev() {
            result = self.pool().mk(Op::Ite, &[*condition, *value, result]).ok()?;
        }
        Some(Val::Term(result))
    }
}
