use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use expect_test::{Expect, expect};

use crate::support::{COUNTER, Folder};

fn rejected(content: &[u8], expected: &Expect) {
    let folder = Folder::with("m.sts", content);
    let ran = folder.run(&["check", "m.sts"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
    expected.assert_eq(&ran.err);
    // The other commands reject the file, too, and do not change it.
    for args in [&["graph", "m.sts"][..], &["simulate", "m.sts"]] {
        assert_eq!(folder.run(args).code, 2, "{args:?}");
    }
    assert_eq!(std::fs::read(folder.path.join("m.sts")).unwrap(), content);
}

#[test]
fn an_empty_file_is_rejected() {
    rejected(
        b"",
        &expect![[r#"
        error[E0505]: this file declares nothing
         --> m.sts:1:1
          |
        1 | 
          | ^
          = help: begin with `spec Name`, variables and a `start`
    "#]],
    );
    rejected(
        b" \n\t// only a comment\n",
        &expect![[r#"
        error[E0505]: this file declares nothing
         --> m.sts:1:1
          |
        1 | 
          | ^
          = help: begin with `spec Name`, variables and a `start`
    "#]],
    );
}

#[test]
fn a_binary_file_is_rejected() {
    rejected(
        b"\x7fELF\0\0\x01",
        &expect![[r#"
        error: m.sts: this is no text file: byte 4 is zero
    "#]],
    );
}

#[test]
fn other_encodings_are_rejected() {
    rejected(
        b"spec A\n// caf\xe9\n",
        &expect![[r#"
        error: m.sts: the file is not in UTF-8: see byte 13, on line 2
          = help: save the file as UTF-8
    "#]],
    );
    rejected(
        b"\xff\xfes\0p\0",
        &expect![[r#"
        error: m.sts: the file is in UTF-16, and models are in UTF-8
          = help: save the file as UTF-8
    "#]],
    );
}

#[test]
fn a_truncated_file_is_rejected_with_what_was_expected() {
    rejected(
        &COUNTER.as_bytes()[..120],
        &expect![[r#"
        error[E0115]: expected `}`, found the end of the file
         --> m.sts:7:6
          |
        5 | node Low {
          |          - to close this
        ...
        7 |   ris
          |      ^ expected `}`
    "#]],
    );
}

#[test]
fn all_errors_of_a_model_are_reported_in_one_run() {
    let model = "spec A var x: itn start { y == 0 } step s { x := true, z := 1 } always p: x + p\n";
    let ran = Folder::with("m.sts", model).run(&["check", "m.sts"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.matches("error[").count() >= 3, "{}", ran.err);
    assert!(ran.err.contains("did you mean `int`?"), "{}", ran.err);
}

#[test]
fn missing_files_and_folders_are_rejected() {
    let folder = Folder::new();
    let ran = folder.run(&["check", "none.sts"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    expect![[r#"
        error: none.sts: there is no such file
    "#]]
    .assert_eq(&ran.err);
    let ran = folder.run(&["check", "."]);
    assert_eq!(ran.code, 2);
    expect![[r#"
        error: .: this is a directory, not a file
          = help: name the files, for example with FOLDER/*.sts
    "#]]
    .assert_eq(&ran.err);
    for command in ["graph", "simulate", "fmt"] {
        let ran = folder.run(&[command, "none.sts"]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{command}");
        assert_eq!(ran.err, "error: none.sts: there is no such file\n");
    }
}

#[test]
fn an_unreadable_file_is_rejected() {
    let folder = Folder::with("m.sts", COUNTER);
    std::fs::set_permissions(folder.path.join("m.sts"), std::fs::Permissions::from_mode(0o000))
        .unwrap();
    if std::fs::read(folder.path.join("m.sts")).is_ok() {
        // Root can read every file, so this test uses a file whose content cannot be read.
        assert_eq!(folder.run(&["check", "/proc/self/mem"]).code, 2);
        return;
    }
    let ran = folder.run(&["check", "m.sts"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("it cannot be read"), "{}", ran.err);
}

#[test]
fn a_file_above_the_size_limit_is_rejected() {
    let folder = Folder::new();
    folder.write("m.sts", "x".repeat(50 << 20));
    let ran = folder.run(&["check", "m.sts"]);
    assert_eq!(ran.code, 2);
    expect![[r#"
        error: m.sts: the file is larger than the limit of 32 MiB
          = help: split the specification, or compose it of instances
    "#]]
    .assert_eq(&ran.err);
    let ran = folder.run_with_input(&["check", "-"], "y ".repeat(25 << 20).as_bytes());
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("larger than the limit"), "{}", ran.err);
}

#[test]
fn deep_nesting_is_an_error_and_not_a_crash() {
    let deep = format!(
        "spec A var x: int start {{ {}x{} == 0 }}",
        "(".repeat(100_000),
        ")".repeat(100_000)
    );
    let ran = Folder::with("m.sts", deep).run(&["check", "m.sts"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("E0111"), "{}", &ran.err[..ran.err.len().min(500)]);
}

#[test]
fn a_file_given_twice_is_checked_once() {
    needs_z3!();
    let folder = Folder::with("m.sts", COUNTER);
    let ran = folder.run(&["check", "-p", "small", "m.sts", "./m.sts"]);
    assert_eq!((ran.code, ran.out.matches("small").count()), (0, 1));
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let folder = Folder::new();
    let steps: String = (0..3000).map(|i| format!("always p{i}: x >= {i}\n")).collect();
    folder.write(
        "m.sts",
        format!("spec A var x: int start {{ x == 0 }} step s {{ x := x }}\n{steps}"),
    );
    for args in [
        &["fmt", "--check", "m.sts"][..],
        &["explain"],
        &["graph", "--format", "dot", "m.sts"],
        &["--help"],
    ] {
        let mut child =
            folder.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(
            output.status.code().is_some_and(|c| c <= 1) && err.is_empty(),
            "{args:?}: {:?} {err}",
            output.status
        );
    }
}

#[test]
fn a_full_disk_is_an_error() {
    if !std::path::Path::new("/dev/full").exists() {
        return;
    }
    let folder = Folder::with("m.sts", COUNTER);
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = folder.command(&["explain"]).stdout(full).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("the output cannot be written"));
}

#[test]
fn a_model_without_claims_is_rejected() {
    needs_z3!();
    let folder = Folder::with("m.sts", "spec A var x: int start { x == 0 } step s { x := x + 1 }");
    let ran = folder.run(&["check", "--checks", "all", "m.sts"]);
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (
            0,
            "holds    3 structural checks: 1 start is satisfiable, 1 transition can be enabled, 1 node has no sinkhole\n"
        )
    );
    assert!(ran.err.contains("W0803"), "{}", ran.err);
    assert_eq!(folder.run(&["check", "m.sts"]).code, 2);
    let ran = folder.run(&["check", "--checks", "none", "m.sts"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
}

#[test]
fn an_assignment_sign_in_a_script_gets_a_fix() {
    let model = "VARS:\n  int x;\nINIT:\n  x = 0;\nTRANS:\n  x := 1;\nSAFE p: x >= 0\n";
    let ran = Folder::with("m.script", model).run(&["check", "m.script"]);
    assert_eq!(ran.code, 2);
    ran.complains(&["`:=` is not an operator of scripts", "help: write `=`"]);
}
