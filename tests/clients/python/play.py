"""Plays conformance sessions against a sidecar with nothing but the standard library."""

import json
import os
import queue
import subprocess
import sys
import tempfile
import threading

TIMEOUT = 20


class Mismatch(Exception):
    pass


class Sidecar:
    """A sidecar process; requests are answered by id, notifications are kept in order."""

    def __init__(self, store):
        command = [*json.loads(os.environ["SIDECAR_COMMAND"]), "--store", store]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.messages = queue.Queue()
        self.replies, self.notifications = {}, []
        threading.Thread(target=self._read, daemon=True).start()
        self.request("initialize", "initialize", {"processId": os.getpid(), "capabilities": {}})
        self.reply("initialize")
        self.write({"method": "initialized", "params": {}})

    def write(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def request(self, request_id, method, params):
        self.write({"id": request_id, "method": method, "params": params})

    def _read(self):
        stream = self.process.stdout
        while line := stream.readline():
            length = 0
            while line.strip():
                name, _, value = line.partition(b":")
                if name.strip().lower() == b"content-length":
                    length = int(value)
                line = stream.readline()
            self.messages.put(json.loads(stream.read(length)))

    def _receive(self):
        message = self.messages.get(timeout=TIMEOUT)
        if "method" in message:
            self.notifications.append(message)
        else:
            self.replies[message["id"]] = message

    def reply(self, request_id):
        while request_id not in self.replies:
            self._receive()
        return self.replies.pop(request_id)

    def notification(self, method):
        while not (found := [n for n in self.notifications if n["method"] == method]):
            self._receive()
        self.notifications.remove(found[0])
        return found[0]

    def shut_down(self):
        self.request("shutdown", "shutdown", None)
        self.reply("shutdown")
        self.write({"method": "exit"})
        if self.process.wait(TIMEOUT) != 0:
            raise Mismatch("the exit code is not 0")

    def kill(self):
        self.process.kill()
        self.process.wait()


KINDS = {
    "any": lambda v: True,
    "null": lambda v: v is None,
    "boolean": lambda v: isinstance(v, bool),
    "integer": lambda v: type(v) is int,
    "number": lambda v: type(v) in (int, float),
    "string": lambda v: isinstance(v, str),
    "array": lambda v: isinstance(v, list),
    "object": lambda v: isinstance(v, dict),
}


def substituted(value, names):
    if isinstance(value, dict):
        return names[value["$ref"]] if "$ref" in value else {k: substituted(v, names) for k, v in value.items()}
    return [substituted(v, names) for v in value] if isinstance(value, list) else value


def match(expected, value, names, path="", exact=False):
    def need(fine, what):
        if not fine:
            raise Mismatch(f"{path or 'message'} should be {what}, is {json.dumps(value)[:300]}")

    if isinstance(expected, dict) and not exact and any(k.startswith("$") for k in expected):
        if "$any" in expected:
            kinds = expected["$any"] if isinstance(expected["$any"], list) else [expected["$any"]]
            need(any(KINDS[kind](value) for kind in kinds), " or ".join(kinds))
        if "$bind" in expected:
            names[expected["$bind"]] = value
        if "$ref" in expected:
            match(names[expected["$ref"]], value, names, path, exact=True)
        if "$exact" in expected:
            match(expected["$exact"], value, names, path, exact=True)
        for part in expected.get("$contains", []):
            need(isinstance(value, list) and any(matches(part, item, names) for item in value), f"with {part}")
    elif isinstance(expected, dict):
        need(isinstance(value, dict), "an object")
        for key, part in expected.items():
            if part == {"$absent": True} and not exact:
                need(key not in value, f"without {key}")
            else:
                need(key in value, f"with {key}")
                match(part, value[key], names, f"{path}/{key}", exact)
        need(not exact or len(value) == len(expected), f"only {sorted(expected)}")
    elif isinstance(expected, list):
        need(isinstance(value, list) and len(value) == len(expected), f"{len(expected)} items")
        for index, part in enumerate(expected):
            match(part, value[index], names, f"{path}/{index}", exact)
    else:
        need(type(expected) is type(value) and expected == value, repr(expected))


def matches(expected, value, names):
    try:
        match(expected, value, names)
    except Mismatch:
        return False
    return True


def play(header, steps, folder):
    store, names = os.path.join(folder, "store.db"), {}
    clients = {name: Sidecar(store) for name in header.get("clients", ["a"])}
    try:
        for number, step in enumerate(steps, 2):
            name = step.get("client", "a")
            client = clients[name]
            try:
                if "send" in step:
                    client.write(substituted(step["send"], names))
                elif "expect" in step:
                    wanted = step["expect"]
                    got = client.notification(wanted["method"]) if "method" in wanted else client.reply(wanted["id"])
                    match(wanted, got, names)
                elif "expectNone" in step:
                    if any(n["method"] == step["expectNone"] for n in client.notifications):
                        raise Mismatch(f"an unexpected {step['expectNone']}")
                elif "kill" in step:
                    client.kill()
                    clients[name] = Sidecar(store)
            except (Mismatch, queue.Empty) as error:
                raise Mismatch(f"line {number}: {error!r}") from None
        for client in clients.values():
            client.shut_down()
    finally:
        for client in clients.values():
            client.kill()


def main():
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            header, *steps = map(json.loads, file)
        name = header["session"]
        if header.get("lifecycle") == "raw":
            counts["skipped"] += 1
            print(f"skip {name}: raw frames")
            continue
        try:
            with tempfile.TemporaryDirectory() as folder:
                play(header, steps, folder)
        except Mismatch as error:
            counts["failed"] += 1
            print(f"not ok {name}: {error}")
        else:
            counts["passed"] += 1
            print(f"ok {name}")
    print(", ".join(f"{count} {word}" for word, count in counts.items()))
    return 1 if counts["failed"] else 0


sys.exit(main())
