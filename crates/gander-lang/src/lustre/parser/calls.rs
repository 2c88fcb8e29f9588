//! Calls, with `condact`, `activate` and `restart`, and `merge`.

use super::expressions::{Frame, Head, Machine, Next, RestartPlace};
use super::{K, Parser};
use crate::lustre::ast::{Activation, Call, ClockValue, ExprId, ExprKind, Name};

impl Parser<'_> {
    /// The arguments of a call; at `(`.
    pub(super) fn open_arguments(
        &mut self,
        machine: &mut Machine,
        head: Box<Head>,
    ) -> Option<Next> {
        self.expect(K::LParen, "`(` and the arguments")?;
        if self.at(K::RParen) {
            return self.close_arguments(machine, head, Vec::new());
        }
        machine.push(Frame::Arguments(head, Vec::new()));
        Some(Next::Operand)
    }

    /// `, N(…), d)`, after the condition of `condact`
    pub(super) fn condact_call(
        &mut self,
        machine: &mut Machine,
        start: u32,
        condition: ExprId,
    ) -> Option<Next> {
        self.expect(K::Comma, "`,` and a call")?;
        let restarts = self.at(K::LParen) && self.word(1) == "restart";
        if restarts {
            self.bump();
            self.bump();
        }
        let callee = self.name("a call: `condact(condition, N(…), defaults…)`")?;
        let type_args = if self.eat(K::At) { self.type_args()? } else { Vec::new() };
        let activation = Some(Activation { condition, defaults: None });
        let head =
            Box::new(Head { start, callee, type_args, activation, restart: None, condact: true });
        if restarts {
            self.expect_word("every")?;
            machine.push(Frame::Restart(head, RestartPlace::InsideCondact));
            return Some(Next::Operand);
        }
        self.open_arguments(machine, head)
    }

    /// At `(activate N every`, `(activate (restart`, `(restart N every`.
    pub(super) fn at_activate(&self) -> bool {
        match self.word(1) {
            "activate" => {
                self.at_name(2) && matches!(self.word(3), "every")
                    || self.kind(2) == K::LParen && self.word(3) == "restart"
                    || self.at_name(2) && self.kind(3) == K::At
            }
            "restart" => self.at_name(2) && (self.word(3) == "every" || self.kind(3) == K::At),
            _ => false,
        }
    }

    pub(super) fn activate(&mut self, machine: &mut Machine) -> Option<Next> {
        let start = self.start();
        self.bump();
        let activates = self.at_word("activate");
        self.bump();
        let restarts = activates && self.at(K::LParen);
        if restarts {
            self.bump();
            self.expect_word("restart")?;
        }
        let callee = self.name("a node")?;
        let type_args = if self.eat(K::At) { self.type_args()? } else { Vec::new() };
        self.expect_word("every")?;
        let head = Box::new(Head {
            start,
            callee,
            type_args,
            activation: None,
            restart: None,
            condact: false,
        });
        machine.push(match (activates, restarts) {
            (true, true) => Frame::Restart(head, RestartPlace::InsideActivate),
            (true, false) => Frame::Activate(head),
            (false, _) => Frame::Restart(head, RestartPlace::Alone),
        });
        Some(Next::Operand)
    }

    // `merge`

    /// `c; a; b)`, after `merge(`
    pub(super) fn merge_pair(&mut self, machine: &mut Machine, start: u32) -> Option<Next> {
        let clock = self.name("a clock")?;
        self.expect(K::Semicolon, "`;`")?;
        machine.push(Frame::MergePair(start, clock, None));
        Some(Next::Operand)
    }

    pub(super) fn after_merge_pair(
        &mut self,
        machine: &mut Machine,
        start: u32,
        clock: Name,
        first: Option<ExprId>,
        value: ExprId,
    ) -> Option<Next> {
        let Some(first) = first else {
            self.expect(K::Semicolon, "`;` and the value for false")?;
            machine.push(Frame::MergePair(start, clock, Some(value)));
            return Some(Next::Operand);
        };
        self.expect(K::RParen, "`)`")?;
        let arms = vec![(ClockValue::True, first), (ClockValue::False, value)];
        Some(Next::Operator(self.add_since(ExprKind::Merge { clock, arms }, start)))
    }

    /// `(V -> e)`; at the parenthesis.
    pub(super) fn merge_arm(
        &mut self,
        machine: &mut Machine,
        start: u32,
        clock: Name,
        arms: Vec<(ClockValue, ExprId)>,
    ) -> Option<Next> {
        self.expect(K::LParen, "`(` and a value of the clock")?;
        let value = if self.eat_word("true") {
            ClockValue::True
        } else if self.eat_word("false") {
            ClockValue::False
        } else {
            ClockValue::Variant(self.name("a value of the clock")?)
        };
        self.expect(K::Arrow, "`->`")?;
        machine.push(Frame::MergeArm(start, clock, Box::new((arms, value))));
        Some(Next::Operand)
    }

    pub(super) fn after_merge_arm(
        &mut self,
        machine: &mut Machine,
        start: u32,
        clock: Name,
        (mut arms, of): (Vec<(ClockValue, ExprId)>, ClockValue),
        value: ExprId,
    ) -> Option<Next> {
        self.expect(K::RParen, "`)`")?;
        arms.push((of, value));
        if self.at(K::LParen) && self.kind(1) == K::Word && self.kind(2) == K::Arrow {
            return self.merge_arm(machine, start, clock, arms);
        }
        Some(Next::Operator(self.add_since(ExprKind::Merge { clock, arms }, start)))
    }

    pub(super) fn close_arguments(
        &mut self,
        machine: &mut Machine,
        head: Box<Head>,
        args: Vec<ExprId>,
    ) -> Option<Next> {
        if !self.eat(K::RParen) {
            self.report_unclosed("`,` or `)`", head.callee.span);
            return None;
        }
        if head.condact {
            if self.eat(K::Comma) {
                machine.push(Frame::CondactDefaults(head, args, Vec::new()));
                return Some(Next::Operand);
            }
            return self.close_condact(*head, args, Vec::new());
        }
        Some(Next::Operator(self.call(*head, args)))
    }

    pub(super) fn close_condact(
        &mut self,
        mut head: Head,
        args: Vec<ExprId>,
        defaults: Vec<ExprId>,
    ) -> Option<Next> {
        if !self.eat(K::RParen) {
            self.report_unclosed("`,` or `)`", head.callee.span);
            return None;
        }
        let defaults = self.flat(defaults);
        if let Some(activation) = &mut head.activation {
            activation.defaults = Some(defaults);
        }
        Some(Next::Operator(self.call(head, args)))
    }

    pub(super) fn call(&mut self, head: Head, args: Vec<ExprId>) -> ExprId {
        let Head { start, callee, type_args, activation, restart, .. } = head;
        let call = Call { callee, type_args, args, activation, restart };
        self.add_since(ExprKind::Call(Box::new(call)), start)
    }

    /// Defaults may also be written as one list in parentheses.
    pub(super) fn flat(&self, values: Vec<ExprId>) -> Vec<ExprId> {
        if let [one] = values[..]
            && let ExprKind::List(items) = &self.file.exprs[one.0 as usize].kind
        {
            return items.clone();
        }
        values
    }

    pub(super) fn after_activate(
        &mut self,
        machine: &mut Machine,
        head: Box<Head>,
    ) -> Option<Next> {
        if self.at_word("restart") && self.word(1) == "every" {
            self.bump();
            self.bump();
            machine.push(Frame::Restart(head, RestartPlace::AfterActivate));
            return Some(Next::Operand);
        }
        self.expect(K::RParen, "`)`")?;
        self.open_arguments(machine, head)
    }

    pub(super) fn after_restart(
        &mut self,
        machine: &mut Machine,
        mut head: Box<Head>,
        place: RestartPlace,
        value: ExprId,
    ) -> Option<Next> {
        head.restart = Some(value);
        self.expect(K::RParen, "`)`")?;
        if place == RestartPlace::InsideActivate {
            self.expect_word("every")?;
            machine.push(Frame::Activate(head));
            return Some(Next::Operand);
        }
        self.open_arguments(machine, head)
    }
}
