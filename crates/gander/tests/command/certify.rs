use crate::support::{COUNTER, Folder, have_z3};

/// Every verdict's evidence is saved and accepted again; tampered evidence is not.
#[test]
fn saved_evidence_is_accepted_and_tampered_evidence_is_not() {
    if !have_z3("saved_evidence_is_accepted_and_tampered_evidence_is_not") {
        return;
    }
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
    let ran = folder.run(&["certify", "--second-opinion", "z3", "counter.sts", "proofs/counter.small.evidence.json"]);
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
fn evidence_that_cannot_be_saved_is_an_error() {
    if !have_z3("evidence_that_cannot_be_saved_is_an_error") {
        return;
    }
    let folder = Folder::with("counter.sts", COUNTER);
    // A folder stands where the file should go.
    std::fs::create_dir_all(folder.path.join("proofs/counter.small.evidence.json")).unwrap();
    let ran = folder.run(&["check", "--save-evidence", "proofs", "-p", "small", "counter.sts"]);
    assert_eq!(ran.code, 2);
    assert!(ran.out.starts_with("holds    small"), "{}", ran.out);
    assert!(ran.err.contains("counter.small.evidence.json cannot be written"), "{}", ran.err);
}

#[test]
fn files_that_are_no_evidence() {
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
        &["certify", "--second-opinion", "nobody", "counter.sts", "e.json"],
    ] {
        let ran = folder.run(args);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}");
        assert!(ran.err.contains("error"), "{args:?}: {}", ran.err);
    }
}
