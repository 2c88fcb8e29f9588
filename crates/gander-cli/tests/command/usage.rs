use expect_test::expect;

use crate::support::{COUNTER, Folder};

#[test]
fn help_and_version_are_printed() {
    let folder = Folder::new();
    let ran = folder.run(&["--version"]);
    assert_eq!((ran.code, ran.out), (0, format!("gander {}\n", env!("CARGO_PKG_VERSION"))));
    let ran = folder.run(&["--help"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    for word in [
        "check",
        "simulate",
        "graph",
        "certify",
        "fmt",
        "doctor",
        "setup",
        "Examples:",
        "Exit codes",
    ] {
        assert!(ran.out.contains(word), "{word}: {}", ran.out);
    }
    let ran = folder.run(&["check", "--help"]);
    assert!(ran.code == 0 && ran.out.contains("--second-opinion"), "{}", ran.out);
    assert_eq!(folder.run(&[]).code, 2);
}

#[test]
fn misspelt_options_get_a_suggestion() {
    let folder = Folder::with("counter.sts", COUNTER);
    let ran = folder.run(&["chekc", "counter.sts"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("'check'"), "{}", ran.err);
    let ran = folder.run(&["check", "--jsno", "counter.sts"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("'--json'"), "{}", ran.err);
    let ran = folder.run(&["check", "--property", "smal", "counter.sts"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    expect![[r#"
        error: there is no claim `smal`
          = help: did you mean `small`?
          = help: claims are small, unseen, high, twice, far, satisfiable start, can enable up, can enable rise, can enable down, no sinkhole Low, no sinkhole High
    "#]].assert_eq(&ran.err);
    let ran = folder.run(&["check", "--engine", "induktion", "counter.sts"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("did you mean `induction`?"), "{}", ran.err);
}

#[test]
fn values_of_options_are_checked() {
    let folder = Folder::with("counter.sts", COUNTER);
    for option in [
        "--timeout=0",
        "--timeout=soon",
        "--jobs=0",
        "--memory=-1",
        "--checks=some",
        "--solver=z3",
        "--trace=x",
    ] {
        let ran = folder.run(&["check", option, "counter.sts"]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{option}");
        assert!(ran.err.contains("error:"), "{option}: {}", ran.err);
    }
}

#[test]
fn codes_are_explained() {
    let folder = Folder::new();
    let ran = folder.run(&["explain", "e0202"]);
    assert_eq!(ran.code, 0);
    expect![[r#"
        E0202: unknown name

        A formula mentions a name that is not declared as a variable, constant, input, definition, parameter or enumeration value. Declare it, or correct its spelling.

        For example:

            spec A var x: int start { y == 0 }
    "#]].assert_eq(&ran.out);
    assert!(folder.run(&["explain"]).out.contains("W0803  nothing is claimed"));
    let ran = folder.run(&["explain", "E020"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("there is no code `E020`"), "{}", ran.err);
}

#[test]
fn the_doctor_examines_solvers() {
    needs_z3!();
    let folder = Folder::new();
    let ran = folder.run(&["doctor"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
    assert!(ran.out.contains("\nz3 ") && ran.out.contains("passes"), "{}", ran.out);
    let mut command = folder.command(&["doctor"]);
    command.env("GANDER_Z3", "none").env("GANDER_YICES", "none").env("PATH", "");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stdout).unwrap().contains("no z3  `gander setup` fetches it"));
}

#[test]
fn a_portfolio_file_is_used_or_rejected_with_the_reason() {
    let folder = Folder::with("counter.sts", crate::support::COUNTER);
    let printed = folder.run(&["engines", "--portfolio"]);
    assert_eq!(printed.code, 0);
    folder.write("same.toml", &printed.out);
    folder.write("bmc.toml", "[[plan]]\nname = 'mine'\nengines.bmc = {}\n");
    folder.write("typo.toml", "[[plan]]\nname = 'mine'\nengines.bcm = {}\n");
    let wrong = folder.run(&["check", "--portfolio", "typo.toml", "counter.sts"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.starts_with(
        "error: the portfolio typo.toml cannot be used: plan `mine`: there is no engine `bcm`"
    ));
    assert_eq!(folder.run(&["check", "--portfolio", "none.toml", "counter.sts"]).code, 2);
    needs_z3!();
    let usual = folder.run(&["check", "--portfolio", "same.toml", "counter.sts"]);
    assert_eq!(usual.code, 1, "{}", usual.err);
    let args = [
        "check",
        "--portfolio",
        "bmc.toml",
        "--explain-schedule",
        "--max-depth",
        "9",
        "-p",
        "small",
        "counter.sts",
    ];
    let only = folder.run(&args);
    assert_eq!(only.code, 3, "{}{}", only.out, only.err);
    assert!(only.out.contains("plan mine\n") && !only.out.contains("induction"), "{}", only.out);
}

#[test]
fn the_help_of_export_names_every_language() {
    let help = Folder::new().run(&["export", "--help"]).out;
    for name in ["sts", "script", "lustre", "smv", "horn", "vmt", "btor2", "uppaal", "smt2", "dot"]
    {
        assert!(help.contains(name), "{name}\n{help}");
    }
}

#[test]
fn the_language_of_the_standard_input_is_guessed() {
    let model = b"node N(x: int) returns (y: int);\nlet\n  y = x;\n  --%PROPERTY y = x;\ntel\n";
    let ran = Folder::new().run_with_input(&["check", "-"], model);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
    assert!(ran.out.contains("holds    y = x"), "{}", ran.out);
}
