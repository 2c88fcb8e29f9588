//! Claims and fairness.

use super::Parser;
use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::sts::syntax::SyntaxKind as K;

impl Parser<'_> {
    pub(super) fn claim(&mut self) {
        self.start(K::Claim);
        self.start(K::ClaimWords);
        let (first, second) = (self.word(0), self.word(1));
        self.bump();
        let two_words = match first {
            "always" => matches!(second, "eventually" | "possible"),
            "exists" => self.claim_word("always"),
            "no" if second == "deadlock" => true,
            "no" => self.claim_word("sinkhole"),
            "infinite" => self.claim_word("run"),
            "can" => self.claim_word("enable"),
            "satisfiable" => self.claim_word("start"),
            _ => false,
        };
        if two_words {
            self.bump();
        }
        self.end();
        match first {
            "reachable" => self.reachable(),
            "no" if second == "deadlock" => {}
            "infinite" => {}
            "no" => {
                self.optional_name();
                self.dotted_ref("the name of a node");
            }
            // Words on the next line belong to the next item.
            "satisfiable" if self.newline_before(0) => {}
            "satisfiable" => {
                self.optional_name();
                if self.at(K::Ident) && !self.newline_before(0) {
                    self.dotted_ref("the name of a start");
                }
            }
            "can" | "completable" => {
                self.optional_name();
                self.dotted_ref("the name of a transition");
            }
            _ => self.state_claim(),
        }
        if self.at_clause("under") {
            self.under();
        }
        self.end();
    }

    fn claim_word(&mut self, word: &str) -> bool {
        let there = self.at_word(word);
        if !there {
            let what = match word {
                "sinkhole" => "`deadlock` or `sinkhole`".to_owned(),
                _ => format!("`{word}`"),
            };
            self.report_expected(&what);
        }
        there
    }

    /// `NAME: P in Node leads to Q`
    fn state_claim(&mut self) {
        let name = if self.kind(1) == K::Colon { self.word(0) } else { "" };
        self.optional_name();
        self.kind_behind_name(name);
        self.expression();
        if self.at_word("in") {
            self.in_nodes();
        }
        self.leads_to();
    }

    /// `always q: eventually p`: the kind of a claim stands before its name.
    fn kind_behind_name(&mut self, name: &str) {
        let word = self.word(0);
        let misplaced = matches!(word, "eventually" | "possible" | "always")
            && matches!(self.kind(1), K::Ident | K::Int | K::Bang)
            && !matches!(
                self.word(1),
                "and"
                    | "or"
                    | "implies"
                    | "iff"
                    | "div"
                    | "mod"
                    | "in"
                    | "under"
                    | "leads"
                    | "with"
            )
            && !self.newline_before(1);
        if !misplaced {
            return;
        }
        let name = if name.is_empty() { String::new() } else { format!(" {name}") };
        let diagnostic = Diagnostic::new(
            Code::E0110,
            self.span(0),
            format!("`{word}` stands before the name of a claim"),
        )
        .help(format!("write `always {word}{name}: …`"));
        self.report(diagnostic);
        self.error_token();
    }

    /// `NAME: P leads to Q`
    pub(super) fn named_leads_to(&mut self) {
        self.start(K::Claim);
        self.optional_name();
        let from = self.at;
        self.expression();
        let wave = (from..self.at).any(|at| self.tokens[at].kind == K::Stray);
        // The lexer has reported `p ~> q`.
        if !self.leads_to() && !wave {
            self.report_expected("`leads to`");
            self.recover();
        }
        if self.at_clause("under") {
            self.under();
        }
        self.end();
    }

    fn leads_to(&mut self) -> bool {
        if (self.at_clause("leadsto") || self.at_clause("leads_to")) && !self.newline_before(0) {
            let span = self.span(0);
            let message = format!("`{}` is two words here", self.word(0));
            let diagnostic = Diagnostic::new(Code::E0110, span, message)
                .help("write `leads to`")
                .fix(span, "leads to");
            self.report(diagnostic);
            self.start(K::LeadsTo);
            self.bump();
            self.expression();
            self.end();
            return true;
        }
        if !self.at_clause("leads") {
            return false;
        }
        self.start(K::LeadsTo);
        self.bump();
        if self.at_word("to") {
            self.bump();
        } else {
            self.report_expected("`to`");
        }
        self.expression();
        self.end();
        true
    }

    /// `in A, B` or `in { A, B }` after a formula
    fn in_nodes(&mut self) {
        self.start(K::InNodes);
        self.bump();
        self.node_set();
        while self.at(K::Comma) && self.kind(1) == K::Ident {
            self.bump();
            self.node_set();
        }
        self.end();
    }

    /// `Node` or `{ Node, Node }`
    pub(super) fn node_set(&mut self) {
        let opened = self.span(0);
        if self.eat(K::LBrace) {
            let mut good = true;
            while good && !self.at(K::RBrace) && !self.at_end() {
                good = self.dotted_ref("the name of a node");
                if !self.eat(K::Comma) {
                    break;
                }
            }
            if good {
                self.expect_close(K::RBrace, opened);
            }
            return;
        }
        self.dotted_ref("the name of a node");
    }

    fn reachable(&mut self) {
        self.optional_name();
        loop {
            self.start(K::ReachStep);
            self.expression();
            if self.at_word("in") {
                self.in_nodes();
            }
            if self.at_clause("with") {
                self.start(K::WithClause);
                self.bump();
                self.expression();
                self.end();
            }
            self.end();
            if !self.at_word("then") {
                break;
            }
            self.bump();
        }
    }

    /// `under fairness`, `under NAME, NAME`
    fn under(&mut self) {
        self.start(K::Under);
        self.bump();
        let mut good = self.dotted_ref("`fairness` or the name of a fairness");
        while good && self.eat(K::Comma) {
            good = self.dotted_ref("the name of a fairness");
        }
        self.end();
    }

    /// `fair NAME: P`, `weakly fair NAME: gate`, `strongly fair gate`
    pub(super) fn fair_decl(&mut self) {
        self.start(K::FairDecl);
        self.start(K::ClaimWords);
        let formula = self.at_word("fair");
        self.bump();
        if !formula {
            if self.at_word("fair") {
                self.bump();
            } else {
                self.report_expected("`fair`");
            }
        }
        self.end();
        self.optional_name();
        if formula {
            self.expression();
        } else {
            self.dotted_ref("a gate or the name of a transition");
        }
        self.end();
    }
}
