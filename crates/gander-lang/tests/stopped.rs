//! Cancellation stops every front-end at every stage of a long text.

use gander_lang::language_of;
use gander_runtime::{Cancellation, Stopped};

/// A small model in one language, and a comment in its syntax.
struct Sample {
    file: &'static str,
    comment: &'static str,
    text: &'static str,
}

const SAMPLES: &[Sample] = &[
    Sample {
        file: "m.sts",
        comment: "// nothing\n",
        text: "spec M\nvar x: int\nstart { x == 0 }\nstep s { x := x + 1 }\nalways p: x >= 0\n",
    },
    Sample {
        file: "m.lus",
        comment: "-- nothing\n",
        text: "node main(a: bool) returns (x: int);\nlet\n  x = 0 -> pre x + 1;\n  --%PROPERTY x >= 0;\ntel\n",
    },
    Sample {
        file: "m.btor2",
        comment: "; nothing\n",
        text: "1 sort bitvec 8\n2 zero 1\n3 state 1 x\n4 init 1 3 2\n5 one 1\n6 add 1 3 5\n7 next 1 3 6\n\
               8 sort bitvec 1\n9 ones 1\n10 eq 8 3 9\n11 bad 10\n",
    },
    Sample {
        file: "m.vmt",
        comment: "; nothing\n",
        text: "(declare-fun x () Int)\n(declare-fun x.next () Int)\n(define-fun .x () Int (! x :next x.next))\n\
               (define-fun .i () Bool (! (= x 0) :init true))\n\
               (define-fun .t () Bool (! (= x.next (+ x 1)) :trans true))\n\
               (define-fun .p () Bool (! (>= x 0) :invar-property 0))\n",
    },
    Sample {
        file: "m.smt2",
        comment: "; nothing\n",
        text: "(set-logic HORN)\n(declare-fun P (Int) Bool)\n(assert (P 0))\n\
               (assert (forall ((x Int)) (=> (P x) (P (+ x 1)))))\n\
               (assert (forall ((x Int)) (=> (and (P x) (< x 0)) false)))\n",
    },
    Sample {
        file: "m.mcmt",
        comment: "; nothing\n",
        text: "(define-state-type S ((x Int)))\n(define-states I S (= x 0))\n\
               (define-transition T S (= next.x (+ state.x 1)))\n\
               (define-transition-system M S I T)\n(query M (>= x 0))\n",
    },
    Sample {
        file: "m.smv",
        comment: "-- nothing\n",
        text: "MODULE main\nVAR x : 0..3;\nASSIGN init(x) := 0; next(x) := x < 3 ? x + 1 : 0;\nINVARSPEC x <= 3;\n",
    },
    Sample {
        file: "m.script",
        comment: "// nothing\n",
        text: "VARS: int x;\nINIT: x = 0;\nTRANS: ? x < 9 -> x = x + 1;\nSAFE: x <= 9\n",
    },
];

/// The number of comments before the model; reading them needs more cancellation checks than the
/// rest.
const COMMENTS: usize = 5000;

fn read(sample: &Sample, text: &str) -> bool {
    let language = language_of(sample.file).expect("the language is known");
    let loaded = (language.load)(text, sample.file);
    assert!(loaded.errors().next().is_none(), "{}: {:?}", sample.file, loaded.diagnostics);
    loaded.system.is_some()
}

#[test]
fn loading_is_cancelled_at_every_stage() {
    for sample in SAMPLES {
        let long = sample.comment.repeat(COMMENTS) + sample.text;
        for looks in [1, 100, 2000] {
            let stopped = Cancellation::after_checks(looks).run_cancellable(|| read(sample, &long));
            assert_eq!(stopped, Err(Stopped::Cancelled), "{}, {looks} looks", sample.file);
        }
        // Without the comments: cancellation must also work in the later stages.
        let mut looks = 1;
        let whole = loop {
            match Cancellation::after_checks(looks).run_cancellable(|| read(sample, sample.text)) {
                Err(Stopped::Cancelled) => looks += 1,
                Err(Stopped::OutOfMemory) => panic!("there is no limit on memory"),
                Ok(read) => break read,
            }
        };
        assert!(whole, "{}: the sample is read", sample.file);
        assert!(looks > 10, "{}: only {looks} looks at a whole model", sample.file);
    }
}
