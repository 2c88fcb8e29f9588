//! A Lustre file with several roots: every one is checked, and the claims of all are in one answer.

use gander::report::{Paint, diagnostic_texts};
use gander::{CheckOptions, LoadOptions, check_source, load};

const TWO: &str = "
node one(a: bool) returns (p: bool); let p = a or not a; --%PROPERTY p;
tel
node two(a: bool) returns (p: bool); let p = true -> pre p; check \"q\" a; --%PROPERTY p;
tel
";

fn verdicts(options: &CheckOptions) -> Vec<(String, &'static str)> {
    let view = check_source(TWO, "two.lus", options);
    assert!(view.internal_errors.is_empty());
    view.claims.iter().map(|c| (c.name.clone(), c.verdict.word())).collect()
}

#[test]
fn all_roots_are_checked() {
    let found = verdicts(&CheckOptions::default());
    for (name, word) in [("one.p", "holds"), ("two.p", "holds"), ("two.q", "fails")] {
        assert!(found.contains(&(name.to_string(), word)), "{name}: {found:?}");
    }
    let mut names: Vec<&String> = found.iter().map(|(name, _)| name).collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), found.len(), "two claims have one name: {found:?}");
}

#[test]
fn a_claim_of_any_root_can_be_asked_for_alone() {
    let options = CheckOptions { properties: vec!["two.q".to_string()], ..CheckOptions::default() };
    assert_eq!(verdicts(&options), [("two.q".to_string(), "fails")]);
    let options =
        CheckOptions { properties: vec!["three.q".to_string()], ..CheckOptions::default() };
    let view = check_source(TWO, "two.lus", &options);
    assert!(view.claims.is_empty());
    assert!(view.diagnostics.iter().any(|d| d.message.contains("there is no claim `three.q`")));
}

#[test]
fn included_files_are_read_from_beside() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("parts")).unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("parts/types.lus", "type Level = int;\n");
    write(
        "parts/nodes.lus",
        "include \"types.lus\"\nnode up(x: Level) returns (y: Level); let y = x + 1; tel\n",
    );
    write("parts/round.lus", "include \"../main.lus\"\n");
    let name = folder.path().join("main.lus").to_string_lossy().into_owned();
    let check = |includes: &str| {
        let text = format!(
            "{includes}\nnode main(x: Level) returns (y: Level); let y = up(x); check \"up\" y > x; tel"
        );
        write("main.lus", &text);
        check_source(&text, &name, &CheckOptions::default())
    };
    let fine = check("include \"parts/types.lus\"\ninclude \"parts/nodes.lus\";");
    assert_eq!(
        fine.claims.iter().map(|c| (c.name.as_str(), c.verdict.word())).collect::<Vec<_>>(),
        [("up", "holds")]
    );
    let missing = check("include \"parts/nodes.lus\" include \"parts/none.lus\"");
    assert!(missing.claims.is_empty());
    assert_eq!(missing.diagnostics.len(), 1);
    assert_eq!(
        missing.diagnostics[0].message,
        "the file \"parts/none.lus\" cannot be included: there is no such file"
    );
    let round = check("include \"parts/round.lus\"");
    assert!(
        round.diagnostics[0].message.contains("files that include each other"),
        "{:?}",
        round.diagnostics
    );
    write(
        "parts/nodes.lus",
        "include \"types.lus\"\nnode up(x: Level) returns (y: Level);\nlet y = z + 1; tel\n",
    );
    let wrong = check("include \"parts/nodes.lus\"");
    assert_eq!(wrong.diagnostics[0].message, "unknown name `z`");
    let place = wrong.diagnostics[0].place.as_ref().unwrap();
    assert!(place.file.as_ref().unwrap().ends_with("parts/nodes.lus"), "{place:?}");
    assert_eq!((place.line, place.column, place.end_line, place.end_column), (3, 9, 3, 10));
    // A diagnostic can be rendered when its files are gone: the model owns their text.
    drop(folder);
    let text = &diagnostic_texts(&wrong.diagnostics, Paint::Plain)[0];
    assert!(
        text.contains("parts/nodes.lus:3:9\n") && text.contains("let y = z + 1; tel"),
        "{text}"
    );
}

#[test]
fn files_outside_of_the_models_folder_are_read_only_from_include_folders() {
    let (own, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let path = other.path().join("types.lus");
    std::fs::write(&path, "type Level = int;\n").unwrap();
    let text = format!(
        "include \"{}\"\nnode n(x: Level) returns (y: int); let y = x; tel",
        path.display()
    );
    let name = own.path().join("main.lus").to_string_lossy().into_owned();
    let refused = load(&text, &name, &LoadOptions::default());
    assert!(refused.systems().is_empty());
    assert!(refused.diagnostics()[0].message.contains("outside of the model's folder"));
    let include_folders = vec![other.path().to_path_buf()];
    let options = LoadOptions { include_folders, ..LoadOptions::default() };
    assert_eq!(load(&text, &name, &options).systems().len(), 1);
}
