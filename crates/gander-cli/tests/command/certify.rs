use crate::support::{COUNTER, Folder};

/// The evidence of every verdict is saved, and accepted by `certify`. Tampered evidence is
/// rejected.
#[test]
fn saved_evidence_is_accepted_and_tampered_evidence_is_not() {
    needs_z3!();
    let folder = Folder::with("counter.sts", COUNTER);
    let ran = folder.run(&["check", "--save-evidence", "proofs", "counter.sts"]);
    assert_eq!(ran.code, 1);
    let proofs: Vec<String> = std::fs::read_dir(folder.path.join("proofs"))
        .unwrap()
        .map(|e| format!("proofs/{}", e.unwrap().file_name().into_string().unwrap()))
        .collect();
    assert!(proofs.contains(&"proofs/counter.small.evidence.json".to_string()), "{proofs:?}");
    assert!(proofs.len() >= 11, "{proofs:?}");
    for proof in &proofs {
        let ran = folder.run(&["certify", "counter.sts", proof]);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{proof}: {}", ran.out);
        assert!(ran.out.starts_with("accepted: "), "{}", ran.out);
    }
    let ran = folder.run(&[
        "certify",
        "--second-opinion",
        "z3",
        "counter.sts",
        "proofs/counter.small.evidence.json",
    ]);
    assert!(ran.code == 0 && ran.out.contains("z3"), "{} {}", ran.out, ran.err);

    let run = folder.read("proofs/counter.unseen.evidence.json");
    folder.write("claim.json", run.replace("\"claim\": \"unseen\"", "\"claim\": \"small\""));
    let ran = folder.run(&["certify", "counter.sts", "claim.json"]);
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert!(ran.out.starts_with("rejected: the evidence that small fails is wrong"), "{}", ran.out);
    folder.write("verdict.json", run.replace("\"verdict\": \"fails\"", "\"verdict\": \"holds\""));
    assert_eq!(folder.run(&["certify", "counter.sts", "verdict.json"]).code, 1);
    folder.write("value.json", run.replacen("\"x\": \"1\"", "\"x\": \"2\"", 1));
    assert_eq!(folder.run(&["certify", "counter.sts", "value.json"]).code, 1);
}

#[test]
fn evidence_names_its_model_producer_and_solvers() {
    needs_z3!();
    // At least one obligation has a product of variables. Yices does not support products, so the
    // query needs z3, or cvc5 if it is installed.
    let only_z3 = ["--solver", "cvc5=none"];
    let model = "var x: int\nstart { x == 2 }\nstep up { x := x * x }\nalways big: x >= 2\n";
    let folder = Folder::with("m.sts", model);
    assert_eq!(
        folder
            .run(
                &[
                    &["check", "--checks", "none", "--save-evidence", "proofs", "m.sts"],
                    &only_z3[..]
                ]
                .concat()
            )
            .code,
        0
    );
    let saved: serde_json::Value =
        serde_json::from_str(&folder.read("proofs/m.big.evidence.json")).unwrap();
    let made = &saved["provenance"];
    assert_eq!(made["model_sha256"].as_str().map(str::len), Some(64), "{made}");
    assert!(made["producer"].as_str().is_some_and(|p| p.starts_with("gander ")), "{made}");
    assert_eq!(made["rests_on"], "one-solver", "{made}");
    assert_eq!(made["solvers"][0]["name"], "z3", "{made}");
    assert!(made["solvers"][0]["version"].as_str().is_some_and(|v| v.contains('.')), "{made}");
    let ran =
        folder.run(&[&["certify", "m.sts", "proofs/m.big.evidence.json"], &only_z3[..]].concat());
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
    folder.write("m.sts", format!("// changed\n{model}"));
    let ran =
        folder.run(&[&["certify", "m.sts", "proofs/m.big.evidence.json"], &only_z3[..]].concat());
    assert!(
        ran.code == 0 && ran.err.contains("another text of the model"),
        "{} {}",
        ran.out,
        ran.err
    );
    let ran = folder.run(
        &[&["certify", "--trust", "two", "m.sts", "proofs/m.big.evidence.json"], &only_z3[..]]
            .concat(),
    );
    assert_eq!(ran.code, 3, "{}", ran.out);
}

#[test]
fn evidence_that_cannot_be_saved_is_an_error() {
    needs_z3!();
    let folder = Folder::with("counter.sts", COUNTER);
    // A folder has the name of the file to write.
    std::fs::create_dir_all(folder.path.join("proofs/counter.small.evidence.json")).unwrap();
    let ran = folder.run(&["check", "--save-evidence", "proofs", "-p", "small", "counter.sts"]);
    assert_eq!(ran.code, 2);
    assert!(ran.out.starts_with("holds    small"), "{}", ran.out);
    assert!(ran.err.contains("counter.small.evidence.json cannot be written"), "{}", ran.err);
}

#[test]
fn files_that_are_no_evidence_are_rejected() {
    let folder = Folder::with("counter.sts", COUNTER);
    folder.write("e.json", "{}");
    folder.write("n.json", "nonsense");
    for args in [
        &["certify", "counter.sts", "e.json"][..],
        &["certify", "counter.sts", "n.json"],
        &["certify", "counter.sts", "none.json"],
        &["certify", "none.sts", "e.json"],
        &["certify", "counter.sts"],
        &["certify", "e.json", "e.json"],
        &["certify", "--second-opinion", "missing", "counter.sts", "e.json"],
    ] {
        let ran = folder.run(args);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}");
        assert!(ran.err.contains("error"), "{args:?}: {}", ran.err);
    }
}

/// Values of bit-vectors in runs, and operators on them in invariants.
#[test]
fn evidence_about_bit_vectors_is_saved_and_accepted() {
    needs_z3!();
    let model = "spec Byte\nvar x: bits8\nvar wide: bits70\nstart { x == 250, wide == 1 }\n\
                 step up { x := x + 2, wide := bvshl(wide, 1) }\n\
                 always even: bvand(x, 1) == 0\nalways grows: x >= 250\n";
    let folder = Folder::with("byte.sts", model);
    assert_eq!(folder.run(&["check", "--save-evidence", "proofs", "byte.sts"]).code, 1);
    for claim in ["even", "grows"] {
        let ran =
            folder.run(&["certify", "byte.sts", &format!("proofs/byte.{claim}.evidence.json")]);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{claim}: {}", ran.out);
    }
    let run = folder.read("proofs/byte.grows.evidence.json");
    assert!(run.contains("\"x\": \"254\"") && run.contains("\"x\": \"0\""), "{run}");
    folder.write("value.json", run.replacen("\"x\": \"0\"", "\"x\": \"1\"", 1));
    assert_eq!(folder.run(&["certify", "byte.sts", "value.json"]).code, 1);
    folder.write("range.json", run.replacen("\"x\": \"0\"", "\"x\": \"256\"", 1));
    let ran = folder.run(&["certify", "byte.sts", "range.json"]);
    assert!(
        ran.code == 2 && ran.err.contains("does not fit into 8 bits"),
        "{} {}",
        ran.code,
        ran.err
    );
    let invariant = folder.read("proofs/byte.even.evidence.json");
    folder.write("odd.json", invariant.replace("0u8", "1u8"));
    assert_eq!(folder.run(&["certify", "byte.sts", "odd.json"]).code, 1, "{invariant}");
}

#[test]
fn evidence_about_bounded_and_unbounded_goals_of_a_script_is_accepted() {
    needs_z3!();
    let script = "MAXSTEPS: 3\nVARS:\n  int x : 0..9;\nINIT:\n  x = 0;\nTRANS:\n  x = x + 1;\n\
                  SAFE low: x < 4\nREACH six: x == 6\nINF:\nDEADLOCK:\nLIVENESS: x == 9\n";
    let folder = Folder::with("both.script", script);
    let ran = folder.run(&["check", "--save-evidence", "saved", "both.script"]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    let saved = std::fs::read_dir(folder.path.join("saved")).unwrap();
    let files: Vec<String> = saved.map(|f| f.unwrap().file_name().into_string().unwrap()).collect();
    let verdicts = folder.run(&["check", "--json", "both.script"]);
    let verdicts: serde_json::Value = serde_json::from_str(&verdicts.out).unwrap();
    assert_eq!(files.len(), verdicts["results"].as_array().unwrap().len(), "{files:?}");
    for file in files {
        let ran = folder.run(&["certify", "both.script", &format!("saved/{file}")]);
        assert_eq!(ran.code, 0, "{file}: {}{}", ran.out, ran.err);
    }
}
