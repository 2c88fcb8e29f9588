//! Declarations: types, constants, nodes, functions, contracts.

use super::{K, Parser};
use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::span::Span;
use crate::diagnostics::suggest::nearest;
use crate::lustre::ast::{Const, ContractDecl, Item, Name, Node, NodeKind, VarDecl};

/// The words that start a declaration.
const ITEMS: [&str; 6] = ["node", "function", "type", "const", "contract", "datatype"];

/// The header of a node or contract.
struct Header {
    name: Name,
    type_params: Vec<Name>,
    inputs: Vec<VarDecl>,
    outputs: Vec<VarDecl>,
}

impl Parser<'_> {
    /// All declarations.
    pub(super) fn items(&mut self) {
        while !self.at(K::End) {
            let before = self.at;
            if self.item().is_none() {
                self.skip_item();
            }
            if self.at == before {
                self.bump();
            }
        }
        if self.file.items.is_empty() && self.diagnostics.is_empty() {
            let diagnostic = Diagnostic::new(Code::E0505, Span::at(0), "the file declares nothing")
                .help("a Lustre file has at least one node: `node N(x: int) returns (y: int); let y = x; tel`");
            self.diagnostics.push(diagnostic);
        }
    }

    /// Skips to the next declaration, over the body of a node whose header could not be parsed.
    fn skip_item(&mut self) {
        self.open_braces = 0;
        while !(self.at(K::End) || self.at_item() || self.at_word("const") && self.newline_before())
        {
            if self.at_word("let") {
                self.bump();
                if self.at_contract_item() {
                    self.contract_items();
                    self.eat_tel();
                } else {
                    self.body();
                }
                return;
            }
            self.bump();
        }
    }

    fn item(&mut self) -> Option<()> {
        let start = self.start();
        match self.word(0) {
            "type" => return self.type_declaration(),
            "const" => {
                let mut consts = Vec::new();
                let done = self.constants(&mut consts);
                self.file.items.extend(consts.into_iter().map(Item::Const));
                return done;
            }
            "node" | "function" => return self.node(),
            _ => {}
        }
        match self.word(0) {
            "param" if self.at_name(1) => {
                let mut consts = Vec::new();
                let done = self.constants(&mut consts);
                self.file.items.extend(consts.into_iter().map(Item::Const));
                done
            }
            "opaque" | "transparent" if matches!(self.word(1), "node" | "function") => {
                self.bump();
                self.node()
            }
            "contract" if self.at_name(1) => self.contract_declaration(),
            "datatype" if self.at_name(1) => self.datatype(),
            "lemma" if self.at_name(1) => {
                self.report_unsupported("lemmas", self.span(0));
                while !self.at(K::End) && !self.at_word("tel") {
                    self.bump();
                }
                self.eat_tel();
                Some(())
            }
            "include" if self.kind(1) == K::Text => {
                self.bump();
                self.bump();
                self.eat(K::Semicolon);
                // `include` statements whose file was read have been replaced by blanks.
                let message = "the file cannot be included: only a model that is read from a file can include others";
                self.diagnostics.push(Diagnostic::new(Code::E1308, self.since(start), message));
                Some(())
            }
            _ => self.no_item(),
        }
    }

    fn no_item(&mut self) -> Option<()> {
        let word = self.word(0);
        let message = match self.kind(0) {
            K::Word => format!(
                "`{}` does not begin a declaration",
                word.chars().take(40).collect::<String>()
            ),
            _ => format!("expected a declaration, found {}", self.found()),
        };
        let diagnostic = Diagnostic::new(Code::E0116, self.span(0), message);
        let diagnostic = match word {
            "var" | "let" | "assert" | "tel" => {
                diagnostic.help(format!("`{word}` belongs into a node"))
            }
            "open" => diagnostic.help("write `include` and the name of the file in quotes"),
            _ => match nearest(word, ITEMS) {
                Some(near) => diagnostic.did_you_mean(Some(near)),
                None => diagnostic
                    .help("a file declares types, constants, nodes, functions and contracts"),
            },
        };
        self.report(diagnostic);
        self.bump();
        None
    }

    fn type_declaration(&mut self) -> Option<()> {
        self.bump();
        let mut names = vec![self.declare("the name of a type")?];
        while self.eat(K::Comma) {
            names.push(self.declare("the name of a type")?);
        }
        let type_params = self.type_params()?;
        let definition = if self.at(K::Assign) || self.at(K::EqEq) {
            self.wrong_equals();
            Some(self.type_expr()?)
        } else if self.eat(K::Equals) {
            Some(self.type_expr()?)
        } else {
            None
        };
        for name in names {
            self.file.items.push(Item::Type { name, type_params: type_params.clone(), definition });
        }
        self.semicolon();
        Some(())
    }

    /// `<T, U>` after a declared name.
    pub(super) fn type_params(&mut self) -> Option<Vec<Name>> {
        let mut params = Vec::new();
        if !self.eat(K::Less) {
            return Some(params);
        }
        while !self.at(K::Greater) {
            // `type T`, the syntax of Lustre V6.
            if self.at_word("type") {
                self.bump();
            }
            params.push(self.declare("a type parameter")?);
            if !self.eat(K::Comma) && !self.eat(K::Semicolon) {
                break;
            }
        }
        self.expect(K::Greater, "`,` or `>`")?;
        Some(params)
    }

    /// `const a: T = e; b, c: T; …`, also for `param`.
    pub(super) fn constants(&mut self, into: &mut Vec<Const>) -> Option<()> {
        self.bump();
        loop {
            self.constant(into)?;
            let more = self.at_name(0)
                && matches!(self.kind(1), K::Comma | K::Colon | K::Equals)
                && !self.at_item();
            if !more {
                return Some(());
            }
        }
    }

    fn constant(&mut self, into: &mut Vec<Const>) -> Option<()> {
        let start = self.start();
        let mut names = vec![self.declare("the name of a constant")?];
        while self.eat(K::Comma) {
            names.push(self.declare("the name of a constant")?);
        }
        let ty = if self.eat(K::Colon) { Some(self.type_expr()?) } else { None };
        let value = match self.kind(0) {
            K::Assign | K::EqEq => {
                self.wrong_equals();
                Some(self.expression()?)
            }
            K::Equals => {
                self.bump();
                Some(self.expression()?)
            }
            _ if ty.is_some() => None,
            _ => {
                self.report_expected("`:` and a type, or `=` and a value");
                return None;
            }
        };
        self.semicolon();
        let span = self.since(start);
        into.extend(names.into_iter().map(|name| Const { name, ty, value, span }));
        Some(())
    }

    /// At `:=` or `==` instead of `=`.
    pub(super) fn wrong_equals(&mut self) {
        let span = self.span(0);
        let wrong = &self.text[span.range()];
        let message = format!("a definition is written with `=`, not `{wrong}`");
        let diagnostic =
            Diagnostic::new(Code::E0131, span, message).help("write `=`").fix(span, "=");
        self.report(diagnostic);
        self.bump();
    }

    /// Expects a semicolon. If it is missing and the next token is on another line, parsing
    /// continues there.
    pub(super) fn semicolon(&mut self) -> bool {
        if self.eat(K::Semicolon) {
            return true;
        }
        let diagnostic = self.expected("`;`");
        let at = Span::at(self.end());
        let diagnostic = if self.newline_before() { diagnostic.fix(at, ";") } else { diagnostic };
        self.report(diagnostic);
        false
    }

    pub(super) fn eat_tel(&mut self) -> bool {
        let there = self.eat_word("tel");
        if there && !self.eat(K::Semicolon) {
            self.eat(K::Dot);
        }
        there
    }

    fn header(&mut self, what: &str) -> Option<Header> {
        self.local.clear();
        self.dotted.clear();
        let name = self.declare(what)?;
        let type_params = self.type_params()?;
        let inputs = self.parameters("`(` and the inputs")?;
        if !self.eat_word("returns") {
            let mut diagnostic = self.expected("`returns` and the outputs");
            diagnostic = match nearest(self.word(0), ["returns"]) {
                Some(near) => {
                    let help = format!("did you mean `{near}`?");
                    diagnostic.help(help).fix(self.span(0), near)
                }
                None => diagnostic.help("write `returns (…)`; without outputs, `returns ()`"),
            };
            self.report(diagnostic);
            if !(self.at_name(0) && self.kind(1) == K::LParen) {
                return None;
            }
            self.bump();
        }
        let outputs = self.parameters("`(` and the outputs")?;
        Some(Header { name, type_params, inputs, outputs })
    }

    /// `( x, y: T; z: U )`; an error skips the group that contains it.
    fn parameters(&mut self, what: &str) -> Option<Vec<VarDecl>> {
        let opened = self.span(0);
        self.expect(K::LParen, what)?;
        let mut declared = Vec::new();
        while !self.at(K::RParen) && !self.at(K::End) {
            if self.clocked_group(&mut declared).is_none() && !self.skip_parameter() {
                return None;
            }
            if self.eat(K::Comma) {
                // `x: int, y: int`: report it once and accept it.
                let span = Span::new(self.end() - 1, self.end());
                let message = "declarations of different types are separated by `;`";
                self.report(
                    Diagnostic::new(Code::E0132, span, message).help("write `;`").fix(span, ";"),
                );
            } else if !self.eat(K::Semicolon) {
                break;
            }
        }
        self.expect_close(K::RParen, "`;` or `)`", opened)?;
        Some(declared)
    }

    /// Skips to the end of a group of parameters.
    fn skip_parameter(&mut self) -> bool {
        self.open_braces = 0;
        loop {
            match self.kind(0) {
                K::Semicolon | K::RParen => return true,
                K::LParen | K::LBracket | K::LBrace => self.skip_brackets(),
                K::End => return false,
                K::Word
                    if matches!(
                        self.word(0),
                        "returns" | "let" | "tel" | "var" | "node" | "function"
                    ) =>
                {
                    return false;
                }
                _ => self.bump(),
            }
        }
    }

    fn node(&mut self) -> Option<()> {
        let start = self.start();
        let kind = if self.at_word("function") { NodeKind::Function } else { NodeKind::Node };
        self.bump();
        let mut imported = false;
        let mut recursive = None;
        while self.at_name(1) {
            match self.word(0) {
                "imported" if !imported => imported = true,
                "rec" if recursive.is_none() => recursive = Some(self.span(0)),
                _ => break,
            }
            self.bump();
        }
        if self.at_name(0) && self.kind(1) == K::Equals {
            while !self.at(K::End) && !self.eat(K::Semicolon) {
                self.bump();
            }
            self.report_unsupported(
                "nodes that are instances of nodes (`node N = M<T>;`)",
                self.since(start),
            );
            return Some(());
        }
        let what =
            if kind == NodeKind::Node { "the name of a node" } else { "the name of a function" };
        let header = self.header(what)?;
        let header_span = self.since(start);
        self.eat(K::Semicolon);
        let contract = self.node_contracts();
        let mut node = Node {
            kind,
            name: header.name,
            recursive,
            imported,
            type_params: header.type_params,
            inputs: header.inputs,
            outputs: header.outputs,
            contract,
            locals: Vec::new(),
            consts: Vec::new(),
            body: Vec::new(),
            header: header_span,
            span: header_span,
        };
        if !imported {
            let later = self.locals_and_body(&mut node);
            node.span = self.since(start);
            self.file.items.push(Item::Node(node));
            self.file.items.extend(later.into_iter().map(Item::Const));
            return Some(());
        }
        node.span = self.since(start);
        self.file.items.push(Item::Node(node));
        Some(())
    }

    /// Local declarations and the body. A function may have no body (JKind); constants after it are
    /// then global, and are returned.
    fn locals_and_body(&mut self, node: &mut Node) -> Vec<Const> {
        let mut consts = Vec::new();
        let mut local = false;
        loop {
            match self.word(0) {
                "var" => {
                    local = true;
                    self.bump();
                    self.locals(&mut node.locals);
                }
                "const" => {
                    if self.constants(&mut consts).is_none() {
                        self.skip_statement();
                    }
                }
                "param" if self.at_name(1) => {
                    if self.constants(&mut consts).is_none() {
                        self.skip_statement();
                    }
                }
                _ => break,
            }
        }
        if self.eat_word("let") {
            node.consts = consts;
            node.body = self.body();
            return Vec::new();
        }
        if node.kind == NodeKind::Function && !local {
            node.imported = true;
            return consts;
        }
        let word = if node.kind == NodeKind::Node { "node" } else { "function" };
        let diagnostic = self
            .expected("`let` and the body")
            .label(node.name.span, format!("of this {word}"))
            .help(format!("write `let … tel`, or `{word} imported` if it has no body"));
        self.report(diagnostic);
        node.consts = consts;
        if !self.at_item() && !self.at(K::End) {
            // Perhaps only `let` is missing.
            if self.at_name(0)
                && matches!(self.kind(1), K::Equals | K::Assign | K::EqEq | K::Comma | K::LBracket)
            {
                node.body = self.body();
            } else {
                self.skip_item();
            }
        }
        Vec::new()
    }

    fn locals(&mut self, into: &mut Vec<VarDecl>) {
        loop {
            let read = self.clocked_group(into).is_some();
            if !read || !self.semicolon() && !self.newline_before() {
                self.skip_statement();
            }
            // An equation: only `let` is missing.
            let equation = matches!(self.kind(1), K::Equals | K::Assign | K::EqEq);
            let more = self.at_name(0) && !equation || self.at(K::LParen);
            if !more {
                return;
            }
        }
    }

    fn contract_declaration(&mut self) -> Option<()> {
        let start = self.start();
        self.bump();
        let header = self.header("the name of a contract")?;
        self.eat(K::Semicolon);
        self.expect_word("let")?;
        let items = self.contract_items();
        if !self.eat_tel() {
            self.report_expected("an item of a contract, or `tel`");
            self.skip_item();
        }
        let span = self.since(start);
        self.file.items.push(Item::Contract(ContractDecl {
            name: header.name,
            type_params: header.type_params,
            inputs: header.inputs,
            outputs: header.outputs,
            contract: crate::lustre::ast::Contract { items, span },
            span,
        }));
        Some(())
    }
}
