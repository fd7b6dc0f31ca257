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
    Say(String),
    /// Calls a tool of the agent's with these arguments.
    Call(&'static str, Value),
}

impl Step {
    /// Calls the agent's shell with this line.
    pub fn run(line: impl Into<String>) -> Self {
        Self::Call("bash", json!({"command": line.into()}))
    }
}

/// The steps of a turn whose prompt holds a text.
#[derive(Clone)]
pub struct Script {
    pub prompt: &'static str,
    pub steps: Vec<Step>,
    /// Turns that may go by it.
    pub turns: usize,
}

/// What a request is about.
#[derive(Debug, Clone)]
pub struct Turn {
    /// The user's part of the turn in work.
    pub prompt: String,
    /// How many steps of it were made.
    pub done: usize,
    /// What the model is told it is.
    pub system: String,
    /// Everything it was sent, as one text.
    pub all: String,
    /// The tools it may call.
    pub tools: Vec<String>,
}

/// Decides a step and how many tokens the prompt counts.
pub type Play = dyn Fn(&Turn) -> (Step, u64) + Send + Sync;

/// The model; it ends with the test's process.
pub struct Model {
    pub port: u16,
    turns: Arc<Mutex<Vec<Turn>>>,
}

impl Model {
    /// One that goes by scripts.
    pub fn start(scripts: Vec<Script>) -> Self {
        let scripts = Mutex::new(scripts);
        Self::playing(move |turn| {
            let step = choose(&turn.prompt, turn.done, &mut scripts.lock().unwrap());
            (step, 100)
        })
    }

    /// One that decides for itself.
    pub fn playing(play: impl Fn(&Turn) -> (Step, u64) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let turns = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&turns);
        let play: Arc<Play> = Arc::new(play);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (heard, play) = (Arc::clone(&heard), Arc::clone(&play));
                // A caller that goes away in the middle is no fault of the model's.
                std::thread::spawn(move || serve(&stream, &heard, &*play).ok());
            }
        });
        Self { port, turns }
    }

    /// What each request was about, in order.
    pub fn prompts(&self) -> Vec<String> {
        let turns = self.turns.lock().unwrap();
        turns.iter().map(|turn| turn.prompt.clone()).collect()
    }

    /// Each request, in order.
    pub fn turns(&self) -> Vec<Turn> {
        self.turns.lock().unwrap().clone()
    }
}

fn serve(stream: &TcpStream, heard: &Mutex<Vec<Turn>>, play: &Play) -> std::io::Result<()> {
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
    let turn = turn(&request);
    heard.lock().unwrap().push(turn.clone());
    let (step, tokens) = play(&turn);
    answer(stream, &step, tokens)
}

fn turn(request: &Value) -> Turn {
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
    let told = |message: &&Value| role(message, "system") || role(message, "developer");
    let all: Vec<String> = messages.iter().map(|m| text(&m["content"])).collect();
    let tools = request["tools"].as_array().into_iter().flatten();
    Turn {
        prompt: texts.join("\n"),
        done: steps.count(),
        system: messages
            .iter()
            .find(told)
            .map_or(String::new(), |message| text(&message["content"])),
        all: all.join("\n"),
        tools: tools
            .filter_map(|tool| tool["function"]["name"].as_str().map(str::to_owned))
            .collect(),
    }
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
        return Step::Say("OK".to_owned());
    };
    if done == 0 {
        script.turns -= 1;
    }
    let step = script.steps.get(done).cloned();
    step.unwrap_or_else(|| Step::Say("OK".to_owned()))
}

fn answer(mut stream: &TcpStream, step: &Step, tokens: u64) -> std::io::Result<()> {
    let (delta, reason) = match step {
        Step::Say(text) => (json!({"role": "assistant", "content": text}), "stop"),
        Step::Call(name, arguments) => {
            let function = json!({"name": name, "arguments": arguments.to_string()});
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
    let usage =
        json!({"prompt_tokens": tokens, "completion_tokens": 10, "total_tokens": tokens + 10});
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
