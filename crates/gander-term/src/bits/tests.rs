use super::*;
use crate::value::Value;

fn bv(width: u32, i: i128) -> BitVec {
    BitVec::wrap(Width::new(width).unwrap(), IBig::from(i))
}

#[test]
fn widths_are_bounded() {
    assert_eq!(Width::new(0), None);
    assert_eq!(Width::new(Width::MAX + 1), None);
    assert_eq!(Width::new(Width::MAX).map(Width::bits), Some(65_536));
}

#[test]
fn values_wrap_and_keep_their_sign() {
    assert_eq!(bv(8, 256), bv(8, 0));
    assert_eq!(bv(8, -1), bv(8, 255));
    assert_eq!(bv(8, -256), bv(8, 0));
    assert_eq!(bv(8, -1).signed(), IBig::from(-1));
    assert_eq!(bv(8, 128).signed(), IBig::from(-128));
    assert_eq!(bv(8, 127).signed(), IBig::from(127));
    assert_eq!(bv(1, 1).signed(), IBig::from(-1));
    assert_eq!(BitVec::exact(Width::W8, 256), None);
    assert_eq!(BitVec::exact(Width::W8, -129), None);
    assert_eq!(BitVec::exact(Width::W8, -128), Some(bv(8, 128)));
    assert_eq!(BitVec::exact(Width::W8, 255), Some(bv(8, 255)));
}

/// The expected values are worked out by hand from SMT-LIB's definitions.
#[test]
fn division_is_as_smt_lib_defines_it() {
    let cases: [(BvOp, i128, i128, i128); 22] = [
        (BvOp::Udiv, 200, 7, 28),
        (BvOp::Urem, 200, 7, 4),
        (BvOp::Udiv, 5, 0, 255),
        (BvOp::Urem, 5, 0, 5),
        (BvOp::Sdiv, 7, 2, 3),
        (BvOp::Sdiv, -7, 2, -3),
        (BvOp::Sdiv, 7, -2, -3),
        (BvOp::Sdiv, -7, -2, 3),
        (BvOp::Sdiv, 5, 0, -1),
        (BvOp::Sdiv, -5, 0, 1),
        (BvOp::Sdiv, 0, 0, -1),
        (BvOp::Sdiv, -128, -1, -128),
        (BvOp::Srem, 7, 2, 1),
        (BvOp::Srem, -7, 2, -1),
        (BvOp::Srem, 7, -2, 1),
        (BvOp::Srem, -7, -2, -1),
        (BvOp::Srem, -5, 0, -5),
        (BvOp::Smod, -7, 2, 1),
        (BvOp::Smod, 7, -2, -1),
        (BvOp::Smod, -7, -2, -1),
        (BvOp::Smod, -6, 2, 0),
        (BvOp::Smod, -5, 0, -5),
    ];
    for (op, a, b, expected) in cases {
        let result = apply(op, &[Value::BitVec(bv(8, a)), Value::BitVec(bv(8, b))]);
        assert_eq!(result, Some(Value::BitVec(bv(8, expected))), "{} {a} {b}", op.name());
    }
}

#[test]
fn shifts_by_the_width_or_more_shift_out_all_bits() {
    let shift = |op, a, b| apply(op, &[Value::BitVec(bv(8, a)), Value::BitVec(bv(8, b))]);
    assert_eq!(shift(BvOp::Shl, 129, 1), Some(Value::BitVec(bv(8, 2))));
    assert_eq!(shift(BvOp::Shl, 129, 8), Some(Value::BitVec(bv(8, 0))));
    assert_eq!(shift(BvOp::Lshr, 129, 1), Some(Value::BitVec(bv(8, 64))));
    assert_eq!(shift(BvOp::Lshr, 129, 255), Some(Value::BitVec(bv(8, 0))));
    assert_eq!(shift(BvOp::Ashr, -128, 1), Some(Value::BitVec(bv(8, -64))));
    assert_eq!(shift(BvOp::Ashr, -128, 200), Some(Value::BitVec(bv(8, -1))));
    assert_eq!(shift(BvOp::Ashr, 127, 7), Some(Value::BitVec(bv(8, 0))));
}

/// `apply_word` and `apply` agree on every value of every small width and on the extremes of 63 and
/// 64 bits.
#[test]
fn operators_on_words_agree_with_operators_on_values() {
    let mut operators: Vec<BvOp> = BvOp::plain().filter(|op| !op.is_conversion()).collect();
    operators.extend([
        BvOp::ZeroExtend(3),
        BvOp::SignExtend(3),
        BvOp::ZeroExtend(0),
        BvOp::SignExtend(0),
    ]);
    operators.push(BvOp::Extract { high: 0, low: 0 });
    let mut compared = 0;
    for width in [1, 2, 3, 4, 7, 31, 61, 63, 64] {
        let values: Vec<i128> = match width {
            1..=4 => (0..1 << width).collect(),
            _ => [
                0,
                1,
                2,
                3,
                5,
                -1,
                -2,
                -3,
                1 << (width - 1),
                (1 << (width - 1)) - 1,
                i128::from(width),
                60,
            ]
            .into(),
        };
        let mut operators = operators.clone();
        if width > 2 {
            operators.push(BvOp::Extract { high: 2, low: 1 });
            operators.push(BvOp::Extract { high: width as u16 - 1, low: 1 });
        }
        for &op in &operators {
            for &x in &values {
                for &y in if op.is_unary() { &values[..1] } else { &values[..] } {
                    let (a, b) = (bv(width, x), bv(width, y));
                    let args = [Value::BitVec(a.clone()), Value::BitVec(b.clone())];
                    let Some(wide) = apply(op, if op.is_unary() { &args[..1] } else { &args })
                    else {
                        panic!("{} {width} {x} {y}", op.name());
                    };
                    let expected = match &wide {
                        Value::Bool(truth) => u64::from(*truth),
                        Value::BitVec(v) => match v.word() {
                            Some(word) => word,
                            None => continue,
                        },
                        other => panic!("{other:?}"),
                    };
                    let (a, b) = ((a.word().unwrap(), width), (b.word().unwrap(), width));
                    assert_eq!(apply_word(op, a, b), expected, "{} {width} {x} {y}", op.name());
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 10_000, "{compared}");
}

#[test]
fn wide_vectors_are_computed() {
    let width = Width::new(200).unwrap();
    let top = BitVec::wrap(width, IBig::ONE << 199);
    let one = BitVec::wrap(width, 1);
    let args = [Value::BitVec(top.clone()), Value::BitVec(one)];
    let shifted = apply(BvOp::Ashr, &args).unwrap();
    assert_eq!(shifted, Value::BitVec(BitVec::wrap(width, IBig::from(-1) << 198)));
    assert_eq!(apply(BvOp::Slt, &args), Some(Value::Bool(true)));
    assert_eq!(apply(BvOp::Ult, &args), Some(Value::Bool(false)));
    let doubled = apply(BvOp::Add, &[Value::BitVec(top.clone()), Value::BitVec(top)]).unwrap();
    assert_eq!(doubled, Value::BitVec(BitVec::zero(width)));
}

#[test]
fn names_are_unique_and_found() {
    for op in BvOp::plain() {
        assert_eq!(BvOp::from_name(op.name()), Some(op));
    }
}
