//! The Lustre parser: precedence, keywords as names, the syntax of JKind and Kind 2.

use gander_lang::lustre::ast::{
    Binary, ExprId, ExprKind, File, Item, Node, NodeKind, Statement, TypeKind, Unary,
};
use gander_lang::lustre::parse;

const SAMPLE: &str = include_str!("sample.lus");

fn accepted(text: &str) -> File {
    let parsed = parse(text);
    assert!(parsed.diagnostics.is_empty(), "{text}\n{:#?}", parsed.diagnostics);
    parsed.file
}

fn nodes(file: &File) -> Vec<&Node> {
    file.items
        .iter()
        .filter_map(|item| match item {
            Item::Node(node) => Some(node),
            _ => None,
        })
        .collect()
}

/// An expression with all parentheses. Recursion is safe: test expressions are small.
fn shown(file: &File, id: ExprId) -> String {
    let of = |id: &ExprId| shown(file, *id);
    let all = |ids: &[ExprId]| ids.iter().map(of).collect::<Vec<_>>().join(", ");
    match &file.expr(id).kind {
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::Int(value) => value.to_string(),
        ExprKind::Real(value) => value.to_string(),
        ExprKind::Name(name) => file.text(name.word).to_owned(),
        ExprKind::Unary(operator, e) => format!("{operator:?}({})", of(e)),
        ExprKind::Binary(operator, a, b) => format!("({} {operator:?} {})", of(a), of(b)),
        ExprKind::If(c, a, b) => format!("If({}, {}, {})", of(c), of(a), of(b)),
        ExprKind::Lazy(c, a, b) => format!("Lazy({}, {}, {})", of(c), of(a), of(b)),
        ExprKind::Cast(to, e) => format!("{to:?}({})", of(e)),
        ExprKind::When(e, clock) => format!("({} When {})", of(e), file.text(clock.variable.word)),
        ExprKind::Quantifier(kind, vars, body) => format!("{kind:?}[{}]({})", vars.len(), of(body)),
        ExprKind::Index(a, i) => format!("{}[{}]", of(a), of(i)),
        ExprKind::Field(a, f) => format!("{}.{}", of(a), file.text(f.word)),
        ExprKind::Repeat(a, n) => format!("({} ^ {})", of(a), of(n)),
        ExprKind::List(items) => format!("List({})", all(items)),
        ExprKind::Array(items) => format!("Array({})", all(items)),
        ExprKind::Call(call) => {
            let mut out = format!("{}({})", file.text(call.callee.word), all(&call.args));
            if let Some(activation) = &call.activation {
                let defaults = activation.defaults.as_deref().map_or("none".to_owned(), all);
                out = format!("{out} every {} default {defaults}", of(&activation.condition));
            }
            if let Some(restart) = call.restart {
                out = format!("{out} restart {}", of(&restart));
            }
            out
        }
        other => format!("{other:?}"),
    }
}

/// The expression of a text, with all parentheses.
fn expression(text: &str) -> String {
    let file = accepted(&format!("node N() returns (x: int);\nlet\n x = {text};\ntel"));
    match &nodes(&file)[0].body[..] {
        [Statement::Equation(equation)] => shown(&file, equation.right),
        other => panic!("{other:?}"),
    }
}

#[test]
fn operators_bind_as_documented() {
    for (text, meant) in [
        ("a -> b -> c", "(a Arrow (b Arrow c))"),
        ("a => b => c", "(a Implies (b Implies c))"),
        ("a - b - c", "((a Sub b) Sub c)"),
        (
            "a -> b => c or d and e = f + g * h",
            "(a Arrow (b Implies (c Or (d And (e Eq (f Add (g Mul h)))))))",
        ),
        (
            "a * b + c < d and e or f => g -> h",
            "(((((((a Mul b) Add c) Lt d) And e) Or f) Implies g) Arrow h)",
        ),
        ("a xor b or c", "((a Xor b) Or c)"),
        ("not a and b", "(Not(a) And b)"),
        ("not a = b", "(Not(a) Eq b)"),
        ("pre x + 1", "(Pre(x) Add 1)"),
        ("pre pre x.f[0]", "Pre(Pre(x.f[0]))"),
        ("-a * b", "(Neg(a) Mul b)"),
        ("a - -b", "(a Sub Neg(b))"),
        ("if a then b else c -> d", "If(a, b, (c Arrow d))"),
        ("1 + if a then b else c + d", "(1 Add If(a, b, (c Add d)))"),
        ("if a then if b then c else d else e", "If(a, If(b, c, d), e)"),
        ("a = b = c", "((a Eq b) Eq c)"),
        ("a + b when c", "((a Add b) When c)"),
        ("a -> b when c", "((a Arrow b) When c)"),
        ("uint8 a + b", "Machine { signed: false, width: 8 }((a Add b))"),
        ("int8 -1", "Machine { signed: true, width: 8 }(Neg(1))"),
        ("real 1 / real 16", "(Real(1) Divide Real(16))"),
        ("a || b && c lsh 1", "(a BitOr (b BitAnd (c ShiftLeft 1)))"),
        ("forall (i: int) a => b", "Forall[1]((a Implies b))"),
        ("c -> forall (i, j: int) a -> b", "(c Arrow (Forall[2](a) Arrow b))"),
        ("a and then b or else c ==> d", "Lazy(Lazy(Lazy(a, b, false), true, c), d, true)"),
        ("0 ^ 3 ^ 2", "((0 ^ 3) ^ 2)"),
        ("not a ^ 2", "Not((a ^ 2))"),
        ("(j ^ 4)[j]", "(j ^ 4)[j]"),
        ("[1, 2] -> [3, 4]", "(Array(1, 2) Arrow Array(3, 4))"),
        ("(1, a) ", "List(1, a)"),
        ("condact(c, N(a, b), 0, true)", "N(a, b) every c default 0, true"),
        ("condact(c, (restart N every r)(a))", "N(a) every c default  restart r"),
        ("(activate N every c)(a)", "N(a) every c default none"),
        ("(activate N every c initial default (0, 1))(a)", "N(a) every c default 0, 1"),
        ("(restart N every r or s)() + 1", "(N() restart (r Or s) Add 1)"),
    ] {
        assert_eq!(expression(text), meant, "{text}");
    }
}

#[test]
fn number_literals_have_their_values() {
    for (text, value) in [
        ("0x1fe4E", "130638"),
        ("0b101", "5"),
        ("1.50", "3/2"),
        ("1e3", "1000"),
        ("2.5E-1", "1/4"),
        ("0x1p-3", "1/8"),
        ("0x.1", "1/16"),
        ("0x1234.", "4660"),
        ("0x12.34p+4", "1165/4"),
        (".5", "1/2"),
    ] {
        assert_eq!(expression(text), value, "{text}");
    }
}

#[test]
fn words_of_kind2_can_be_names() {
    let words = "mode check contract any assume guarantee frame fi set map in at from within every initial default \
                 restart activate merge when current last fby forall exists choose match cond end otherwise require \
                 ensure weakly import invariant reachable provided con noc param include lemma datatype int8 uint16 \
                 sint floor subtype history opaque imported rec";
    for word in words.split_whitespace() {
        let text = format!(
            "node N({word}: int; b: bool) returns (x: int);\nvar y: int;\nlet\n  x = {word} + 1 - {word} * {word};\n  \
             y = if b then {word} else pre {word};\n  --%PROPERTY {word} > 0 or x = {word};\ntel\n\
             node M(x: int) returns ({word}: int);\nlet\n  {word} = x;\n  assert {word} > 0;\ntel\n"
        );
        let file = accepted(&text);
        assert_eq!(nodes(&file).len(), 2, "{word}");
        assert_eq!(nodes(&file)[0].body.len(), 3, "{word}");
        assert_eq!(nodes(&file)[1].body.len(), 2, "{word}");
    }
}

#[test]
fn a_name_of_one_node_is_a_keyword_in_another() {
    let text = "node A(merge: int) returns (y: int);\nlet y = merge; tel\n\
                node B(c: bool; x: int) returns (y: int);\nlet y = merge(c; x; 0); tel";
    let file = accepted(text);
    assert!(file.exprs.iter().any(|expr| matches!(expr.kind, ExprKind::Merge { .. })));
}

#[test]
fn dotted_names_of_flattened_files_are_parsed() {
    let text = "node top(~x: int) returns (ok!1: bool);\nvar sub~0.y, a[0], r: int;\nlet\n  sub~0.y = ~x;\n  a[0] = \
                sub~0.y;\n  ok!1 = a[0] > 0;\n  --%PROPERTY ok!1;\n  --%IVC sub~0.y;\ntel;";
    let file = accepted(text);
    assert!(file.words.iter().any(|word| &**word == "sub~0.y"));
    assert!(
        !file
            .exprs
            .iter()
            .any(|expr| matches!(expr.kind, ExprKind::Field(..) | ExprKind::Index(..)))
    );
}

#[test]
fn bodies_may_end_as_in_jkind_and_kind2() {
    for end in ["tel", "tel;", "tel.", "tel\r\n", "tel -- end"] {
        for begin in ["", "\u{feff}", "\r\n"] {
            accepted(&format!("{begin}node N(x: int) returns (y: int)\r\nlet y = x;\r\n{end}"));
        }
    }
}

#[test]
fn functions_may_have_no_body() {
    let file = accepted(
        "function f(x: int) returns (y: int);\nconst c: int = 1;\nfunction g(x: int) returns (y: int);\nconst d: int = \
         2;\nlet y = d; tel\nfunction h() returns (y: bool)",
    );
    let nodes = nodes(&file);
    assert_eq!(nodes.iter().map(|node| node.imported).collect::<Vec<_>>(), [true, false, true]);
    assert!(nodes.iter().all(|node| node.kind == NodeKind::Function));
    assert_eq!(nodes[1].consts.len(), 1);
    assert!(matches!(file.items[1], Item::Const(_)));
}

#[test]
fn annotations_in_comments_are_ignored() {
    let parsed = parse(
        "node N(x: int) returns (y: int);\nlet\n  y = x;\n  --  --%PROPERTY x;\n  -- %PROPERTY x;\n  --@ ensures y;\n  \
         --@contract\n  // --%PROPERTY x;\n  (* --%PROPERTY x; *)\n  /* @contract assume x; */\n  --%PROPERTY y;\ntel",
    );
    // Only text that looks like the start of a contract gets a warning.
    let warned: Vec<String> = parsed.diagnostics.iter().map(|d| format!("{:?}", d.code)).collect();
    assert_eq!(warned, ["W0820"]);
    let file = parsed.file;
    assert_eq!(nodes(&file)[0].body.len(), 2);
    assert!(nodes(&file)[0].contract.is_none());
}

#[test]
fn the_sample_is_parsed_completely() {
    let file = accepted(SAMPLE);
    assert_eq!(nodes(&file).len(), 6);
    let tank = nodes(&file)[5];
    let mains =
        tank.body.iter().filter(|statement| matches!(statement, Statement::Main(_))).count();
    assert_eq!(mains, 2, "one is marked false");
    let properties =
        tank.body.iter().filter(|statement| matches!(statement, Statement::Property(_))).count();
    assert_eq!(properties, 8);
    assert_eq!(tank.inputs.iter().filter(|input| input.clock.is_some()).count(), 2);
    assert!(tank.inputs[0].constant);
    assert_eq!(tank.contract.as_ref().map(|contract| contract.items.len()), Some(2));
    let array_of_three = file.types.iter().any(|ty| match ty.kind {
        TypeKind::Array { element, size } => {
            matches!(file.ty(element).kind, TypeKind::Array { .. }) && shown(&file, size) == "3"
        }
        _ => false,
    });
    assert!(array_of_three, "bool^2^3 is an array of three");
}

#[test]
fn children_come_before_parents() {
    let file = accepted(SAMPLE);
    for (at, expr) in file.exprs.iter().enumerate() {
        let children: Vec<ExprId> = match &expr.kind {
            ExprKind::Unary(_, e)
            | ExprKind::Cast(_, e)
            | ExprKind::Field(e, _)
            | ExprKind::When(e, _) => vec![*e],
            ExprKind::Binary(_, a, b) | ExprKind::Repeat(a, b) | ExprKind::Index(a, b) => {
                vec![*a, *b]
            }
            ExprKind::If(a, b, c) | ExprKind::Lazy(a, b, c) => vec![*a, *b, *c],
            ExprKind::List(items) | ExprKind::Array(items) | ExprKind::Tuple(items) => {
                items.clone()
            }
            ExprKind::Call(call) => {
                let activation = call.activation.as_ref();
                let mut ids = call.args.clone();
                ids.extend(call.restart);
                ids.extend(activation.map(|activation| activation.condition));
                ids.extend(
                    activation
                        .and_then(|activation| activation.defaults.clone())
                        .unwrap_or_default(),
                );
                ids
            }
            ExprKind::Update { base, value, .. } => vec![*base, *value],
            ExprKind::Merge { arms, .. } => arms.iter().map(|(_, e)| *e).collect(),
            _ => Vec::new(),
        };
        assert!(children.iter().all(|child| (child.0 as usize) < at), "{expr:?}");
        let inside = children.iter().all(|child| {
            let child = file.expr(*child).span;
            expr.span.start <= child.start && child.end <= expr.span.end
        });
        assert!(inside, "{expr:?}");
    }
    assert!(file.exprs.iter().any(|expr| matches!(expr.kind, ExprKind::Unary(Unary::Current, _))));
    assert!(file.exprs.iter().any(|expr| matches!(expr.kind, ExprKind::Binary(Binary::Fby, _, _))));
}
