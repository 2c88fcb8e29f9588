use std::os::unix::fs::PermissionsExt;

use crate::support::{COUNTER, Folder};

const MESSY: &str =
    "spec   A\nvar x:int // the value\nstart{x==0}\n  step s{x:=x+1}\nalways p :x>=0\n";

#[test]
fn files_are_formatted_in_place() {
    let folder = Folder::with("a.sts", MESSY);
    let path = folder.path.join("a.sts");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    let check = folder.run(&["fmt", "--check", "a.sts"]);
    assert_eq!((check.code, check.out.as_str()), (1, "a.sts\n"));
    assert_eq!(folder.read("a.sts"), MESSY);
    let ran = folder.run(&["fmt", "a.sts"]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "", ""));
    let formatted = folder.read("a.sts");
    assert!(formatted != MESSY && formatted.contains("// the value"), "{formatted}");
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(folder.run(&["fmt", "--check", "a.sts"]).code, 0);
    assert_eq!(folder.names(), ["a.sts"]);
}

#[test]
fn standard_input_goes_to_standard_output() {
    let folder = Folder::with("a.sts", MESSY);
    let ran = folder.run_with_input(&["fmt", "-"], MESSY.as_bytes());
    assert_eq!(ran.code, 0);
    folder.run(&["fmt", "a.sts"]);
    assert_eq!(ran.out, folder.read("a.sts"));
}

#[test]
fn files_with_syntax_errors_are_left_alone() {
    let broken = "spec A var x: int start { (x == 0 }";
    let folder = Folder::with("a.sts", broken);
    folder.write("b.sts", MESSY);
    let ran = folder.run(&["fmt", "a.sts", "b.sts"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("error[E0115]") && ran.err.contains("a.sts:1:"), "{}", ran.err);
    assert_eq!(folder.read("a.sts"), broken);
    assert_ne!(folder.read("b.sts"), MESSY);
}

#[test]
fn formatting_changes_no_verdict() {
    let folder = Folder::with("a.sts", COUNTER);
    assert_eq!(folder.run(&["fmt", "a.sts"]).code, 0);
    let before = folder.run(&["graph", "--format", "dot", "a.sts"]).out;
    folder.write("b.sts", COUNTER);
    assert_eq!(folder.run(&["graph", "--format", "dot", "b.sts"]).out, before);
}

#[test]
fn write_protected_files_stay() {
    let folder = Folder::with("a.sts", MESSY);
    std::fs::set_permissions(folder.path.join("a.sts"), std::fs::Permissions::from_mode(0o444))
        .unwrap();
    let ran = folder.run(&["fmt", "a.sts"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("write-protected"), "{}", ran.err);
    assert_eq!(folder.read("a.sts"), MESSY);
}
