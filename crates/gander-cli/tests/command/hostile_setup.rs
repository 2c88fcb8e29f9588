//! Set-up and the search for programs in a hostile current folder.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{COUNTER, Folder, within};

/// A program that leaves a mark and then does nothing.
fn trap(mark: &Path) -> String {
    format!("#!/bin/sh\ntouch '{}'\nexit 1\n", mark.display())
}

/// Python code that leaves a mark.
fn python_trap(mark: &Path) -> String {
    format!("open({:?}, 'w').close()\n", mark.display().to_string())
}

fn path_with(first: &str) -> OsString {
    let mut path = OsString::from(first);
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    path
}

fn setup(folder: &Folder) -> Command {
    let mut command = folder.command(&["setup"]);
    // Without an index pip ends soon, wherever the test runs.
    command
        .env("GANDER_CACHE", folder.path.join("cache"))
        .env("PIP_NO_INDEX", "1")
        .env_remove("PIP_FIND_LINKS");
    command.env_remove("GANDER_PYTHON").stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn left(folder: &Folder) -> Vec<PathBuf> {
    fs::read_dir(folder.path.join("cache/solvers"))
        .into_iter()
        .flatten()
        .flatten()
        .map(|e| e.path())
        .collect()
}

#[test]
fn set_up_runs_no_code_from_the_current_folder() {
    let folder = Folder::new();
    let mark = folder.path.join("ran");
    for module in [
        "pip.py",
        "zipfile.py",
        "shutil.py",
        "sitecustomize.py",
        "usercustomize.py",
        "encodings.py",
        "runpy.py",
    ] {
        folder.write(module, python_trap(&mark));
    }
    fs::create_dir(folder.path.join("pip")).unwrap();
    folder.write("pip/__init__.py", python_trap(&mark));
    folder.write("pip/__main__.py", python_trap(&mark));
    folder.write("pip.conf", "[global]\ntarget = .\n");
    folder.write_program("python3", trap(&mark));
    folder.write_program("python", trap(&mark));
    for version in ["3.9", "3.10", "3.11", "3.12", "3.13", "3.14"] {
        let site = folder.path.join(format!(".local/lib/python{version}/site-packages"));
        fs::create_dir_all(&site).unwrap();
        fs::write(site.join("usercustomize.py"), python_trap(&mark)).unwrap();
    }
    let here = folder.path.to_string_lossy().into_owned();
    let relative = [path_with(""), path_with("."), path_with("./")];
    let everything: Vec<(&str, OsString)> = vec![
        ("PYTHONPATH", format!(".:{here}").into()),
        ("PYTHONSTARTUP", "pip.py".into()),
        ("PYTHONUSERBASE", format!("{here}/.local").into()),
        ("HOME", here.clone().into()),
        ("PIP_TARGET", ".".into()),
        ("BASH_ENV", format!("{here}/python3").into()),
        ("ENV", format!("{here}/python3").into()),
    ];
    let mut cases = vec![
        Vec::new(),
        everything,
        vec![("HOME", ".".into()), ("GANDER_PYTHON", "python3".into())],
    ];
    cases.extend(relative.map(|path| vec![("PATH", path)]));
    for case in cases {
        let mut command = setup(&folder);
        command.envs(case.iter().map(|(name, value)| (name, value)));
        let output = within(Duration::from_secs(300), command.spawn().unwrap());
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!mark.exists(), "{case:?}: {err}");
        assert!(!output.status.success(), "{case:?}: {err}");
        assert!(left(&folder).is_empty(), "{case:?}");
    }
}

#[test]
fn solvers_and_tools_come_from_absolute_folders_only() {
    let folder = Folder::with("counter.sts", COUNTER);
    let mark = folder.path.join("ran");
    for program in
        ["z3", "yices-smt2", "cvc5", "NuSMV", "nusmv", "nuXmv", "golem", "kind2", "jkind", "pono"]
    {
        folder.write_program(program, trap(&mark));
    }
    // As a cache under a relative folder would look.
    for (cache, version) in [
        ("gander", "z3-5.4.0.0/z3"),
        (".cache/gander", "z3-5.4.0.0/z3"),
        ("gander", "yices-2.6.5.post24/yices-smt2"),
    ] {
        let program = folder.path.join(cache).join("solvers").join(version);
        fs::create_dir_all(program.parent().unwrap()).unwrap();
        fs::copy(folder.path.join("z3"), program).unwrap();
    }
    for (name, value) in [
        ("PATH", "."),
        ("PATH", ""),
        ("PATH", ":"),
        ("PATH", "./:../x"),
        ("HOME", "."),
        ("XDG_CACHE_HOME", "."),
        ("GANDER_CACHE", "gander"),
        ("GANDER_Z3", "z3"),
        ("GANDER_YICES", "yices-smt2"),
        ("GANDER_TOOL_NUSMV", "nusmv"),
    ] {
        for args in [
            &["check", "--timeout", "5", "--second-opinion", "z3", "counter.sts"][..],
            &["check", "--timeout", "5", "--with", "all", "--engine", "none", "counter.sts"],
            &["check", "--timeout", "5", "--solver", "z3=z3", "counter.sts"],
            &["doctor"],
        ] {
            let mut command = folder.command(args);
            for variable in ["GANDER_CACHE", "XDG_CACHE_HOME", "HOME", "GANDER_Z3", "GANDER_YICES"]
            {
                command.env_remove(variable);
            }
            command.env("PATH", "/usr/bin-that-is-not-there").env(name, value);
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            let output = within(Duration::from_secs(120), command.spawn().unwrap());
            assert!(
                !mark.exists(),
                "{name}={value} {args:?}: {}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
    }
    // A path is another matter: the user names that very file.
    let ran = folder.run(&["doctor", "--solver", "z3=./z3"]);
    assert!(mark.exists(), "{}", ran.err);
}

#[test]
fn a_changed_solver_in_the_cache_is_not_run() {
    let folder = Folder::with("counter.sts", COUNTER);
    let mark = folder.path.join("ran");
    folder.write_program("trap", trap(&mark));
    for program in ["z3-5.4.0.0/z3", "yices-2.6.5.post24/yices-smt2"] {
        let program = folder.path.join("cache/solvers").join(program);
        fs::create_dir_all(program.parent().unwrap()).unwrap();
        fs::copy(folder.path.join("trap"), program).unwrap();
    }
    for args in [
        &["check", "--timeout", "20", "--second-opinion", "z3", "counter.sts"][..],
        &["doctor"],
        &["check", "--with", "z3", "--timeout", "5", "counter.sts"],
    ] {
        let mut command = folder.command(args);
        command
            .env("GANDER_CACHE", folder.path.join("cache"))
            .env_remove("GANDER_Z3")
            .env_remove("GANDER_YICES");
        let output = command.env("PATH", "/nowhere").output().unwrap();
        let said = format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(!mark.exists(), "{args:?}: {said}");
        assert_ne!(output.status.code(), Some(0), "{args:?}: {said}");
        if args[0] == "doctor" {
            assert!(said.contains("its SHA-256 differs"), "{said}");
        }
    }
}

#[test]
fn a_set_up_that_is_terminated_leaves_nothing() {
    let folder = Folder::new();
    fs::create_dir(folder.path.join("bin")).unwrap();
    let begun = folder.path.join("begun");
    let child = folder.path.join("child");
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *download*) sleep 300 & echo $! > '{}'; touch '{}'; wait;; esac\n",
        child.display(),
        begun.display()
    );
    folder.write_program("bin/python3", script);
    for signal in ["-TERM", "-INT", "-HUP"] {
        let _ = fs::remove_file(&begun);
        let running = setup(&folder)
            .env("PATH", path_with(&folder.path.join("bin").to_string_lossy()))
            .spawn()
            .unwrap();
        let start = Instant::now();
        while !begun.exists() {
            assert!(start.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(
            Command::new("kill")
                .args([signal, &running.id().to_string()])
                .status()
                .unwrap()
                .success()
        );
        let output = within(Duration::from_secs(60), running);
        assert_eq!(
            output.status.code(),
            Some(130),
            "{signal}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(left(&folder).is_empty(), "{signal}");
        let helper = fs::read_to_string(&child).unwrap();
        let ended = || {
            let state =
                fs::read_to_string(format!("/proc/{}/stat", helper.trim())).unwrap_or_default();
            state.is_empty() || state.contains(") Z")
        };
        // It was killed; that it is gone may take a moment.
        let start = Instant::now();
        while !ended() {
            assert!(start.elapsed() < Duration::from_secs(20), "{signal}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
