use crate::support::{COUNTER, Folder};

#[test]
fn a_report_has_claims_runs_coverage_and_source() {
    needs_z3!();
    let folder = Folder::with("counter.sts", COUNTER);
    let ran = folder.run(&["report", "counter.sts", "-o", "r.html"]);
    assert_eq!((ran.code, ran.err.as_str()), (1, ""), "{}", ran.out);
    assert!(ran.out.starts_with("r.html: ") && ran.out.contains("2 fail"), "{}", ran.out);
    let page = folder.read("r.html");
    for text in [
        "<td class=\"fails\">fails</td><th scope=\"row\"><a href=\"#claim-1\">unseen</a></th>",
        "<article class=\"claim\" id=\"claim-1\">",
        // The run: on the graph and on a timeline.
        "class=\"edge taken\" data-taken=\"4\"",
        "<table class=\"time\">",
        // The proof of `small`.
        "The invariant",
        "It rests on these elements",
        "<section id=\"coverage\">",
        "structural checks",
        // A claim is marked in the source.
        "<a class=\"badge fails\" href=\"#claim-1\" title=\"unseen\">fails</a>",
    ] {
        assert!(page.contains(text), "`{text}` in\n{page}");
    }
    assert!(!page.contains("http:") && !page.contains("https:") && !page.contains("src="));
}

/// One core of each claim is no exact coverage, and all cores are.
#[test]
fn coverage_by_one_core_is_a_lower_bound() {
    needs_z3!();
    let model = "spec S\nvar x: int\nvar y: int\nstart { x == 0, y == 0 }\n\
                 step up when x < 3 and x < 5 { x := x + 1 }\nstep other { y := y + 1 }\n\
                 always small: x <= 9\n";
    let folder = Folder::with("s.sts", model);
    let page = |cores: &str| {
        let ran = folder.run(&["report", "s.sts", "-o", "r.html", "--cores", cores]);
        assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
        folder.read("r.html")
    };
    let one = page("one");
    assert!(one.contains("there may be others") && one.contains("at least "), "{one}");
    assert!(one.contains("In no minimal core that was found"), "{one}");
    let all = page("all");
    assert!(all.contains("all minimal cores") && !all.contains("at least "), "{all}");
    assert!(all.contains("<summary>In no minimal core: "), "{all}");
    let none = page("none");
    assert!(none.contains("Not computed") && !none.contains("It rests on"), "{none}");
}

#[test]
fn what_is_not_decided_is_no_coverage() {
    let hard = "spec H\nvar x, y: int\nstart { x == 0, y == 0 }\n\
                step s(a: int) when a > 0 { x := x + a, y := y + a * a * a - a * a }\n\
                always p: y >= 0 or x * y * y > 7\n";
    let folder = Folder::with("h.sts", hard);
    let args = ["--solver", "z3=none", "--solver", "yices=none", "--solver", "cvc5=none"];
    let mut given = vec!["report", "h.sts", "-o", "r.html", "--timeout", "1"];
    given.extend(args);
    let ran = folder.run(&given);
    assert_eq!(ran.code, 3, "{}{}", ran.out, ran.err);
    let page = folder.read("r.html");
    assert!(page.contains("<td class=\"unknown\">unknown</td>"), "{page}");
    assert!(page.contains("It was not decided."), "{page}");
    assert!(
        page.contains("not known (of 5 elements)") && page.contains("Not decided, or"),
        "{page}"
    );
    assert!(!page.contains("At most one minimal core"), "no claim has a proof: {page}");
}

#[test]
fn names_and_texts_are_escaped() {
    needs_z3!();
    let model = "(set-logic QF_LIA)\n\
        (declare-fun |<script>x</script>| () Int)\n(declare-fun next () Int)\n\
        (define-fun sv () Int (! |<script>x</script>| :next next))\n\
        (define-fun i () Bool (! (= |<script>x</script>| 0) :init true))\n\
        (define-fun t () Bool (! (= next (+ |<script>x</script>| 1)) :trans true))\n\
        (define-fun |<img onerror=a>| () Bool (! (< |<script>x</script>| 2) :invar-property 0))\n";
    let folder = Folder::with("<b>&\".vmt", model);
    let ran = folder.run(&["report", "<b>&\".vmt", "-o", "r.html"]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    let page = folder.read("r.html");
    assert!(page.contains("&lt;script&gt;x&lt;/script&gt;"), "{page}");
    assert!(!page.contains("<script>x") && !page.contains("<img") && !page.contains("<b>&\""));
    assert_eq!(page.matches("<script").count(), 1, "its own script only");
}

#[test]
fn errors_are_on_the_page_and_decide_the_exit_code() {
    let folder = Folder::with("bad.sts", "spec S\nvar x: int\nstart { y == 0 }\n");
    let ran = folder.run(&["report", "bad.sts", "-o", "r.html"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, "r.html: the model has errors\n"));
    assert!(ran.err.contains("error"), "{}", ran.err);
    let page = folder.read("r.html");
    assert!(page.contains("id=\"finding-0\"") && page.contains("class=\"badge fails\""), "{page}");
    assert_eq!(folder.run(&["report", "none.sts", "-o", "n.html"]).code, 2);
    assert_eq!(folder.run(&["report", "bad.sts", "-o", "none/n.html"]).code, 2);
}

#[test]
fn a_lustre_report_has_streams_and_several_roots() {
    needs_z3!();
    let model = "node up(go: bool) returns (n: int; ok: bool);\nlet\n  n = (if go then 1 else 0) + (0 -> pre n);\n  ok = n < 3;\n  --%PROPERTY ok;\ntel\n\
                 node flip(x: bool) returns (y: bool);\nlet\n  y = not x;\n  --%PROPERTY y or x;\ntel\n";
    let folder = Folder::with("m.lus", model);
    let ran = folder.run(&["report", "m.lus", "-o", "r.html"]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    let page = folder.read("r.html");
    assert!(page.contains("<tr class=\"group\"><th>Inputs</th>"), "{page}");
    assert!(page.contains("1 claim has cores of its proof."), "{page}");
    assert!(!page.contains("class=\"graph\""), "no control graph: {page}");
}

#[test]
fn coverage_names_proved_claims_without_cores() {
    needs_z3!();
    let model = "spec R var x: int 0..3 start { x == 0 }
step up when x < 3 { x := x + 1 }
step down when x > 0 { x := x - 1 }
always p: x >= 0
possible home: x == 0
";
    let folder = Folder::with("m.sts", model);
    let ran = folder.run(&["report", "m.sts", "-o", "r.html"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let page = folder.read("r.html");
    assert!(page.contains("2 claims have cores of their proofs."), "{page}");
    assert!(
        page.contains(
            "Proved, but cores are not defined for these, so they cover nothing here: home."
        ),
        "{page}"
    );
}

/// The runs that a proof of *leads to* limits are those after a state with the premise; other runs
/// can go on for ever without the conclusion.
#[test]
fn a_proof_of_leads_to_is_about_runs_that_wait() {
    needs_z3!();
    let model = "spec S\nvar n: int\nstart -> Idle { n == 0 }\n\
                 node Idle {\n  rest when n < 3 { n := n + 1 }\n  again when n == 3 { n := 0 }\n  \
                 ask -> Waiting\n}\nnode Waiting { answer -> Done }\n\
                 node Done { back -> Idle { n := 0 } }\n\
                 always answered: in Waiting leads to in Done\n";
    let folder = Folder::with("s.sts", model);
    let ran = folder.run(&["report", "s.sts", "-o", "r.html"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let page = folder.read("r.html");
    assert!(page.contains("no run goes on for more than 0 steps waiting for it"), "{page}");
    assert!(!page.contains("steps without it"), "{page}");
}
