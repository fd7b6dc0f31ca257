# An answer in JSON as lines: the path and the value. An element of an array is named by what identifies it.
def word: type == "string" and length <= 80 and (test("\\s") | not);
def names: ["code", "id", "ruleId", "name", "slice_id", "rule", "key", "kind", "role", "criterion"];
# The key that identifies an object, null without one.
def identity: . as $value | if type == "object" then
    first(names[] | select(. as $key | $value[$key] | word or type == "number")) // null else null end;
def shown: if type == "string" then (if . == "" then "empty" elif word then "\"\(.)\"" else "text" end)
  elif type == "number" then (. * 100 | round / 100 | tojson) else tojson end;
def unstable: test("(_ms|_us|_usd|seconds|_bytes|bytes|_at|time|pid|size|version|nanos|duration|tokens)$");
# Objects that come often: their keys stand for them.
def shortened: . as $key | any("handoff", "receipt", "annotations", "inputSchema", "judgments", "usage"; . == $key);
def lines($path): . as $value
  | if type == "object" then
      if length == 0 then "\($path) {}" else keys[] as $key | $value[$key]
        | if type == "object" and length > 0 and ($key | shortened) then "\($path).\($key) {\(keys | join(" "))}"
          elif $key == "error" and type == "object" and has("hint") then
            "\($path).error {\(keys | join(" "))}", (.code | lines("\($path).error.code")),
            (.findings[]? | "\($path).error.findings[\(.code? // "")] {\(keys | join(" "))}")
          elif type == "number" and ($key | unstable) then "\($path).\($key) number" else lines("\($path).\($key)") end
      end
    elif type == "array" then
      if length == 0 then "\($path) []" else .[] | identity as $key
        | if $key == null then lines("\($path)[]")
          else (.[$key] | tostring) as $name | del(.[$key]) | lines("\($path)[\($key) \($name)]") end
      end
    else "\(if $path == "" then "." else $path end) \(shown)" end;
lines("")
