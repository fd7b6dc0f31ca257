//! JSON-RPC 2.0 as the Agent Client Protocol uses it: one message a line, no batches.

use serde_json::{Value, json};

/// No such method (JSON-RPC 2.0).
const METHOD_NOT_FOUND: i64 = -32601;

/// What the other side said.
#[derive(Debug)]
pub(super) enum Message {
    /// It asks for something and waits.
    Request {
        /// Its own name for the request.
        id: Value,
        method: String,
        params: Value,
    },
    /// It tells something.
    Notification { method: String, params: Value },
    /// It answers the request of that number.
    Result { id: Option<u64>, result: Value },
    /// It cannot answer it.
    Error { id: Option<u64>, error: Value },
}

/// Reads a line; none when it is not a message.
pub(super) fn read(line: &[u8]) -> Option<Message> {
    let Ok(Value::Object(mut fields)) = serde_json::from_slice(line) else {
        return None;
    };
    let id = fields.remove("id");
    if let Some(method) = fields.remove("method") {
        let method = method.as_str()?.to_owned();
        let params = fields.remove("params").unwrap_or_default();
        return Some(match id {
            None | Some(Value::Null) => Message::Notification { method, params },
            Some(id @ (Value::String(_) | Value::Number(_))) => {
                Message::Request { id, method, params }
            }
            Some(_) => return None,
        });
    }
    let id = id?.as_u64();
    match (fields.remove("result"), fields.remove("error")) {
        (_, Some(error)) if !error.is_null() => Some(Message::Error { id, error }),
        (Some(result), _) => Some(Message::Result { id, result }),
        (None, _) => None,
    }
}

/// A request.
pub(super) fn request(id: u64, method: &str, params: &Value) -> Vec<u8> {
    line(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
}

/// Something told.
pub(super) fn notification(method: &str, params: &Value) -> Vec<u8> {
    line(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
}

/// The answer to a request of the other side's.
pub(super) fn result(id: &Value, result: &Value) -> Vec<u8> {
    line(&json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

/// The answer to a request for something that was never offered.
pub(super) fn not_offered(id: &Value, method: &str) -> Vec<u8> {
    let method: String = method.chars().take(100).collect();
    let error = json!({"code": METHOD_NOT_FOUND, "message": format!("method not found: {method}")});
    line(&json!({"jsonrpc": "2.0", "id": id, "error": error}))
}

fn line(message: &Value) -> Vec<u8> {
    let mut line = message.to_string().into_bytes();
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_apart() {
        let kind = |text: &str| match read(text.as_bytes()) {
            Some(Message::Request { .. }) => "request",
            Some(Message::Notification { .. }) => "notification",
            Some(Message::Result { id: Some(_), .. }) => "result",
            Some(Message::Result { id: None, .. }) => "result of nothing",
            Some(Message::Error { .. }) => "error",
            None => "none",
        };
        for (text, wanted) in [
            (r#"{"jsonrpc":"2.0","id":"a","method":"m"}"#, "request"),
            (r#"{"id":7,"method":"m","params":{}}"#, "request"),
            (r#"{"method":"m"}"#, "notification"),
            (r#"{"id":null,"method":"m"}"#, "notification"),
            (r#"{"id":1,"result":null}"#, "result"),
            (r#"{"id":"1","result":{}}"#, "result of nothing"),
            (r#"{"id":1,"result":{},"error":null}"#, "result"),
            (r#"{"id":1,"error":{"code":1}}"#, "error"),
            (r#"{"id":{},"method":"m"}"#, "none"),
            (r#"{"id":1,"method":2}"#, "none"),
            (r#"{"result":{}}"#, "none"),
            (r#"{"id":1}"#, "none"),
            (r#"[{"id":1,"result":{}}]"#, "none"),
            ("{\"id\":1,", "none"),
            ("", "none"),
        ] {
            assert_eq!(kind(text), wanted, "{text}");
        }
    }

    #[test]
    fn a_message_is_one_line() {
        let said = request(2, "session/prompt", &json!({"text": "a\nb"}));
        assert_eq!(said.iter().filter(|byte| **byte == b'\n').count(), 1);
        assert_eq!(said.last(), Some(&b'\n'));
    }
}
