//! Ctrl-C.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::support::{Folder, within};

/// No engine decides it soon: the invariant is not linear.
const HARD: &str = "\
spec Hard
var x: int
var y: int
start { x == 0, y == 0 }
step s { x := x + 1, y := y + 2 * x + 1 }
always never: y != 1000000007 * 1000000009
always first: x >= 0
";

const ARGS: [&str; 7] = ["check", "--engine", "bmc", "--checks", "none", "--log-smt", "."];

fn interrupt(child: &Child) {
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
}

/// Waits for the first log of a solver session. Signal handlers are installed before that.
fn wait_for_work(folder: &Folder) {
    for _ in 0..1000 {
        if folder.names().iter().any(|n| n.ends_with(".smt2")) {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("no engine got to work");
}

/// The known results are printed, and the exit code fits them.
#[test]
fn the_first_interrupt_prints_what_is_known() {
    needs_z3!();
    let folder = Folder::with("hard.sts", HARD);
    let child = folder.command(&ARGS).arg("hard.sts").stdout(Stdio::piped()).spawn().unwrap();
    wait_for_work(&folder);
    // Enough time for one or two depths.
    std::thread::sleep(Duration::from_millis(1000));
    interrupt(&child);
    let output = within(Duration::from_secs(30), child);
    let out = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(3), "{out}");
    assert!(
        out.contains("unknown  never") && out.contains("not decided by any run of up to"),
        "{out}"
    );
    assert!(out.contains("stopped: this is what is known so far"), "{out}");
}

/// The first interrupt does not end the process here, because its output pipe is full. The second
/// one does.
#[test]
fn the_second_interrupt_ends_at_once() {
    needs_z3!();
    let folder = Folder::with("hard.sts", HARD);
    let (mut reader, writer) = std::io::pipe().unwrap();
    let mut filler = writer.try_clone().unwrap();
    let child =
        folder.command(&ARGS).arg("hard.sts").stdout(writer).stderr(Stdio::null()).spawn().unwrap();
    // Fills the pipe; what does not fit stays with this thread until the reader is gone.
    let filling = std::thread::spawn(move || while filler.write_all(&[b'.'; 4096]).is_ok() {});
    wait_for_work(&folder);
    interrupt(&child);
    std::thread::sleep(Duration::from_millis(1000));
    interrupt(&child);
    let output = within(Duration::from_secs(30), child);
    assert_eq!(output.status.code(), Some(130), "{}", output.status);
    let mut printed = vec![0; 1 << 16];
    reader.read_exact(&mut printed).unwrap();
    assert!(printed.iter().all(|b| *b == b'.'), "it was printed before the second");
    drop(reader);
    filling.join().unwrap();
}
