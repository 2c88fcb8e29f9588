//! Measures how many operators per second a compiled program applies on one core: `cargo bench -p
//! gander-term --bench evaluation`. The goal is 20 million per second.
#![allow(clippy::print_stdout)]

use std::hint::black_box;
use std::time::Instant;

use gander_term::random::{Shape, TermGenerator};
use gander_term::{Pool, Program, Scratch, Sort, TermId, Value, Width, evaluate, parse_term};

fn report(what: &str, operators: u64, seconds: f64) {
    println!("{what:<44} {:>8.1} million operators/s", operators as f64 / seconds / 1e6);
}

fn time(what: &str, pool: &Pool, roots: &[TermId], inputs: &dyn Fn(i64, &Program) -> Vec<Value>) {
    let program = Program::compile(pool, roots);
    let mut scratch = Scratch::new();
    let runs = 20_000_000 / program.len().max(1) as i64 + 1;
    let samples: Vec<Vec<Value>> = (0..64).map(|i| inputs(i, &program)).collect();
    let start = Instant::now();
    for i in 0..runs {
        let out = program.run(&samples[(i % 64) as usize], &mut scratch);
        black_box(out.is_ok());
    }
    report(what, runs as u64 * program.len() as u64, start.elapsed().as_secs_f64());
}

fn main() {
    let mut pool = Pool::new();
    for v in ["x", "y", "z"] {
        pool.variable(v, Sort::Int);
    }
    for v in ["a", "b"] {
        pool.variable(v, Sort::Real);
    }
    let step = "x + 1 <= 100 and (y > x or x * 3 == y - 2) -> (if x < y then x + y else x - y) != z mod 7 + 2 * x";
    let step = parse_term(&mut pool, step).expect("a term");
    let ints =
        |i: i64, p: &Program| (0..p.inputs().len() as i64).map(|k| Value::int(i * 7 + k)).collect();
    time("one small int formula", &pool, &[step], &ints);

    let linear = Shape {
        depth: 12,
        quantifiers: false,
        strings: false,
        nonlinear: false,
        large_constants: false,
        bit_vectors: false,
        bit_vector_conversions: false,
        arrays: false,
    };
    let mut large = Pool::new();
    let mut generator = TermGenerator::new(&mut large, 7, linear);
    let roots: Vec<TermId> = (0..20).map(|_| generator.term(&mut large, Sort::Bool)).collect();
    let mut samples = Vec::new();
    for _ in 0..64 {
        samples.push(generator.assignment(&large));
    }
    let program_inputs = |i: i64, p: &Program| {
        let sample = &samples[i as usize];
        p.inputs()
            .iter()
            .filter_map(|s| sample.iter().find(|(n, _)| n == s).map(|(_, v)| v.clone()))
            .collect()
    };
    time("random terms of ints, reals, bools, enums", &large, &roots, &program_inputs);

    let mut chain = pool.find_symbol("x").map(|s| pool.var(s)).expect("declared");
    let (y, one) = (pool.variable("y", Sort::Int), pool.int(1));
    for i in 0..1000 {
        chain = if i % 2 == 0 { pool.add(chain, one) } else { pool.sub(chain, y) };
    }
    time("a chain of 1000 sums", &pool, &[chain], &ints);

    let money = parse_term(&mut pool, "a + b * (1/3) <= a - 3/2 or a / 7.0 > b").expect("a term");
    let reals = |i: i64, p: &Program| {
        (0..p.inputs().len() as i64).map(|k| Value::whole(i * 7 + k)).collect()
    };
    time("reals with fractions", &pool, &[money], &reals);

    for v in ["v", "w"] {
        pool.variable(v, Sort::BitVec(Width::W32));
    }
    let words = "bvult(bvadd(v, bvmul(w, 3u32)), bvshl(v, 2u32)) and bvsle(bvxor(v, w), bvsdiv(w, bvor(v, 1u32)))";
    let words = parse_term(&mut pool, words).expect("a term");
    let bits = |i: i64, p: &Program| {
        (0..p.inputs().len() as i64).map(|k| Value::bits(Width::W32, i * 77_777 + k)).collect()
    };
    time("bit-vectors of 32 bits", &pool, &[words], &bits);

    let start = Instant::now();
    let count = 20_000;
    for i in 0..count {
        black_box(evaluate(&pool, step, &|_| Some(Value::int(i))).is_ok());
    }
    let operators = Program::compile(&pool, &[step]).len() as u64 * count as u64;
    report("without compiling (`evaluate`)", operators, start.elapsed().as_secs_f64());
}
