//! Sessions: many pages at once, pages that vanish, servers that stop, and the file of the page.

use std::fs;
use std::io::{Read, Write};
use std::time::{Duration, Instant};

use gander_serve::ServeOptions;
use serde_json::json;

use crate::client::{Running, ask, eventually, next, open_gate, status};

#[test]
fn messages_go_to_the_language_server_and_back() {
    let server = Running::new();
    let (mut one, mut two) = (server.socket(), server.socket());
    assert_eq!(ask(&mut one, 1, "a", json!({ "x": "<é𝄞>" }))["result"], json!({ "x": "<é𝄞>" }));
    assert_eq!(ask(&mut two, 1, "b", json!([2]))["result"], json!([2]));
    let large = "y".repeat(8 << 20);
    assert_eq!(
        ask(&mut one, 2, "c", json!([large]))["result"][0].as_str().map(str::len),
        Some(8 << 20)
    );
}

#[test]
fn half_of_a_character_in_a_message_is_replaced() {
    let server = Running::new();
    let mut page = server.socket();
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"a","params":["x\ud83ey"]}"#;
    page.send(tungstenite::Message::text(request)).unwrap();
    assert_eq!(next(&mut page)["result"], json!(["x\u{fffd}y"]));
    assert_eq!(ask(&mut page, 2, "b", json!([2]))["result"], json!([2]));
}

#[test]
fn of_50_pages_some_are_refused_and_all_others_work() {
    let server = Running::new();
    let mut sockets: Vec<_> = (0..50).map(|_| server.socket()).collect();
    let mut served = Vec::new();
    let mut refused = 0;
    for (i, mut socket) in sockets.drain(..).enumerate() {
        let request = json!({ "id": i, "method": "x", "params": [i] }).to_string();
        let sent = socket.send(tungstenite::Message::text(request));
        match sent.and_then(|()| socket.read()) {
            Ok(tungstenite::Message::Text(_)) => served.push(socket),
            Ok(tungstenite::Message::Close(Some(frame))) => {
                assert_eq!(frame.reason.as_str(), "too many pages are open");
                refused += 1;
            }
            _ => refused += 1,
        }
    }
    assert_eq!((served.len(), refused), (24, 26));
    // Pages that are open still work, and the place of one that is closed is free again.
    for socket in &mut served {
        assert_eq!(ask(socket, 100, "x", json!([1]))["result"], json!([1]));
    }
    served.pop();
    eventually("a place becomes free", || {
        let mut socket = server.socket();
        let request = json!({ "id": 1, "method": "x", "params": [] }).to_string();
        let sent = socket.send(tungstenite::Message::text(request));
        matches!(sent.and_then(|()| socket.read()), Ok(tungstenite::Message::Text(_)))
    });
}

#[test]
fn many_silent_connections_do_not_keep_others_out_for_long() {
    let server = Running::new();
    let mut page = server.socket();
    let silent: Vec<_> = (0..200)
        .filter_map(|_| std::net::TcpStream::connect(("127.0.0.1", server.port)).ok())
        .collect();
    assert_eq!(ask(&mut page, 1, "x", json!([1]))["result"], json!([1]), "open pages go on");
    // Their heads do not arrive in time.
    eventually("others are served again", || {
        let mut stream = server.connect();
        let head = format!("GET / HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", server.port);
        let mut answer = String::new();
        let _ = stream.write_all(head.as_bytes());
        let _ = stream.read_to_string(&mut answer);
        status(&answer) == 403
    });
    drop(silent);
}

#[test]
fn pages_that_vanish_or_never_read_end_their_session_only() {
    let server = Running::new();
    let mut other = server.socket();
    // Closed in the middle of a frame.
    let mut socket = server.socket();
    socket.get_mut().write_all(&[0x81, 0xfe, 0x10, 0x00, 1, 2, 3, 4, 5]).unwrap();
    drop(socket);
    // Never reads what it asked for: 2 GB. The server neither keeps it nor waits for ever.
    let mut greedy = server.socket();
    let flood = json!({ "id": 1, "method": "flood", "params": [] }).to_string();
    greedy.send(tungstenite::Message::text(flood)).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(ask(&mut other, 1, "x", json!([1]))["result"], json!([1]));
    drop(greedy);
    // The language server of a page fails.
    let mut failing = server.socket();
    let request = json!({ "id": 1, "method": "panic", "params": [] }).to_string();
    failing.send(tungstenite::Message::text(request)).unwrap();
    while failing.read().is_ok() {}
    assert_eq!(ask(&mut other, 2, "x", json!([2]))["result"], json!([2]));
}

#[test]
fn a_server_that_stops_closes_its_pages_at_once() {
    let mut server = Running::new();
    let mut page = server.socket();
    assert_eq!(ask(&mut page, 1, "x", json!([1]))["result"], json!([1]));
    let begun = Instant::now();
    server.stop();
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    while page.read().is_ok() {}
    assert!(std::net::TcpStream::connect(("127.0.0.1", server.port)).is_err());
}

#[test]
fn after_a_restart_on_the_same_port_the_token_is_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let options = |port| ServeOptions {
        port: Some(port),
        tokens: Some(folder.path().join("serve")),
        ..ServeOptions::default()
    };
    let mut first = Running::with(options(0));
    let mut page = first.socket();
    assert_eq!(ask(&mut page, 1, "x", json!([1]))["result"], json!([1]));
    first.stop();
    drop(page);
    let second = Running::with(options(first.port));
    assert_eq!((second.port, &second.token), (first.port, &first.token));
    let mut page = second.socket();
    assert_eq!(ask(&mut page, 1, "x", json!([1]))["result"], json!([1]));
}

#[test]
fn the_page_gets_its_file_and_examples() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a<b>.sts");
    fs::write(&file, "spec A\nvar x: int\n").unwrap();
    let server = Running::of_file(file.clone());
    let mut page = server.socket();
    let start = ask(&mut page, 1, "page/start", json!(null))["result"].clone();
    assert_eq!(
        (&start["file"]["name"], &start["file"]["text"]),
        (&json!("a<b>.sts"), &json!("spec A\nvar x: int\n"))
    );
    assert!(start["examples"].as_array().unwrap().len() > 5);
    fs::remove_file(&file).unwrap();
    let start = ask(&mut page, 2, "page/start", json!(null))["result"].clone();
    assert!(start["file"]["error"].as_str().unwrap().contains("no such file"), "{start}");
}

#[test]
fn a_save_never_overwrites_what_the_page_has_not_seen() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.sts");
    fs::write(&file, "one").unwrap();
    let server = Running::of_file(file.clone());
    let (mut page, mut other) = (server.socket(), server.socket());
    let start = ask(&mut page, 1, "page/start", json!(null))["result"].clone();
    let old = start["file"]["digest"].clone();
    let saved =
        ask(&mut page, 2, "page/save", json!({ "text": "two", "digest": old }))["result"].clone();
    assert_eq!(
        (&saved["saved"], fs::read_to_string(&file).unwrap().as_str()),
        (&json!(true), "two")
    );
    let notified = next(&mut other);
    assert_eq!(
        (&notified["method"], &notified["params"]["text"]),
        (&json!("page/saved"), &json!("two"))
    );
    // The other page knows the old text only, and the file may change without any page.
    let late = ask(&mut other, 3, "page/save", json!({ "text": "three", "digest": old }))["result"]
        .clone();
    assert_eq!(
        (&late["saved"], fs::read_to_string(&file).unwrap().as_str()),
        (&json!(false), "two")
    );
    fs::write(&file, "from outside").unwrap();
    let params = json!({ "text": "four", "digest": saved["digest"] });
    assert_eq!(ask(&mut page, 4, "page/save", params)["result"]["saved"], json!(false));
    assert_eq!(fs::read_to_string(&file).unwrap(), "from outside");
    let forced = json!({ "text": "five", "digest": "", "force": true });
    assert_eq!(ask(&mut page, 5, "page/save", forced)["result"]["saved"], json!(true));
    assert_eq!(fs::read_to_string(&file).unwrap(), "five");
}

#[test]
fn a_page_without_a_file_saves_nothing() {
    let server = Running::new();
    let mut page = server.socket();
    let params = json!({ "text": "x", "digest": null, "path": "/tmp/x" });
    let answer = ask(&mut page, 1, "page/save", params);
    assert!(answer["error"]["message"].as_str().unwrap().contains("without a file"), "{answer}");
}

#[test]
fn requests_of_panels_are_answered_beside_the_language_server() {
    let server = Running::new();
    let mut page = server.socket();
    assert_eq!(ask(&mut page, 1, "page/repeat", json!([1]))["result"], json!([1]));
    assert_eq!(ask(&mut page, 2, "page/refuse", json!([]))["error"]["message"], "this is refused");
    assert_eq!(ask(&mut page, 3, "page/none", json!([]))["error"]["code"], json!(-32601));
    assert_eq!(ask(&mut page, 4, "page/panic", json!([]))["error"]["code"], json!(-32603));
    // The language server does not wait for a slow panel.
    let slow = json!({ "id": 5, "method": "page/slow", "params": [] }).to_string();
    page.send(tungstenite::Message::text(slow)).unwrap();
    assert_eq!(ask(&mut page, 6, "x", json!([6]))["result"], json!([6]));
    open_gate();
    assert_eq!(next(&mut page)["id"], json!(5));
}
