//! Parses tokens to syntax: modules and their sections.

use gander_runtime::check_cancelled;

use super::lexer::{Kind, Token, lex};
use super::syntax::*;
use crate::diagnostics::codes::Code;
use crate::diagnostics::report::Report;
use crate::diagnostics::span::Span;

const SECTIONS: &[&str] = &[
    "MODULE",
    "VAR",
    "IVAR",
    "FROZENVAR",
    "DEFINE",
    "ASSIGN",
    "INIT",
    "TRANS",
    "INVAR",
    "INVARSPEC",
    "LTLSPEC",
    "CTLSPEC",
    "SPEC",
    "FAIRNESS",
    "JUSTICE",
    "COMPASSION",
    "CONSTANTS",
    "ISA",
    "FUN",
    "COMPUTE",
    "PSLSPEC",
    "PRED",
    "MIRROR",
    "ITYPE",
];

/// The nesting depth of arrays of arrays.
const MAX_DIMENSIONS: usize = 8;

pub(super) struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    pub(super) report: &'a mut Report,
    pub(super) file: File,
    /// True if `G` and `F` are operators here.
    pub(super) temporal: bool,
}

/// Parses a file.
pub(super) fn parse(text: &str, report: &mut Report) -> File {
    let tokens = lex(text, report);
    let mut parser = Parser { text, tokens, at: 0, report, file: File::default(), temporal: false };
    while parser.kind() != Kind::End && !parser.report.is_full() {
        if parser.section().is_none() {
            parser.recover();
        }
    }
    parser.file
}

impl Parser<'_> {
    pub(super) fn kind(&self) -> Kind {
        self.tokens[self.at].kind
    }

    pub(super) fn span(&self) -> Span {
        self.tokens[self.at].span
    }

    pub(super) fn text(&self) -> &str {
        &self.text[self.span().range()]
    }

    pub(super) fn bump(&mut self) {
        check_cancelled();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
    }

    pub(super) fn at(&self, sign: &str) -> bool {
        matches!(self.kind(), Kind::Sign(s) if s == sign)
    }

    pub(super) fn eat(&mut self, sign: &str) -> bool {
        let found = self.at(sign);
        if found {
            self.bump();
        }
        found
    }

    pub(super) fn need(&mut self, sign: &str) -> Option<()> {
        if self.eat(sign) {
            return Some(());
        }
        self.expected(&format!("`{sign}`"));
        None
    }

    pub(super) fn expected(&mut self, what: &str) {
        let found = if self.kind() == Kind::End {
            "the end of the file".to_string()
        } else {
            format!("`{}`", self.text())
        };
        self.report.error(Code::E0110, self.span(), format!("expected {what}, but found {found}"));
    }

    pub(super) fn unsupported(&mut self, span: Span, what: &str) {
        self.report.error(Code::E0510, span, format!("{what} is not supported"));
    }

    fn at_section(&self) -> bool {
        self.kind() == Kind::End || (self.kind() == Kind::Ident && SECTIONS.contains(&self.text()))
    }

    fn recover(&mut self) {
        while !self.at_section() {
            self.bump();
        }
    }

    fn name(&mut self) -> Option<Name> {
        if self.kind() != Kind::Ident || self.at_section() {
            self.expected("a name");
            return None;
        }
        let name = Name { text: self.text().to_string(), span: self.span() };
        self.bump();
        Some(name)
    }

    fn module(&mut self) -> Option<&mut Module> {
        if self.file.modules.is_empty() {
            self.expected("`MODULE`");
            return None;
        }
        self.file.modules.last_mut()
    }

    fn section(&mut self) -> Option<()> {
        let span = self.span();
        let word = self.text().to_string();
        if !self.at_section() {
            self.expected("a section like `VAR` or `TRANS`");
            self.bump();
            return None;
        }
        self.bump();
        match word.as_str() {
            "MODULE" => self.module_head(),
            "VAR" => self.variables(Role::State),
            "IVAR" => self.variables(Role::Input),
            "FROZENVAR" => self.variables(Role::Frozen),
            "DEFINE" => self.defines(),
            "ASSIGN" => self.assigns(),
            "INIT" | "TRANS" | "INVAR" => {
                let formula = self.expression()?;
                self.eat(";");
                let module = self.module()?;
                match word.as_str() {
                    "INIT" => module.init.push(formula),
                    "TRANS" => module.trans.push(formula),
                    _ => module.invar.push(formula),
                }
                Some(())
            }
            "INVARSPEC" => self.specification(Spec::Invariant, span),
            "LTLSPEC" => self.specification(Spec::Linear, span),
            "CTLSPEC" | "SPEC" => self.specification(Spec::Branching, span),
            other => {
                self.unsupported(span, &format!("the section `{other}`"));
                None
            }
        }
    }

    /// The name and the parameters of a module, after `MODULE`.
    fn module_head(&mut self) -> Option<()> {
        let name = self.name()?;
        if self.file.modules.iter().any(|m| m.name == name.text) {
            let message = format!("the module `{}` is declared twice", name.text);
            self.report.error(Code::E0201, name.span, message);
        }
        let mut module = Module { name: name.text, ..Module::default() };
        if self.eat("(") {
            while !self.at(")") {
                module.params.push(self.name()?);
                if !self.eat(",") {
                    break;
                }
            }
            self.need(")")?;
        }
        self.file.modules.push(module);
        Some(())
    }

    /// Declarations of variables, up to the next section.
    fn variables(&mut self, role: Role) -> Option<()> {
        while !self.at_section() {
            let name = self.name()?;
            self.need(":")?;
            let of = self.sort(0)?;
            self.need(";")?;
            self.module()?.vars.push((role, name, of));
        }
        Some(())
    }

    /// Definitions, up to the next section.
    fn defines(&mut self) -> Option<()> {
        while !self.at_section() {
            let name = self.name()?;
            self.need(":=")?;
            let value = self.expression()?;
            self.need(";")?;
            self.module()?.defines.push((name, value));
        }
        Some(())
    }

    /// Assignments, up to the next section.
    fn assigns(&mut self) -> Option<()> {
        while !self.at_section() {
            let after = self.tokens[(self.at + 1).min(self.tokens.len() - 1)].kind;
            let when = match (self.text(), after) {
                ("init", Kind::Sign("(")) => When::Init,
                ("next", Kind::Sign("(")) => When::Next,
                _ => When::Now,
            };
            if when != When::Now {
                self.bump();
                self.bump();
            }
            let mut name = self.name()?;
            self.element_name(&mut name)?;
            if when != When::Now {
                self.need(")")?;
            }
            self.need(":=")?;
            let value = self.expression()?;
            self.need(";")?;
            self.module()?.assigns.push((when, name, value));
        }
        Some(())
    }

    /// A property, after the keyword at `keyword`.
    fn specification(&mut self, spec: Spec, keyword: Span) -> Option<()> {
        let mut name = None;
        if self.text() == "NAME" {
            self.bump();
            name = Some(self.name()?);
            self.need(":=")?;
        }
        self.temporal = spec != Spec::Invariant;
        let formula = self.expression();
        self.temporal = false;
        let formula = formula?;
        // Up to the last token, which may be a bracket.
        let end = self.tokens[self.at.saturating_sub(1)].span;
        self.eat(";");
        let span = keyword.cover(self.file.span(formula)).cover(end);
        let same = |(_, other, ..): &(Spec, Option<Name>, Expr, Span)| {
            name.as_ref().zip(other.as_ref()).is_some_and(|(a, b)| a.text == b.text)
        };
        if self.module()?.specs.iter().any(same)
            && let Some(name) = &name
        {
            let message = format!("two properties have the name `{}`", name.text);
            self.report.error(Code::E0201, name.span, message);
        }
        self.module()?.specs.push((spec, name, formula, span));
        Some(())
    }

    /// Appends the path to an array element to a name, for example `.next[2]` in `cells.next[2]`.
    fn element_name(&mut self, name: &mut Name) -> Option<()> {
        while self.at("[") || self.at(".") {
            if self.eat(".") {
                let inner = self.name()?;
                name.text.push('.');
                name.text.push_str(&inner.text);
                continue;
            }
            self.bump();
            let minus = if self.eat("-") { "-" } else { "" };
            if self.kind() != Kind::Number {
                self.unsupported(
                    self.span(),
                    "an assignment to an element whose index is not a number",
                );
                return None;
            }
            name.text.push_str(&format!("[{minus}{}]", self.text()));
            self.bump();
            self.need("]")?;
        }
        Some(())
    }

    fn sort(&mut self, depth: usize) -> Option<Type> {
        let span = self.span();
        if self.eat("{") {
            let mut values = Vec::new();
            loop {
                let minus = if self.eat("-") { "-" } else { "" };
                if !matches!(self.kind(), Kind::Ident | Kind::Number) {
                    self.expected("a value");
                    return None;
                }
                values.push(format!("{minus}{}", self.text()));
                self.bump();
                if !self.eat(",") {
                    break;
                }
            }
            self.need("}")?;
            return Some(Type::Values(values));
        }
        if self.kind() != Kind::Ident {
            return self.range_type();
        }
        let word = self.text().to_string();
        let is_range =
            self.tokens[(self.at + 1).min(self.tokens.len() - 1)].kind == Kind::Sign("..");
        if is_range {
            return self.range_type();
        }
        self.bump();
        match word.as_str() {
            "boolean" => Some(Type::Boolean),
            "integer" => Some(Type::Integer),
            "real" => Some(Type::Real),
            "unsigned" | "signed" | "word" => {
                if word != "word" {
                    if self.text() != "word" {
                        self.expected("`word`");
                        return None;
                    }
                    self.bump();
                }
                self.need("[")?;
                let Ok(bits) = self.text().parse() else {
                    self.expected("a number of bits");
                    return None;
                };
                self.bump();
                self.need("]")?;
                Some(Type::Word(word == "signed", bits))
            }
            "array" => {
                if depth >= MAX_DIMENSIONS {
                    self.unsupported(
                        span,
                        &format!("an array of more than {MAX_DIMENSIONS} dimensions"),
                    );
                    return None;
                }
                let Some(Type::Range(low, high)) = self.range_type() else {
                    self.unsupported(span, "an array over something else than a range");
                    return None;
                };
                if self.text() != "of" {
                    self.expected("`of`");
                    return None;
                }
                self.bump();
                let inner = self.sort(depth + 1)?;
                if let Type::Module(name, _) = &inner {
                    let span = name.span;
                    self.unsupported(span, "an array of module instances");
                    return None;
                }
                Some(Type::Array(low, high, Box::new(inner)))
            }
            "process" | "clock" | "string" => {
                self.unsupported(span, &format!("the type `{word}`"));
                None
            }
            _ => {
                let mut args = Vec::new();
                if self.eat("(") {
                    while !self.at(")") {
                        args.push(self.expression()?);
                        if !self.eat(",") {
                            break;
                        }
                    }
                    self.need(")")?;
                }
                Some(Type::Module(Name { text: word, span }, args))
            }
        }
    }

    fn range_type(&mut self) -> Option<Type> {
        let at = self.span();
        let first = self.expression()?;
        // The expression is `low..high`.
        if let Some((Part::Range(low, high), _)) = self.file.parts.get(first.root as usize).cloned()
        {
            let low_first = first.first;
            return Some(Type::Range(
                Expr { root: low, first: low_first },
                Expr { root: high, first: low + 1 },
            ));
        }
        self.report.error(Code::E0204, at, "expected a type");
        None
    }
}
