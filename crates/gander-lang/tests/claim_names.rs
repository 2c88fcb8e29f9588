//! A claim without a name is named after its text, independently of its layout.

use gander_lang::sts;

fn names(claims: &str) -> Vec<String> {
    let source =
        format!("spec S\nvar x: int\nstart {{ x == 0 }}\nstep go {{ x := x + 1 }}\n{claims}\n");
    let system = sts::load(&source, "s.sts").system.expect("the model loads");
    system.claims().iter().map(|c| c.name.clone()).collect()
}

#[test]
fn names_of_claims_do_not_depend_on_layout() {
    assert_eq!(names("always x>=0->x> -1"), ["always x >= 0 -> x > -1"]);
    assert_eq!(names("always : x /* why */ >=\n  0"), ["always: x >= 0"]);
    assert_eq!(names("always -2^2==4"), ["always (-2)^2 == 4"]);
}
