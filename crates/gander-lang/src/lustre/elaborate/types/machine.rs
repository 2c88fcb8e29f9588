//! Machine integers: signed (two's complement) or unsigned bit-vectors. Arithmetic wraps around;
//! division, remainder (with the sign of the dividend) and shifts have their SMT-LIB meaning, as in
//! Kind 2. A cast to a smaller width keeps the low bits; a cast to a larger width sign-extends if
//! the source is signed.

use gander_term::{BvOp, Op, Width};

use crate::lustre::ast::*;
use crate::lustre::elaborate::expressions::values::Val;
use crate::lustre::elaborate::system::model::Model;
use crate::lustre::elaborate::types::layout::{BOOL, INT, Shape, Ty};
use crate::{Code, Span};

impl Model<'_> {
    pub(in crate::lustre::elaborate) fn machine_unary(
        &mut self,
        op: Unary,
        value: &Val,
        span: Span,
    ) -> Val {
        let op = if op == Unary::Neg { BvOp::Neg } else { BvOp::Not };
        self.scalar(Op::Bv(op), value.ty, &[value], span)
    }

    /// Operators on two machine integers of one type.
    pub(in crate::lustre::elaborate) fn machine_binary(
        &mut self,
        op: Binary,
        a: &Val,
        b: &Val,
        span: Span,
    ) -> Val {
        let Shape::Machine { signed, .. } = *self.types.shape(a.ty) else {
            return self.not_machine(op, a.ty, span);
        };
        let by_sign = |with: BvOp, without: BvOp| if signed { with } else { without };
        let (op, ty) = match op {
            Binary::Add => (BvOp::Add, a.ty),
            Binary::Sub => (BvOp::Sub, a.ty),
            Binary::Mul => (BvOp::Mul, a.ty),
            Binary::Divide | Binary::IntDiv => (by_sign(BvOp::Sdiv, BvOp::Udiv), a.ty),
            Binary::Mod => (by_sign(BvOp::Srem, BvOp::Urem), a.ty),
            Binary::BitAnd => (BvOp::And, a.ty),
            Binary::BitOr => (BvOp::Or, a.ty),
            Binary::Lt => (by_sign(BvOp::Slt, BvOp::Ult), BOOL),
            Binary::Le => (by_sign(BvOp::Sle, BvOp::Ule), BOOL),
            Binary::Gt => (by_sign(BvOp::Sgt, BvOp::Ugt), BOOL),
            Binary::Ge => (by_sign(BvOp::Sge, BvOp::Uge), BOOL),
            _ => return self.not_machine(op, a.ty, span),
        };
        self.scalar(Op::Bv(op), ty, &[a, b], span)
    }

    /// `lsh`, `rsh`: the shift amount is unsigned and has the same width.
    pub(in crate::lustre::elaborate) fn shift(
        &mut self,
        op: Binary,
        a: &Val,
        b: &Val,
        span: Span,
    ) -> Val {
        match (self.types.shape(a.ty), self.types.shape(b.ty)) {
            (&Shape::Machine { signed, width }, &Shape::Machine { width: places, .. })
                if width == places =>
            {
                let op = match op {
                    Binary::ShiftLeft => BvOp::Shl,
                    _ if signed => BvOp::Ashr,
                    _ => BvOp::Lshr,
                };
                self.scalar(Op::Bv(op), a.ty, &[a, b], span)
            }
            _ => {
                self.mismatch(
                    span,
                    "a shift takes machine integers of one width, not these",
                    a.ty,
                    b.ty,
                );
                Val::error()
            }
        }
    }

    fn not_machine(&mut self, op: Binary, ty: Ty, span: Span) -> Val {
        let name = self.type_name(ty);
        self.error(
            Code::E1401,
            span,
            format!(
                "`{}` of `{name}`",
                crate::lustre::elaborate::expressions::operators::spelling(op)
            ),
        );
        Val::error()
    }

    /// A cast to or from a machine integer.
    pub(in crate::lustre::elaborate) fn machine_cast(
        &mut self,
        to: CastTo,
        value: &Val,
        span: Span,
    ) -> Val {
        match (self.types.shape(value.ty).clone(), to) {
            (Shape::Machine { signed, .. }, CastTo::Int) => {
                let op = if signed { BvOp::ToSignedInt } else { BvOp::ToInt };
                self.scalar(Op::Bv(op), INT, &[value], span)
            }
            (Shape::Int, CastTo::Machine { signed, width }) => {
                let ty = self.types.intern(Shape::Machine { signed, width });
                match Width::new(width) {
                    Some(width) => self.scalar(Op::Bv(BvOp::FromInt(width)), ty, &[value], span),
                    None => Val::error(),
                }
            }
            (
                Shape::Machine { signed: was_signed, width: from },
                CastTo::Machine { signed, width },
            ) => {
                let ty = self.types.intern(Shape::Machine { signed, width });
                let op = match width.cmp(&from) {
                    std::cmp::Ordering::Equal => return value.as_type(ty),
                    std::cmp::Ordering::Less => BvOp::Extract { high: (width - 1) as u16, low: 0 },
                    std::cmp::Ordering::Greater if was_signed => BvOp::SignExtend(width - from),
                    std::cmp::Ordering::Greater => BvOp::ZeroExtend(width - from),
                };
                self.scalar(Op::Bv(op), ty, &[value], span)
            }
            _ => Val::error(),
        }
    }
}
