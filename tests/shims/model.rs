//! A scripted model on loopback that speaks OpenAI's streamed chat completions, as far
//! as a coding agent needs them. Standard library and `serde_json` only.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What the model does in one step of a turn.
#[derive(Clone)]
pub enum Step {
    /// Says this and ends the turn.
    Say(&'static str),
    /// Calls the agent's shell with this line.
    Run(String),
}

/// The steps of a turn whose prompt holds a text.
#[derive(Clone)]
pub struct Script {
    pub prompt: &'static str,
    pub steps: Vec<Step>,
    /// Turns that may go by it.
    pub turns: usize,
}

/// The model; it ends with the test's process.
pub struct Model {
    pub port: u16,
    prompts: Arc<Mutex<Vec<String>>>,
}

impl Model {
    pub fn start(scripts: Vec<Script>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let prompts = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&prompts);
        let scripts = Arc::new(Mutex::new(scripts));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (heard, scripts) = (Arc::clone(&heard), Arc::clone(&scripts));
                // A caller that goes away in the middle is no fault of the model's.
                std::thread::spawn(move || serve(&stream, &heard, &scripts).ok());
            }
        });
        Self { port, prompts }
    }

    /// What each request was about, in order.
    pub fn prompts(&self) -> Vec<String> {
        self.prompts.lock().unwrap().clone()
    }
}

fn serve(
    stream: &TcpStream,
    heard: &Mutex<Vec<String>>,
    scripts: &Mutex<Vec<Script>>,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or_default();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let request: Value = serde_json::from_slice(&body)?;
    let (prompt, done) = turn(&request);
    heard.lock().unwrap().push(prompt.clone());
    let step = choose(&prompt, done, &mut scripts.lock().unwrap());
    answer(stream, &step)
}

/// The user's part of the turn in work, and how many steps of it were made.
fn turn(request: &Value) -> (String, usize) {
    let messages = request["messages"].as_array().cloned().unwrap_or_default();
    let role = |message: &Value, name: &str| message["role"] == name;
    let last = messages.iter().rposition(|message| role(message, "user"));
    let last = last.map_or(0, |at| at + 1);
    let (before, after) = messages.split_at(last);
    let said = before
        .iter()
        .rev()
        .take_while(|message| role(message, "user"));
    let texts: Vec<String> = said.map(|message| text(&message["content"])).collect();
    let steps = after.iter().filter(|message| role(message, "assistant"));
    (texts.join("\n"), steps.count())
}

fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part["text"].as_str())
            .collect::<Vec<_>>()
            .join("\n"),
        _ => String::new(),
    }
}

fn choose(prompt: &str, done: usize, scripts: &mut [Script]) -> Step {
    let fits =
        |script: &&mut Script| prompt.contains(script.prompt) && (script.turns > 0 || done > 0);
    let Some(script) = scripts.iter_mut().find(fits) else {
        return Step::Say("OK");
    };
    if done == 0 {
        script.turns -= 1;
    }
    script.steps.get(done).cloned().unwrap_or(Step::Say("OK"))
}

fn answer(mut stream: &TcpStream, step: &Step) -> std::io::Result<()> {
    let (delta, reason) = match step {
        Step::Say(text) => (json!({"role": "assistant", "content": text}), "stop"),
        Step::Run(line) => {
            let arguments = json!({"command": line}).to_string();
            let function = json!({"name": "bash", "arguments": arguments});
            let call =
                json!({"index": 0, "id": "call_1", "type": "function", "function": function});
            (
                json!({"role": "assistant", "tool_calls": [call]}),
                "tool_calls",
            )
        }
    };
    let chunk = |choices: Value, usage: Value| {
        json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1,
            "model": "mock-model", "choices": choices, "usage": usage})
    };
    let usage = json!({"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110});
    let parts = [
        chunk(
            json!([{"index": 0, "delta": delta, "finish_reason": null}]),
            Value::Null,
        ),
        chunk(
            json!([{"index": 0, "delta": {}, "finish_reason": reason}]),
            Value::Null,
        ),
        chunk(json!([]), usage),
    ];
    let lines: Vec<String> = parts
        .iter()
        .map(|part| format!("data: {part}\n\n"))
        .collect();
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n{}data: [DONE]\n\n",
        lines.concat()
    )?;
    stream.flush()
}
