//! The other side of the Agent Client Protocol: a scripted agent that answers a client's
//! requests on its stdin, and asks some of its own.

use super::script_player::{ScriptedAgent, print};
use cook_os::disk::{append_line, open_to_append};
use serde_json::{Value, json};
use std::io::{self, BufRead};

/// What is done at one prompt, by its number; the exit code when it was the last.
type Turn<'a> = &'a mut dyn FnMut(&mut ScriptedAgent, usize) -> io::Result<Option<u8>>;

/// Answers until the client closes the pipe; the exit code.
pub(super) fn serve(agent: &mut ScriptedAgent, turn: Turn) -> io::Result<u8> {
    while let Some(message) = hear(agent)? {
        let (id, params) = (message["id"].clone(), &message["params"]);
        match message["method"].as_str() {
            Some("initialize") => {
                let acp = &agent.script.acp;
                let session = match acp.forks {
                    true => json!({"fork": {}}),
                    false => json!({}),
                };
                let result = json!({"protocolVersion": acp.version, "authMethods": [],
                    "agentCapabilities": {"loadSession": true, "sessionCapabilities": session}});
                respond(agent, &id, &json!({"result": result}))?;
            }
            Some("session/new" | "session/fork") => open(agent, &id, params)?,
            Some("session/set_config_option" | "session/set_model") => {
                let known = params["value"] != "unknown" && params["modelId"] != "unknown";
                let answer = match known {
                    true => json!({"result": {}}),
                    false => json!({"error": {"code": -32602, "message": "Invalid params"}}),
                };
                respond(agent, &id, &answer)?;
            }
            Some("session/prompt") => {
                agent.request = id.as_u64().unwrap_or_default();
                let text = params["prompt"][0]["text"].as_str();
                agent.input = text.unwrap_or_default().to_owned();
                let number = agent.note()?;
                if let Some(code) = turn(agent, number)? {
                    return Ok(code);
                }
            }
            _ => {}
        }
    }
    Ok(0)
}

fn open(agent: &mut ScriptedAgent, id: &Value, params: &Value) -> io::Result<()> {
    if agent.script.acp.login {
        let error = json!({"code": -32000, "message": "Authentication required"});
        return respond(agent, id, &json!({"error": error}));
    }
    agent.arguments.fork = params["sessionId"].as_str().map(str::to_owned);
    // Of processes that run at the same time each opens one of its own.
    agent.session = format!("scripted-{:08}", std::process::id());
    let mut result = json!({"sessionId": agent.session});
    match agent.script.acp.models.as_deref() {
        Some("option") => {
            let option = json!({"id": "m", "category": "model", "type": "select"});
            result["configOptions"] = json!([option]);
        }
        Some(_) => result["models"] = json!({"currentModelId": "usual", "availableModels": []}),
        None => {}
    }
    respond(agent, id, &json!({"result": result}))
}

/// The next message of the client's; none at the end.
fn hear(agent: &ScriptedAgent) -> io::Result<Option<Value>> {
    let mut line = String::new();
    if io::stdin().lock().read_line(&mut line)? == 0 {
        return Ok(None);
    }
    if let Some(heard) = &agent.script.acp.heard {
        append_line(&mut open_to_append(heard)?, line.trim_end())?;
    }
    Ok(Some(serde_json::from_str(&line)?))
}

fn respond(agent: &ScriptedAgent, id: &Value, answer: &Value) -> io::Result<()> {
    let mut message = answer.clone();
    message["jsonrpc"] = json!("2.0");
    message["id"] = match agent.script.acp.wrong_id {
        true => json!(99),
        false => id.clone(),
    };
    print(format!("{message}\n").as_bytes())
}

/// Asks the client for something, and says which option it chose or what went wrong.
fn request(agent: &mut ScriptedAgent, method: &str, params: &Value) -> io::Result<()> {
    let message = json!({"jsonrpc": "2.0", "id": "q1", "method": method, "params": params});
    print(format!("{message}\n").as_bytes())?;
    while let Some(answer) = hear(agent)? {
        if answer["id"] == "q1" {
            let outcome = &answer["result"]["outcome"];
            let said = match (&outcome["optionId"], &answer["error"]["code"]) {
                (Value::String(option), _) => option.clone(),
                (_, Value::Number(code)) => code.to_string(),
                _ => outcome["outcome"].as_str().unwrap_or("nothing").to_owned(),
            };
            return agent.answer(&format!("{method}: {said}"));
        }
    }
    Ok(())
}

pub(super) fn ask(agent: &mut ScriptedAgent, method: &str) -> io::Result<()> {
    let params = json!({"sessionId": agent.session, "path": "/etc/hostname"});
    request(agent, method, &params)
}

pub(super) fn ask_permission(agent: &mut ScriptedAgent, kinds: &[String]) -> io::Result<()> {
    let options: Vec<Value> = kinds
        .iter()
        .map(|kind| json!({"optionId": kind, "name": kind, "kind": kind}))
        .collect();
    let params = json!({"sessionId": agent.session, "options": options,
        "toolCall": {"toolCallId": "t1", "title": "edit a file", "kind": "edit"}});
    request(agent, "session/request_permission", &params)
}

pub(super) fn await_cancel(agent: &mut ScriptedAgent) -> io::Result<()> {
    while let Some(message) = hear(agent)? {
        if message["method"] == "session/cancel" && message["params"]["sessionId"] == agent.session
        {
            return stop(agent, "cancelled");
        }
    }
    Ok(())
}

pub(super) fn stop(agent: &ScriptedAgent, reason: &str) -> io::Result<()> {
    let result = json!({"result": {"stopReason": reason}});
    respond(agent, &json!(agent.request), &result)
}
