//! Contracts: `(*@contract … *)`, `con … noc` and `contract C(…) returns (…); let … tel`.

use super::{K, Parser};
use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::{Diagnostic, Label};
use crate::diagnostics::span::Span;
use crate::lustre::ast::{Contract, ContractClause, ContractItem, Name};
use crate::lustre::lexer::unescape;

impl Parser<'_> {
    /// The contracts after the header of a node, joined.
    pub(super) fn node_contracts(&mut self) -> Option<Contract> {
        let mut found: Option<Contract> = None;
        loop {
            let start = self.start();
            let block = self.at(K::OpenContract);
            if !block && !self.at_keyword("con") {
                return found;
            }
            let opened = self.span(0);
            self.bump();
            let items = self.contract_items();
            let (closed, what) = if block {
                (self.eat(K::CloseAnnotation), "`*)`")
            } else {
                (self.eat_word("noc"), "`noc`")
            };
            if !closed {
                let diagnostic = Diagnostic {
                    code: Code::E0115,
                    ..self.expected(&format!("an item of a contract, or {what}"))
                };
                let diagnostic = Diagnostic {
                    primary: Label { span: self.span(0), ..diagnostic.primary },
                    ..diagnostic
                };
                self.report(diagnostic.label(opened, "the contract begins here"));
                while !self.at(K::End)
                    && !matches!(self.word(0), "let" | "var" | "noc" | "node" | "function")
                {
                    if self.eat(K::CloseAnnotation) {
                        break;
                    }
                    self.bump();
                }
                self.eat_word("noc");
            }
            // `*)` may be followed by a semicolon.
            self.eat(K::Semicolon);
            let span = self.since(start);
            match &mut found {
                Some(contract) => {
                    contract.items.extend(items);
                    contract.span = contract.span.cover(span);
                }
                None => found = Some(Contract { items, span }),
            }
        }
    }

    /// At a word that starts an item of a contract, and is not a variable being defined.
    pub(super) fn at_contract_item(&self) -> bool {
        let word = self.word(0);
        matches!(word, "const" | "var")
            || matches!(
                word,
                "assume"
                    | "guarantee"
                    | "weakly"
                    | "mode"
                    | "import"
                    | "decreases"
                    | "assumption_vars"
            ) && !matches!(self.kind(1), K::Equals | K::Comma)
    }

    /// Parses items as long as there are any.
    pub(super) fn contract_items(&mut self) -> Vec<ContractItem> {
        let mut items = Vec::new();
        loop {
            let before = self.at;
            match self.contract_item(&mut items) {
                Some(true) => {}
                Some(false) => return items,
                None => self.skip_statement(),
            }
            if self.at == before {
                return items;
            }
        }
    }

    /// Parses one item; false if there is none.
    fn contract_item(&mut self, items: &mut Vec<ContractItem>) -> Option<bool> {
        let start = self.start();
        let weakly = self.at_word("weakly") && matches!(self.word(1), "assume" | "guarantee");
        if weakly {
            self.bump();
        }
        match self.word(0) {
            "assume" => {
                let clause = self.clause(start, weakly)?;
                items.push(ContractItem::Assume(clause));
            }
            "guarantee" => {
                let clause = self.clause(start, weakly)?;
                items.push(ContractItem::Guarantee(clause));
            }
            "mode" => {
                let mode = self.mode()?;
                items.push(mode);
            }
            "import" => {
                let import = self.import()?;
                items.push(import);
            }
            "decreases" => {
                self.bump();
                let mut measures = vec![self.expression()?];
                while self.eat(K::Comma) {
                    measures.push(self.expression()?);
                }
                self.semicolon();
                items.push(ContractItem::Decreases(measures, self.since(start)));
            }
            "assumption_vars" => {
                // Says which variables a generated assumption may mention; irrelevant for the
                // model.
                self.bump();
                while self.at_name(0) || self.at(K::Comma) {
                    self.bump();
                }
                self.semicolon();
            }
            "const" => {
                let mut consts = Vec::new();
                let done = self.constants(&mut consts);
                items.extend(consts.into_iter().map(ContractItem::Const));
                done?;
            }
            "var" => self.ghosts(items)?,
            _ => return Some(false),
        }
        Some(true)
    }

    /// `var x: T = e;`, `var x: T, y: U = call(…);`, several after one `var`
    fn ghosts(&mut self, items: &mut Vec<ContractItem>) -> Option<()> {
        self.bump();
        loop {
            let start = self.start();
            let opened = self.span(0);
            let inside = self.eat(K::LParen);
            let mut vars = Vec::new();
            self.variable_group(&mut vars)?;
            while self.eat(K::Comma) {
                self.variable_group(&mut vars)?;
            }
            if inside {
                self.expect_close(K::RParen, "`)`", opened)?;
            }
            if self.at(K::Assign) || self.at(K::EqEq) {
                self.wrong_equals();
            } else {
                self.expect(K::Equals, "`=` and the value")?;
            }
            let value = self.expression()?;
            self.semicolon();
            items.push(ContractItem::Ghost { vars, value, span: self.since(start) });
            let more = self.at_name(0) && matches!(self.kind(1), K::Colon | K::Comma);
            if !more {
                return Some(());
            }
        }
    }

    /// The optional name of a property or a clause.
    pub(super) fn label(&mut self) -> Option<(String, Span)> {
        if !self.at(K::Text) {
            return None;
        }
        let label = (unescape(self.text_of(self.at)), self.span(0));
        self.bump();
        Some(label)
    }

    /// `assume "name" e;`, at the word.
    fn clause(&mut self, start: u32, weakly: bool) -> Option<ContractClause> {
        self.bump();
        let name = self.label();
        let expr = self.expression()?;
        self.semicolon();
        Some(ContractClause { name, expr, weakly, span: self.since(start) })
    }

    fn mode(&mut self) -> Option<ContractItem> {
        let start = self.start();
        self.bump();
        let name = self.name("the name of a mode")?;
        let opened = self.span(0);
        self.expect(K::LParen, "`(`")?;
        let (mut requires, mut ensures) = (Vec::new(), Vec::new());
        loop {
            let at = self.start();
            match self.word(0) {
                "require" => requires.push(self.clause(at, false)?),
                "ensure" => ensures.push(self.clause(at, false)?),
                _ => break,
            }
        }
        self.expect_close(K::RParen, "`require`, `ensure` or `)`", opened)?;
        self.semicolon();
        Some(ContractItem::Mode { name, requires, ensures, span: self.since(start) })
    }

    fn import(&mut self) -> Option<ContractItem> {
        let start = self.start();
        self.bump();
        let contract: Name = self.name("the name of a contract")?;
        let type_args = if self.eat(K::At) { self.type_args()? } else { Vec::new() };
        let inputs = self.arguments()?;
        self.expect_word("returns")?;
        let outputs = self.arguments()?;
        self.semicolon();
        Some(ContractItem::Import { contract, type_args, inputs, outputs, span: self.since(start) })
    }

    /// `(e, …)`
    fn arguments(&mut self) -> Option<Vec<crate::lustre::ast::ExprId>> {
        let opened = self.span(0);
        self.expect(K::LParen, "`(`")?;
        let mut args = Vec::new();
        while !self.at(K::RParen) {
            args.push(self.expression()?);
            if !self.eat(K::Comma) {
                break;
            }
        }
        self.expect_close(K::RParen, "`,` or `)`", opened)?;
        Some(args)
    }
}
