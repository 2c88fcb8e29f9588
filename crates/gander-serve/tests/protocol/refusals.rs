//! Requests that are refused, and what a refused client can learn.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use crate::client::{Running, ask, status};
use serde_json::json;

#[test]
fn the_page_is_served_with_its_token_only() {
    let server = Running::new();
    let page = server.get(&server.with_token("/"), &[]);
    assert_eq!(status(&page), 200, "{page}");
    assert!(page.contains(&server.token), "its files are asked for with the token");
    for path in ["/page.js", "/page.css", "/licences.txt", "/icon.svg"] {
        assert_eq!(status(&server.get(&server.with_token(path), &[])), 200, "{path}");
    }
    let wrong = "0".repeat(32);
    let own = &server.token;
    for query in [
        String::new(),
        format!("?token={wrong}"),
        "?token=".into(),
        format!("?token={own}&token={own}"),
    ] {
        let entrance = server.get(&format!("/{query}"), &[]);
        assert_eq!(status(&entrance), 403);
        assert!(!entrance.contains(own));
        for path in ["/page.js", "/page.css", "/socket"] {
            let refused = server.get(&format!("{path}{query}"), &[]);
            assert_eq!(status(&refused), 403, "{path}{query}");
        }
    }
}

#[test]
fn every_response_forbids_what_the_page_does_not_need() {
    let server = Running::new();
    for target in [server.with_token("/"), "/".into(), "/none".into(), server.with_token("/none")] {
        let response = server.get(&target, &[]).to_lowercase();
        for header in [
            "content-security-policy: default-src 'none'; script-src 'self';",
            "frame-ancestors 'none'",
            "x-content-type-options: nosniff",
            "x-frame-options: deny",
            "referrer-policy: no-referrer",
            "cache-control: no-store",
            "cross-origin-resource-policy: same-origin",
        ] {
            assert!(response.contains(header), "{target}: {header}\n{response}");
        }
        assert!(!response.contains("access-control-allow"));
    }
}

#[test]
fn foreign_hosts_are_refused() {
    let server = Running::new();
    let target = server.with_token("/");
    let port = server.port;
    let with_host = |host: &str| {
        status(&server.raw(format!("GET {target} HTTP/1.1\r\n{host}\r\n\r\n").as_bytes()))
    };
    assert_eq!(with_host(&format!("Host: 127.0.0.1:{port}")), 200);
    assert_eq!(with_host(&format!("Host: LOCALHOST:{port}")), 200);
    for host in [
        "Host: evil.example".to_string(),
        format!("Host: evil.example:{port}"),
        "Host: 127.0.0.1".to_string(),
        "Host: localhost:1".to_string(),
        format!("Host: 127.0.0.1:{port}.evil.example"),
        format!("Host: 127.0.0.1:{port}\r\nHost: evil.example"),
        "X: y".to_string(),
    ] {
        assert_eq!(with_host(&host), 421, "{host}");
    }
    let mut request = server.upgrade();
    request.headers_mut().insert("Host", format!("evil.example:{port}").parse().unwrap());
    assert_eq!(server.try_socket(request).err(), Some(421));
}

#[test]
fn foreign_origins_are_refused() {
    let server = Running::new();
    let target = server.with_token("/page.js");
    let port = server.port;
    let own = format!("Origin: http://127.0.0.1:{port}");
    assert_eq!(status(&server.get(&target, &[&own])), 200);
    let foreign = [
        "http://evil.example".to_string(),
        "null".to_string(),
        format!("https://127.0.0.1:{port}"),
        "http://127.0.0.1:1".to_string(),
        format!("http://127.0.0.1:{port}.evil.example"),
        String::new(),
    ];
    for origin in &foreign {
        let header = format!("Origin: {origin}");
        assert_eq!(status(&server.get(&target, &[&header])), 403, "{origin}");
        let mut request = server.upgrade();
        request.headers_mut().insert("Origin", origin.parse().unwrap());
        assert_eq!(server.try_socket(request).err(), Some(403), "{origin}");
    }
    let mut request = server.upgrade();
    request.headers_mut().remove("Origin");
    assert_eq!(server.try_socket(request).err(), Some(403), "a socket says where it comes from");
    // Requests of other pages that have no Origin, such as those for scripts and images.
    assert_eq!(status(&server.get(&target, &["Sec-Fetch-Site: cross-site"])), 403);
    assert_eq!(status(&server.get(&target, &["Sec-Fetch-Site: same-site"])), 403);
    assert_eq!(status(&server.get(&target, &["Sec-Fetch-Site: same-origin"])), 200);
    let proof = format!("/proof?nonce={}", "a".repeat(32));
    assert_eq!(status(&server.get(&proof, &["Sec-Fetch-Site: cross-site"])), 403);
}

#[test]
fn a_socket_needs_the_token_and_a_whole_upgrade() {
    let server = Running::new();
    for uri in ["/socket", "/socket?token=", "/socket?token=00000000000000000000000000000000"] {
        let mut request = server.upgrade();
        *request.uri_mut() = format!("ws://127.0.0.1:{}{uri}", server.port).parse().unwrap();
        assert_eq!(server.try_socket(request).err(), Some(403), "{uri}");
    }
    let origin = format!("Origin: http://127.0.0.1:{}", server.port);
    let target = server.with_token("/socket");
    assert_eq!(status(&server.get(&target, &[&origin])), 426);
    let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13";
    assert_eq!(status(&server.get(&target, &[&origin, upgrade])), 400, "without a key");
}

#[test]
fn bodies_are_refused_and_never_read_whole() {
    let server = Running::new();
    let target = server.with_token("/");
    let port = server.port;
    for header in ["Content-Length: 104857600", "Transfer-Encoding: chunked"] {
        let mut stream = server.connect();
        let head = format!("POST {target} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{header}\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let (mut sent, part) = (0usize, vec![b'x'; 1 << 16]);
        stream.set_write_timeout(Some(Duration::from_secs(5))).unwrap();
        while sent < 100 << 20 {
            match stream.write(&part) {
                Ok(n) => sent += n,
                Err(_) => break,
            }
        }
        assert!(sent < 100 << 20, "{header}: the server does not take 100 MB");
    }
    // Who waits for the response gets it.
    let head = format!(
        "POST {target} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 104857600\r\n\r\n"
    );
    assert_eq!(status(&server.raw(head.as_bytes())), 413);
    assert_eq!(status(&server.get(&target, &["Content-Length: 5"])), 413);
    for method in ["POST", "PUT", "DELETE", "OPTIONS"] {
        let head = format!("{method} {target} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n");
        assert_eq!(status(&server.raw(head.as_bytes())), 405, "{method}");
    }
    assert_eq!(status(&server.get(&target, &[])), 200);
}

#[test]
fn messages_of_100_mb_are_refused() {
    let server = Running::new();
    let mut other = server.socket();
    let mut socket = server.socket();
    let text = format!("{{\"method\": \"{}\"}}", "x".repeat(100 << 20));
    let _ = socket.send(tungstenite::Message::text(text));
    // Closed, with or without a word.
    while socket.read().is_ok() {}
    assert_eq!(ask(&mut other, 1, "still there", json!([7]))["result"], json!([7]));
}

#[test]
fn what_is_no_message_closes_its_socket_only() {
    let server = Running::new();
    let mut other = server.socket();
    for wrong in ["", "x", "[]", "{}", "{\"id\": {}}", &"[".repeat(100_000)] {
        let mut socket = server.socket();
        socket.send(tungstenite::Message::text(wrong.to_string())).unwrap();
        while socket.read().is_ok() {}
    }
    let mut socket = server.socket();
    socket.send(tungstenite::Message::binary(vec![1, 2, 3])).unwrap();
    while socket.read().is_ok() {}
    assert_eq!(ask(&mut other, 1, "still there", json!({}))["result"], json!({}));
}

#[test]
fn no_name_leads_to_a_file() {
    let server = Running::new();
    for path in [
        "/../../../../etc/passwd",
        "/..%2f..%2f..%2fetc%2fpasswd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "//etc/passwd",
        "/page.js/../../../etc/passwd",
        "/assets/page.js",
        "/Cargo.toml",
        "/page.js%00.html",
        "file:///etc/passwd",
        "*",
    ] {
        let response = server.get(&server.with_token(path), &[]);
        assert_eq!(status(&response), 404, "{path}");
        assert!(!response.contains("root:"), "{path}");
    }
}

#[test]
fn the_server_proves_the_token_without_telling_it() {
    let server = Running::new();
    let nonce = "00112233445566778899aabbccddeeff";
    let response = server.get(&format!("/proof?nonce={nonce}"), &[]);
    assert_eq!(status(&response), 200);
    assert!(!response.contains(&server.token));
    let body = response.split("\r\n\r\n").nth(1).unwrap();
    assert_eq!(body.len(), 64);
    for wrong in ["", "?nonce=", "?nonce=zz", &format!("?nonce={nonce}0")] {
        assert_eq!(status(&server.get(&format!("/proof{wrong}"), &[])), 400, "{wrong}");
    }
}

#[test]
fn heads_that_are_long_slow_or_no_heads_are_refused() {
    let server = Running::new();
    let target = server.with_token("/");
    let long = format!("X: {}", "y".repeat(20_000));
    assert_eq!(status(&server.get(&target, &[&long])), 431);
    assert_eq!(status(&server.raw(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")), 400);
    assert_eq!(status(&server.raw(b"GET / HTTP/3.7\r\n\r\n")), 400);
    // One byte at a time: the time is for the whole head.
    let mut stream = server.connect();
    let begun = Instant::now();
    for byte in b"GET / HTTP/1.1\r\nX: ".iter().chain(std::iter::repeat(&b'y')) {
        if stream.write_all(&[*byte]).is_err() || begun.elapsed() > Duration::from_secs(8) {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
}

#[test]
fn only_the_loopback_interface_is_listened_on() {
    let server = Running::new();
    // Another address of this machine that is not 127.0.0.1.
    let other = std::net::SocketAddr::from(([127, 0, 0, 2], server.port));
    assert!(std::net::TcpStream::connect_timeout(&other, Duration::from_secs(2)).is_err());
    let mut socket = server.socket();
    assert_eq!(ask(&mut socket, 1, "x", json!(1))["jsonrpc"], "2.0");
}
