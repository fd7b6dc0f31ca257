//! What is answered to an agent, and what its own answers say.

use cook_core::model::Access;
use serde_json::{Value, json};

/// What a role with that access answers to a request for permission. Nothing is ever
/// allowed beyond the one time: what an agent remembers of it outlasts the role.
pub(super) fn permission(access: Access, params: &Value) -> Value {
    let kinds: &[&str] = match access {
        Access::None | Access::Read => &["reject_once", "reject_always"],
        Access::Write | Access::Full => &["allow_once"],
    };
    let options = params.get("options").and_then(Value::as_array);
    let of_kind = |kind: &&str| {
        let mut options = options.into_iter().flatten();
        options
            .find(|option| option.get("kind").and_then(Value::as_str) == Some(kind))
            .and_then(|option| option.get("optionId"))
            .filter(|id| id.is_string())
    };
    match kinds.iter().find_map(of_kind) {
        Some(id) => json!({"outcome": "selected", "optionId": id}),
        None => json!({"outcome": "cancelled"}),
    }
}

/// How a session's model is chosen: by its option of that category, or by the method that
/// came before those options.
pub(super) fn find_model_choice(
    session: &str,
    model: &str,
    opened: &Value,
) -> Option<(&'static str, Value)> {
    let options = opened.get("configOptions").and_then(Value::as_array);
    let option = options.into_iter().flatten().find(|option| {
        ["category", "id"]
            .iter()
            .any(|key| option.get(key).and_then(Value::as_str) == Some("model"))
    });
    if let Some(id) = option.and_then(|option| option.get("id")) {
        let params = json!({"sessionId": session, "configId": id, "value": model});
        return Some(("session/set_config_option", params));
    }
    let models = opened.get("models").filter(|models| models.is_object());
    models.map(|_| {
        let params = json!({"sessionId": session, "modelId": model});
        ("session/set_model", params)
    })
}

/// What an error object says, its data too.
pub(super) fn error_text(error: &Value) -> String {
    let message = error.get("message").and_then(Value::as_str);
    let message = message.unwrap_or("an error without a text");
    let data = match error.get("data") {
        None | Some(Value::Null) => return message.to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(data) => ["details", "message"]
            .iter()
            .find_map(|key| data.get(key).and_then(Value::as_str))
            .map_or_else(|| data.to_string(), str::to_owned),
    };
    format!("{message}: {data}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permissions_follow_the_access() {
        let option =
            |kind: &str| json!({"optionId": format!("o-{kind}"), "name": "x", "kind": kind});
        let all = json!({"options": [option("allow_always"), option("allow_once"),
            option("reject_always"), option("reject_once")]});
        for (access, chosen) in [
            (Access::None, "o-reject_once"),
            (Access::Read, "o-reject_once"),
            (Access::Write, "o-allow_once"),
            (Access::Full, "o-allow_once"),
        ] {
            assert_eq!(
                permission(access, &all),
                json!({"outcome": "selected", "optionId": chosen})
            );
        }
        let cancelled = json!({"outcome": "cancelled"});
        let lasting = json!({"options": [option("allow_always")]});
        for (access, params) in [
            (Access::Write, &lasting),
            (Access::Read, &lasting),
            (Access::Write, &json!({"options": "all"})),
            (
                Access::Full,
                &json!({"options": [{"kind": "allow_once", "optionId": 1}]}),
            ),
            (Access::Read, &Value::Null),
        ] {
            assert_eq!(permission(access, params), cancelled, "{params}");
        }
        let always = json!({"options": [option("reject_always")]});
        assert_eq!(
            permission(Access::Read, &always)["optionId"],
            "o-reject_always"
        );
    }

    #[test]
    fn models_are_chosen_as_the_session_offers_it() {
        let by_option =
            json!({"configOptions": [{"id": "effort"}, {"id": "m", "category": "model"}]});
        let (method, params) = find_model_choice("s", "big", &by_option).unwrap_or_default();
        assert_eq!(method, "session/set_config_option");
        assert_eq!(
            params,
            json!({"sessionId": "s", "configId": "m", "value": "big"})
        );
        let by_method = json!({"models": {"currentModelId": "small"}});
        let (method, params) = find_model_choice("s", "big", &by_method).unwrap_or_default();
        assert_eq!(method, "session/set_model");
        assert_eq!(params, json!({"sessionId": "s", "modelId": "big"}));
        assert_eq!(
            find_model_choice("s", "big", &json!({"models": null})),
            None
        );
    }

    #[test]
    fn errors_say_what_they_know() {
        for (error, text) in [
            (
                json!({"message": "Internal error", "data": {"details": "no key"}}),
                "Internal error: no key",
            ),
            (json!({"message": "a", "data": "b"}), "a: b"),
            (json!({"message": "a", "data": {"x": 1}}), "a: {\"x\":1}"),
            (json!({"message": "a", "data": null}), "a"),
            (json!("broken"), "an error without a text"),
        ] {
            assert_eq!(error_text(&error), text);
        }
    }
}
