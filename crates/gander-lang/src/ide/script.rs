//! Outlines of scripts, from the abstract syntax and the tokens.

use super::build::{Builder, New, one_line};
use super::words::SCRIPT_WORDS;
use super::{Class, DefinitionKind as D, Outline, TokenRole};
use crate::Span;
use crate::diagnostics::report::Report;
use crate::script::lexer::{Kind, Token, scan};
use crate::script::parser::{HEADERS, parse};
use crate::script::syntax::{Block, Declared, Init, Part, ProgramPart, Rule, Script};

const VALUES: &[Class] = &[Class::Value, Class::Node, Class::Instance];
const MEMBERS: &[Class] = &[Class::Value, Class::Node];

pub(super) fn outline(text: &str) -> Outline {
    let mut report = Report::default();
    if crate::sts::unreadable(text).is_some() {
        return Outline::default();
    }
    let script = parse(text, &mut report);
    let tokens = scan(text, &mut Report::default());
    let mut reader = Reader { builder: Builder::new(text), script: &script };
    reader.blocks(&tokens);
    reader.names();
    let role = |token: &Token| match token.kind {
        Kind::LineComment | Kind::BlockComment => Some(Some(TokenRole::Comment)),
        Kind::Number => Some(Some(TokenRole::Number)),
        Kind::Ident => match text.get(token.span.range()) {
            Some("int" | "bool") => Some(Some(TokenRole::Builtin)),
            Some(word) if SCRIPT_WORDS.contains(&word) => Some(Some(TokenRole::Keyword)),
            _ => Some(None),
        },
        _ => None,
    };
    let tokens = tokens.iter().filter_map(|t| Some((t.span, role(t)?))).collect();
    reader.builder.finish(tokens, SCRIPT_WORDS)
}

struct Reader<'t> {
    builder: Builder<'t>,
    script: &'t Script,
}

impl Reader<'_> {
    /// Declares processes, blocks and goals, and folds the blocks.
    fn blocks(&mut self, tokens: &[Token]) {
        let file = self.builder.file();
        let headers: Vec<(Span, &str)> = tokens
            .iter()
            .filter(|t| t.kind == Kind::Ident)
            .map(|t| (t.span, self.builder.slice(t.span)))
            .filter(|(_, word)| HEADERS.contains(word))
            .collect();
        let last_before = |end: u32| {
            let inside = tokens.iter().filter(|t| t.span.end <= end && t.kind != Kind::End);
            inside.map(|t| t.span.end).next_back().unwrap_or(end)
        };
        for (i, (start, _)) in headers.iter().enumerate() {
            let next = headers.get(i + 1).map_or(file.end, |(next, _)| next.start);
            let whole = Span::new(start.start, last_before(next));
            self.builder.fold(whole);
            self.builder.region(whole);
        }
        self.block(&self.script.block, file, None);
        for process in &self.script.processes {
            // A process has the blocks of variables, starts and rules that follow its name.
            let ends = headers.iter().find(|(span, word)| {
                span.start > process.name.span.start && !matches!(*word, "VARS" | "INIT" | "TRANS")
            });
            let end = ends.map_or(file.end, |(span, _)| span.start);
            let header = headers.iter().rev().find(|(span, _)| span.end <= process.name.span.start);
            let start = header.map_or(process.name.span.start, |(span, _)| span.start);
            let whole = Span::new(start, last_before(end));
            self.builder.fold(whole);
            let name = process.name.span;
            let new = New { kind: D::Instance, name, whole, scope: file, parent: None };
            let definition = self.builder.define(new);
            self.builder.definitions[definition].detail = format!("PROCESS {}", process.name.text);
            self.block(&process.block, Span::new(start, end), Some(definition));
        }
        for goal in &self.script.goals {
            let shown = match &goal.name {
                Some(name) => name.text.clone(),
                None => one_line(self.builder.slice(goal.span)).chars().take(60).collect(),
            };
            let name = goal.name.as_ref().map_or(goal.span, |name| name.span);
            let whole = goal.span;
            let new = New { kind: D::Claim, name, whole, scope: file, parent: None };
            // Other parts of a script cannot name a goal.
            self.builder.define_unnamed(new, shown);
        }
    }

    fn block(&mut self, block: &Block, scope: Span, parent: Option<usize>) {
        for declaration in &block.declarations {
            let kind = match &declaration.what {
                Declared::Const { .. } => D::Constant,
                Declared::Variable { nondet: true, .. } => D::Input,
                Declared::Variable { .. } => D::Variable,
            };
            let name = declaration.name.span;
            let whole = self.statement(name);
            let definition = self.builder.define(New { kind, name, whole, scope, parent });
            let sort = match declaration.sort {
                crate::script::syntax::Type::Int => "int",
                crate::script::syntax::Type::Bool => "bool",
            };
            self.builder.definitions[definition].sort = Some(sort.to_string());
        }
        for name in &block.states {
            let name = name.span;
            let whole = name;
            self.builder.define(New { kind: D::Node, name, whole, scope, parent });
        }
        for (name, of) in &block.procs {
            let whole = self.statement(name.span);
            let name = name.span;
            let new = New { kind: D::Instance, name, whole, scope, parent };
            let definition = self.builder.define(new);
            self.builder.set_sort(definition, of.span);
            self.builder.refer(of.span, &[Class::Instance]);
        }
        for rule in &block.rules {
            self.rule(rule, scope, parent);
        }
        for init in &block.inits {
            if let Init::Assign { name, .. } = init {
                self.builder.refer(name.span, VALUES);
            }
        }
    }

    fn rule(&mut self, rule: &Rule, scope: Span, parent: Option<usize>) {
        let shown = format!("rule{}", rule.number);
        let start = Span::new(rule.span.start, rule.span.start);
        let whole = rule.span;
        let new = New { kind: D::Transition, name: start, whole, scope, parent };
        self.builder.define_unnamed(new, shown);
        if let Some((from, to)) = &rule.states {
            self.builder.refer(from.span, &[Class::Node]);
            self.builder.refer(to.span, &[Class::Node]);
        }
        for (name, _) in &rule.updates {
            self.builder.refer(name.span, VALUES);
        }
    }

    /// From the beginning of the statement that a name is in to its end.
    fn statement(&self, name: Span) -> Span {
        let text = self.builder.text;
        let before = text.get(..name.start as usize).unwrap_or("");
        let start = before.rfind([';', ':', '\n']).map_or(0, |at| at + 1);
        let layout = before.get(start..).map_or(0, |t| t.len() - t.trim_start().len());
        let after = text.get(name.end as usize..).unwrap_or("");
        let end = after.find([';', '\n']).unwrap_or(after.len());
        Span::new((start + layout) as u32, name.end + end as u32)
    }

    /// The names in expressions and programs.
    fn names(&mut self) {
        for (part, span) in &self.script.expressions {
            self.builder.region(*span);
            match part {
                Part::Name(_) => {
                    self.builder.refer(*span, VALUES);
                }
                Part::Member(of, member) => {
                    let of = self.builder.refer(of.span, &[Class::Instance]);
                    self.builder.refer_member(member.span, MEMBERS, of);
                }
                _ => {}
            }
        }
        for part in &self.script.program {
            if let ProgramPart::Process(name) = part {
                self.builder.refer(name.span, &[Class::Instance]);
            }
        }
    }
}
