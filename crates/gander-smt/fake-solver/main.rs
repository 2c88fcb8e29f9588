//! A solver for tests that misbehaves in the way that its argument names.
//!
//! With `--once=FILE` it misbehaves only until FILE exists, which it creates.

use std::io::{BufRead, Write, stdin, stdout};
use std::process::ExitCode;
use std::time::Duration;

fn main() -> ExitCode {
    let mut way = String::from("well");
    let mut once = None;
    for argument in std::env::args().skip(1) {
        match argument.strip_prefix("--once=") {
            Some(file) => once = Some(file.to_string()),
            None => way = argument,
        }
    }
    if let Some(file) = once {
        if std::path::Path::new(&file).exists() {
            way = String::from("well");
        } else if std::fs::write(&file, "").is_err() {
            return ExitCode::FAILURE;
        }
    }
    match serve(&way) {
        Ok(code) => code,
        Err(_) => ExitCode::FAILURE,
    }
}

fn serve(way: &str) -> std::io::Result<ExitCode> {
    match way {
        "dies at start" => return Ok(ExitCode::from(7)),
        "never reads" => hang(),
        _ => {}
    }
    let say = |text: &str| -> std::io::Result<()> {
        let mut out = stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()
    };
    for line in stdin().lock().lines() {
        let line = line?;
        if let Some(rest) = line.strip_prefix("(echo \"") {
            say(&format!("{}\n", rest.trim_end_matches("\")")))?;
        } else if line.starts_with("(assert") && way == "complains" {
            say("(error \"no such thing\")\n")?;
        } else if line.starts_with("(check-sat") {
            match way {
                "dies at check" => {
                    std::io::stderr().write_all(b"these are my last words\n")?;
                    return Ok(ExitCode::from(3));
                }
                "hangs" => hang(),
                "floods" => loop {
                    say(&"sat ".repeat(4000))?;
                },
                "floods inside an answer" => {
                    say("(")?;
                    loop {
                        say(&"and so on ".repeat(1000))?;
                    }
                }
                "floods errors" => {
                    for _ in 0..1000 {
                        std::io::stderr().write_all(&[b'e'; 10_000])?;
                    }
                    say("sat\n")?;
                }
                "prints garbage" => say("maybe\n")?,
                "prints bytes" => {
                    let mut out = stdout().lock();
                    out.write_all(b"\xff\xfe\x00\x80\n")?;
                    out.flush()?;
                }
                "nests deep" => say(&("(".repeat(100_000) + &")".repeat(100_000) + "\n"))?,
                "closes a parenthesis too many" => say(")\n")?,
                "closes its output" => {
                    let nowhere = std::fs::File::options().write(true).open("/dev/null")?;
                    rustix::stdio::dup2_stdout(&nowhere)?;
                    hang()
                }
                "stops in the middle" => {
                    say("(sat")?;
                    hang()
                }
                "dies in the middle" => {
                    say("(sat")?;
                    return Ok(ExitCode::SUCCESS);
                }
                "says it is out of memory" => {
                    say("(error \"out of memory\")\n")?;
                    return Ok(ExitCode::from(101));
                }
                "answers twice" => say("unsat\nsat\n")?,
                "gives up" => say("unknown\n")?,
                "invents a core" | "talks nonsense as a core" => say("unsat\n")?,
                _ => say("sat\n")?,
            }
        } else if line.starts_with("(get-info") {
            say("(:reason-unknown \"I am tired\")\n")?;
        } else if line.starts_with("(get-unsat-assumptions") {
            say(if way == "invents a core" { "(a99@!)\n" } else { "unsat\n" })?;
        } else if line.starts_with("(get-value") {
            say(match way {
                "gives a value of the wrong sort" => "((x@ true))\n",
                "gives too few values" => "()\n",
                "gives no pairs" => "(x@)\n",
                _ => "((x@ 5))\n",
            })?;
        } else if line.starts_with("(exit") {
            return Ok(ExitCode::SUCCESS);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn hang() -> ! {
    loop {
        std::thread::sleep(Duration::from_secs(3600));
    }
}
