//! Servers on loopback: `git http-backend` behind a few lines of HTTP, and `git daemon`.

use crate::support::{clean, room};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How a server behaves.
#[derive(Default)]
pub struct Manner {
    /// `user:password` in base64; empty = nobody is asked.
    pub credentials: &'static str,
    /// It takes the next push and then says nothing.
    pub dies_after_push: AtomicBool,
    /// Milliseconds before each answer.
    pub delay: AtomicU64,
    /// Bytes that came in, as they were on the wire but for chunks' sizes.
    pub received: AtomicU64,
}

pub struct Http {
    pub url: String,
    pub manner: Arc<Manner>,
    stop: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
    port: u16,
}

impl Http {
    /// Serves the repositories below a directory.
    pub fn serve(root: &Path, manner: Manner) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let (manner, stop) = (Arc::new(manner), Arc::new(AtomicBool::new(false)));
        let (theirs, ends, root) = (Arc::clone(&manner), Arc::clone(&stop), root.to_owned());
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if ends.load(Ordering::SeqCst) {
                    break;
                }
                let (manner, root) = (Arc::clone(&theirs), root.clone());
                std::thread::spawn(move || {
                    // A client that goes away ends its own connection.
                    let _ = answer(&stream.unwrap(), &root, &manner);
                });
            }
        });
        Self {
            url: format!("http://127.0.0.1:{port}/r.git"),
            manner,
            stop,
            thread: Some(thread),
            port,
        }
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(("127.0.0.1", self.port));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// One request a connection.
fn answer(stream: &TcpStream, root: &Path, manner: &Manner) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = std::collections::BTreeMap::new();
    let mut received = line.len();
    loop {
        let mut line = String::new();
        received += reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    let header = |name: &str| headers.get(name).cloned().unwrap_or_default();
    let mut body = Vec::new();
    if header("transfer-encoding") == "chunked" {
        loop {
            let mut size = String::new();
            reader.read_line(&mut size).ok()?;
            let size = usize::from_str_radix(size.trim(), 16).ok()?;
            let mut chunk = vec![0; size + 2];
            reader.read_exact(&mut chunk).ok()?;
            body.extend_from_slice(&chunk[..size]);
            if size == 0 {
                break;
            }
        }
    } else {
        body.resize(header("content-length").parse().unwrap_or(0), 0);
        reader.read_exact(&mut body).ok()?;
    }
    received += body.len();
    let received = u64::try_from(received).ok()?;
    manner.received.fetch_add(received, Ordering::SeqCst);
    std::thread::sleep(Duration::from_millis(manner.delay.load(Ordering::SeqCst)));
    let mut stream = stream;
    if !manner.credentials.is_empty()
        && header("authorization") != format!("Basic {}", manner.credentials)
    {
        let refusal = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        return stream.write_all(refusal.as_bytes()).ok();
    }
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let home = root.to_owned();
    let mut backend = clean("git", &home);
    backend
        .arg("http-backend")
        .env("GIT_PROJECT_ROOT", root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("PATH_INFO", path)
        .env("QUERY_STRING", query)
        .env("REQUEST_METHOD", &method)
        .env("CONTENT_TYPE", header("content-type"))
        .env("CONTENT_LENGTH", body.len().to_string())
        .env("HTTP_CONTENT_ENCODING", header("content-encoding"))
        .env("GIT_PROTOCOL", header("git-protocol"))
        .env("REMOTE_USER", "u")
        .env("REMOTE_ADDR", "127.0.0.1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = backend.spawn().ok()?;
    let mut stdin = child.stdin.take()?;
    let writer = std::thread::spawn(move || drop(stdin.write_all(&body)));
    let output = child.wait_with_output().ok()?.stdout;
    writer.join().ok()?;
    let is_push = method == "POST" && path.ends_with("git-receive-pack");
    if is_push && manner.dies_after_push.swap(false, Ordering::SeqCst) {
        return Some(());
    }
    let end = output.windows(4).position(|part| part == b"\r\n\r\n")?;
    let (head, rest) = (
        String::from_utf8_lossy(&output[..end]).into_owned(),
        &output[end + 4..],
    );
    let status = head.lines().find_map(|line| line.strip_prefix("Status: "));
    let mut text = format!("HTTP/1.1 {}\r\n", status.unwrap_or("200 OK"));
    for line in head.lines().filter(|line| !line.starts_with("Status: ")) {
        text.push_str(line);
        text.push_str("\r\n");
    }
    text.push_str(&format!(
        "Content-Length: {}\r\nConnection: close\r\n\r\n",
        rest.len()
    ));
    stream.write_all(text.as_bytes()).ok()?;
    stream.write_all(rest).ok()
}

/// `git daemon` on a port of its own.
pub struct Daemon {
    pub url: String,
    child: Child,
}

impl Daemon {
    pub fn serve(root: &Path) -> Self {
        let port = TcpListener::bind(("127.0.0.1", 0))
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let home = room();
        // The program itself: what `git` starts would outlive it.
        let exec = crate::support::run_alone(clean("git", home.path()).arg("--exec-path"))
            .ok()
            .out;
        let program = PathBuf::from(exec.trim()).join("git-daemon");
        let mut daemon: Command = clean(program, home.path());
        daemon
            .args([
                "--reuseaddr",
                "--listen=127.0.0.1",
                "--export-all",
                "--enable=receive-pack",
            ])
            .arg(format!("--port={port}"))
            .arg(format!("--base-path={}", root.display()))
            .arg(root)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let child = daemon.spawn().unwrap();
        let began = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(
                began.elapsed() < Duration::from_secs(10),
                "git daemon did not begin"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
        Self {
            url: format!("git://127.0.0.1:{port}/r.git"),
            child,
        }
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
