//! Cases for bit-vectors: every value of three bits, and the edges of other widths.

use gander_term::{BvOp, IBig, Op, Value, Width};

use super::{Group, tuples};

pub(super) fn groups() -> Vec<Group> {
    let mut groups = Vec::new();
    for bits in [1, 3, 8, 65] {
        let Some(width) = Width::new(bits) else { continue };
        groups.extend(groups_of(width));
    }
    groups
}

fn groups_of(width: Width) -> Vec<Group> {
    let bits = width.bits();
    let values = values(width);
    let one = tuples(&[&values]);
    let two = tuples(&[&values, &values]);
    let mut groups = vec![Group { op: Op::Eq, cases: two.clone() }];
    for op in BvOp::plain() {
        let cases = if op.is_unary() { &one } else { &two };
        groups.push(Group { op: Op::Bv(op), cases: cases.clone() });
    }
    for op in [BvOp::ZeroExtend(0), BvOp::ZeroExtend(5), BvOp::SignExtend(0), BvOp::SignExtend(5)] {
        groups.push(Group { op: Op::Bv(op), cases: one.clone() });
    }
    let top = bits as u16 - 1;
    for (high, low) in [(0, 0), (top, 0), (top, top), (top, top / 2)] {
        groups.push(Group { op: Op::Bv(BvOp::Extract { high, low }), cases: one.clone() });
    }
    let size = IBig::from(width.size());
    let ints: Vec<Value> = [0, 1, -1, 5]
        .into_iter()
        .map(IBig::from)
        .chain([size.clone() + 2, -size - 3])
        .map(Value::Int)
        .collect();
    groups.push(Group { op: Op::Bv(BvOp::FromInt(width)), cases: tuples(&[&ints]) });
    let truths: Vec<Value> = [false, true].map(Value::Bool).into();
    groups.push(Group { op: Op::Ite, cases: tuples(&[&truths, &values[..2], &values[..2]]) });
    groups
}

/// All values of a small width, otherwise small values, both ends of the signed range, and the
/// width itself.
fn values(width: Width) -> Vec<Value> {
    let bits = width.bits();
    if bits <= 3 {
        return (0..1 << bits).map(|i| Value::bits(width, i)).collect();
    }
    let half: IBig = IBig::ONE << (bits as usize - 1);
    let edges = [half.clone(), half - 1, IBig::from(bits)];
    [0, 1, -1, 3, -5]
        .into_iter()
        .map(IBig::from)
        .chain(edges)
        .map(|i| Value::bits(width, i))
        .collect()
}
