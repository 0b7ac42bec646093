//! Plays conformance sessions against a sidecar with lsp-server's messages and serde_json.
use lsp_server::{Message, Notification, Request, RequestId};
use serde_json::{json, Map, Value};
use std::collections::HashMap;
use std::io::{BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{channel, Receiver};
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(20);
type Outcome<T> = Result<T, String>;

/// A sidecar process; replies are found by id, notifications are kept in order.
struct Sidecar {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Message>,
    replies: HashMap<RequestId, Value>,
    notifications: Vec<Value>,
}

impl Sidecar {
    fn start(store: &Path) -> Outcome<Self> {
        let command: Vec<String> =
            serde_json::from_str(&std::env::var("SIDECAR_COMMAND").map_err(text)?).map_err(text)?;
        let mut child = Command::new(&command[0])
            .args(&command[1..])
            .arg("--store")
            .arg(store)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(text)?;
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            while let Ok(Some(message)) = Message::read(&mut output) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let input = child.stdin.take();
        let mut sidecar =
            Sidecar { child, input, messages, replies: HashMap::new(), notifications: Vec::new() };
        let params = json!({"processId": std::process::id(), "capabilities": {}});
        sidecar.send(&json!({"id": "initialize", "method": "initialize", "params": params}))?;
        sidecar.reply(&json!("initialize"))?;
        sidecar.send(&json!({"method": "initialized", "params": {}}))?;
        Ok(sidecar)
    }

    fn send(&mut self, message: &Value) -> Outcome<()> {
        let method = message["method"].as_str().ok_or("no method")?.to_owned();
        let params = message.get("params").cloned().unwrap_or(Value::Null);
        let message = match message.get("id") {
            Some(id) => Message::Request(Request { id: request_id(id), method, params }),
            None => Message::Notification(Notification { method, params }),
        };
        let input = self.input.as_mut().ok_or("the server is gone")?;
        message.write(input).map_err(text)?;
        input.flush().map_err(text)
    }

    fn receive(&mut self) -> Outcome<()> {
        match self.messages.recv_timeout(TIMEOUT).map_err(text)? {
            Message::Response(response) => {
                // Through text, so that a result of null stays a member.
                let mut value = json!({"id": serde_json::to_value(&response.id).map_err(text)?});
                let object = value.as_object_mut().unwrap();
                match response.error {
                    Some(error) => {
                        object.insert("error".into(), serde_json::to_value(error).map_err(text)?);
                    }
                    None => {
                        object.insert("result".into(), response.result.unwrap_or(Value::Null));
                    }
                }
                self.replies.insert(response.id, value);
            }
            Message::Notification(note) => self
                .notifications
                .push(json!({"jsonrpc": "2.0", "method": note.method, "params": note.params})),
            Message::Request(request) => return Err(format!("asked for {}", request.method)),
        }
        Ok(())
    }

    fn reply(&mut self, id: &Value) -> Outcome<Value> {
        let id = request_id(id);
        loop {
            if let Some(found) = self.replies.remove(&id) {
                return Ok(found);
            }
            self.receive()?;
        }
    }

    fn notification(&mut self, method: &str) -> Outcome<Value> {
        loop {
            if let Some(index) = self.notifications.iter().position(|n| n["method"] == method) {
                return Ok(self.notifications.remove(index));
            }
            self.receive()?;
        }
    }

    fn shut_down(&mut self) -> Outcome<()> {
        self.send(&json!({"id": "shutdown", "method": "shutdown"}))?;
        self.reply(&json!("shutdown"))?;
        self.send(&json!({"method": "exit"}))?;
        match self.child.wait().map_err(text)?.code() {
            Some(0) => Ok(()),
            code => Err(format!("the exit code is {code:?}")),
        }
    }

    fn kill(&mut self) {
        self.input = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn text(error: impl ToString) -> String {
    error.to_string()
}

fn request_id(id: &Value) -> RequestId {
    match id.as_i64() {
        Some(number) => RequestId::from(number as i32),
        None => RequestId::from(id.as_str().unwrap_or_default().to_owned()),
    }
}

fn is_kind(kind: &str, value: &Value) -> bool {
    match kind {
        "any" => true,
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_number() && !value.to_string().contains(['.', 'e', 'E']),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    }
}

fn need(fine: bool, path: &str, what: &str, value: &Value) -> Outcome<()> {
    if fine {
        return Ok(());
    }
    let shown: String = value.to_string().chars().take(300).collect();
    Err(format!("{path} should be {what}, is {shown}"))
}

type Names = HashMap<String, Value>;

fn check(expected: &Value, value: &Value, names: &mut Names, path: &str, exact: bool) -> Outcome<()> {
    match expected {
        Value::Object(members) if !exact && members.keys().any(|k| k.starts_with('$')) => {
            special(members, value, names, path)
        }
        Value::Object(members) => {
            let Some(found) = value.as_object() else { return need(false, path, "an object", value) };
            for (key, part) in members {
                if !exact && part.get("$absent").is_some() {
                    need(!found.contains_key(key), path, &format!("without {key}"), value)?;
                } else {
                    need(found.contains_key(key), path, &format!("with {key}"), value)?;
                    check(part, &found[key], names, &format!("{path}/{key}"), exact)?;
                }
            }
            need(!exact || found.len() == members.len(), path, "nothing more", value)
        }
        Value::Array(parts) => {
            let found = value.as_array().filter(|items| items.len() == parts.len());
            let Some(found) = found else { return need(false, path, &format!("{} items", parts.len()), value) };
            for (index, part) in parts.iter().enumerate() {
                check(part, &found[index], names, &format!("{path}/{index}"), exact)?;
            }
            Ok(())
        }
        _ => need(expected == value, path, &expected.to_string(), value),
    }
}

fn special(expected: &Map<String, Value>, value: &Value, names: &mut Names, path: &str) -> Outcome<()> {
    if let Some(wanted) = expected.get("$any") {
        let kinds: Vec<&str> = match wanted {
            Value::Array(list) => list.iter().filter_map(Value::as_str).collect(),
            one => one.as_str().into_iter().collect(),
        };
        need(kinds.iter().any(|kind| is_kind(kind, value)), path, &kinds.join(" or "), value)?;
    }
    if let Some(name) = expected.get("$bind").and_then(Value::as_str) {
        names.insert(name.to_owned(), value.clone());
    }
    if let Some(name) = expected.get("$ref").and_then(Value::as_str) {
        let bound = names.get(name).cloned().unwrap_or(Value::Null);
        check(&bound, value, names, path, true)?;
    }
    if let Some(part) = expected.get("$exact") {
        check(part, value, names, path, true)?;
    }
    for part in expected.get("$contains").and_then(Value::as_array).into_iter().flatten() {
        let items = value.as_array().cloned().unwrap_or_default();
        let fine = items.iter().any(|item| check(part, item, names, "", false).is_ok());
        need(fine, path, &format!("with {part}"), value)?;
    }
    Ok(())
}

fn substituted(value: &Value, names: &Names) -> Value {
    match value {
        Value::Object(members) => match members.get("$ref").and_then(Value::as_str) {
            Some(name) => names.get(name).cloned().unwrap_or(Value::Null),
            None => members.iter().map(|(k, v)| (k.clone(), substituted(v, names))).collect(),
        },
        Value::Array(items) => items.iter().map(|item| substituted(item, names)).collect(),
        other => other.clone(),
    }
}

fn play(header: &Value, steps: &[Value], folder: &Path) -> Outcome<()> {
    let mut clients: HashMap<String, Sidecar> = HashMap::new();
    let outcome = run(header, steps, &folder.join("store.db"), &mut clients);
    clients.values_mut().for_each(Sidecar::kill);
    outcome
}

fn run(header: &Value, steps: &[Value], store: &Path, clients: &mut HashMap<String, Sidecar>) -> Outcome<()> {
    let mut names = Names::new();
    let wanted = header["clients"].as_array().cloned().unwrap_or_else(|| vec![json!("a")]);
    for name in wanted.iter().filter_map(Value::as_str) {
        clients.insert(name.to_owned(), Sidecar::start(store)?);
    }
    for (number, step) in steps.iter().enumerate() {
        let name = step["client"].as_str().unwrap_or("a");
        take(step, name, store, clients, &mut names).map_err(|why| format!("line {}: {why}", number + 2))?;
    }
    clients.values_mut().try_for_each(Sidecar::shut_down)
}

fn take(
    step: &Value,
    name: &str,
    store: &Path,
    clients: &mut HashMap<String, Sidecar>,
    names: &mut Names,
) -> Outcome<()> {
    let client = clients.get_mut(name).ok_or("no such client")?;
    if let Some(message) = step.get("send") {
        client.send(&substituted(message, names))
    } else if let Some(expected) = step.get("expect") {
        let found = match expected["method"].as_str() {
            Some(method) => client.notification(method)?,
            None => client.reply(&expected["id"])?,
        };
        check(expected, &found, names, "", false)
    } else if let Some(method) = step.get("expectNone") {
        match client.notifications.iter().find(|n| &n["method"] == method) {
            Some(note) => Err(format!("unexpected {note}")),
            None => Ok(()),
        }
    } else if step.get("kill").is_some() {
        client.kill();
        clients.insert(name.to_owned(), Sidecar::start(store)?);
        Ok(())
    } else {
        Ok(())
    }
}

fn main() {
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    for (number, path) in std::env::args().skip(1).enumerate() {
        let content = std::fs::read_to_string(&path).unwrap();
        let mut lines = content.lines();
        let header: Value = serde_json::from_str(lines.next().unwrap()).unwrap();
        let session = header["session"].as_str().unwrap();
        let needs = header["needs"].as_array().cloned().unwrap_or_default();
        // serde_json refuses a lone surrogate: a Rust string is Unicode.
        let why = if header["lifecycle"] == "raw" {
            Some("raw frames")
        } else if needs.contains(&json!("loneSurrogates")) {
            Some("lone surrogates")
        } else {
            None
        };
        if let Some(why) = why {
            skipped += 1;
            println!("skip {session}: {why}");
            continue;
        }
        let steps: Vec<Value> = lines.map(|line| serde_json::from_str(line).unwrap()).collect();
        let folder = std::env::temp_dir().join(format!("sidecar-{}-{number}", std::process::id()));
        match play(&header, &steps, &folder) {
            Ok(()) => {
                passed += 1;
                println!("ok {session}");
            }
            Err(why) => {
                failed += 1;
                println!("not ok {session}: {why}");
            }
        }
        let _ = std::fs::remove_dir_all(&folder);
    }
    println!("{passed} passed, {failed} failed, {skipped} skipped");
    std::process::exit(if failed > 0 { 1 } else { 0 });
}
