// Plays conformance sessions against a sidecar with vscode-jsonrpc, the library under vscode-languageclient.
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMessageConnection, ResponseError, StreamMessageReader, StreamMessageWriter } from "vscode-jsonrpc/node.js";

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type Obj = { [key: string]: Json };
type Header = { session: string; lifecycle?: string; clients?: string[]; needs?: string[] };
type Step = { client?: string; send?: Obj; expect?: Obj; expectNone?: string; kill?: Json; comment?: string };

class Mismatch extends Error {}
const TIMEOUT = 20_000;

/** A sidecar process; requests are answered by the session's ids, notifications are kept in order. */
class Sidecar {
  private replies = new Map<string, Promise<Obj>>();
  private waiting: (() => void)[] = [];
  notifications: Obj[] = [];
  private constructor(private child: ChildProcess, private rpc: ReturnType<typeof createMessageConnection>) {}

  static async start(store: string): Promise<Sidecar> {
    const [program, ...args] = JSON.parse(process.env.SIDECAR_COMMAND!) as string[];
    const child = spawn(program!, [...args, "--store", store], { stdio: ["pipe", "pipe", "inherit"] });
    const rpc = createMessageConnection(new StreamMessageReader(child.stdout!), new StreamMessageWriter(child.stdin!));
    const sidecar = new Sidecar(child, rpc);
    rpc.onNotification((method, params) => {
      sidecar.notifications.push({ jsonrpc: "2.0", method, params: params as Json });
      sidecar.waiting.splice(0).forEach((wake) => wake());
    });
    rpc.onError(() => undefined);
    rpc.listen();
    await rpc.sendRequest("initialize", { processId: process.pid, capabilities: {} });
    await rpc.sendNotification("initialized", {});
    return sidecar;
  }

  send(message: Obj): void {
    const params = message.params ?? {};
    if (!("id" in message)) return void this.rpc.sendNotification(message.method as string, params);
    const answered = this.rpc.sendRequest(message.method as string, params).then(
      (result) => ({ id: message.id!, result: result as Json }) as Obj,
      (error: unknown) => {
        if (!(error instanceof ResponseError)) throw error;
        return { id: message.id!, error: { code: error.code, message: error.message, data: (error.data ?? null) as Json } };
      },
    );
    answered.catch(() => undefined);
    this.replies.set(JSON.stringify(message.id), answered);
  }

  reply(id: Json): Promise<Obj> {
    const key = JSON.stringify(id);
    const found = this.replies.get(key);
    if (!found) throw new Mismatch(`nothing was sent with id ${key}`);
    return soon(found);
  }

  async notification(method: string): Promise<Obj> {
    for (;;) {
      const index = this.notifications.findIndex((n) => n.method === method);
      if (index >= 0) return this.notifications.splice(index, 1)[0]!;
      await soon(new Promise<void>((wake) => this.waiting.push(wake)));
    }
  }

  async shutDown(): Promise<void> {
    await soon(this.rpc.sendRequest("shutdown"));
    const gone = new Promise<number | null>((done) => this.child.once("exit", done));
    await this.rpc.sendNotification("exit");
    if ((await soon(gone)) !== 0) throw new Mismatch("the exit code is not 0");
    this.rpc.dispose();
  }

  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const gone = new Promise((done) => this.child.once("exit", done));
    this.child.kill("SIGKILL");
    await gone;
    this.rpc.dispose();
  }
}

function soon<T>(promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout;
  const late = new Promise<never>((_, fail) => (timer = setTimeout(() => fail(new Mismatch("no answer in time")), TIMEOUT)));
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

const isObject = (v: Json | undefined): v is Obj => typeof v === "object" && v !== null && !Array.isArray(v);
const KINDS: Record<string, (v: Json) => boolean> = {
  any: () => true,
  null: (v) => v === null,
  boolean: (v) => typeof v === "boolean",
  integer: (v) => Number.isInteger(v),
  number: (v) => typeof v === "number",
  string: (v) => typeof v === "string",
  array: (v) => Array.isArray(v),
  object: (v) => isObject(v),
};

function substituted(value: Json, names: Map<string, Json>): Json {
  if (Array.isArray(value)) return value.map((v) => substituted(v, names));
  if (!isObject(value)) return value;
  if (typeof value.$ref === "string") return names.get(value.$ref)!;
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, substituted(v, names)]));
}

function need(fine: boolean, path: string, what: string, value: Json | undefined): void {
  if (!fine) throw new Mismatch(`${path} should be ${what}, is ${JSON.stringify(value)?.slice(0, 300)}`);
}

function match(expected: Json, value: Json | undefined, names: Map<string, Json>, path = "", exact = false): void {
  if (isObject(expected)) {
    if (!exact && Object.keys(expected).some((k) => k.startsWith("$"))) return special(expected, value, names, path);
    if (!isObject(value)) return need(false, path, "an object", value);
    for (const [key, part] of Object.entries(expected)) {
      if (!exact && isObject(part) && part.$absent === true) need(!(key in value), path, `without ${key}`, value);
      else {
        need(key in value, path, `with ${key}`, value);
        match(part, value[key], names, `${path}/${key}`, exact);
      }
    }
    if (exact) need(Object.keys(value).length === Object.keys(expected).length, path, `only ${Object.keys(expected)}`, value);
  } else if (Array.isArray(expected)) {
    if (!Array.isArray(value) || value.length !== expected.length) return need(false, path, `${expected.length} items`, value);
    expected.forEach((part, i) => match(part, value[i], names, `${path}/${i}`, exact));
  } else need(expected === value, path, JSON.stringify(expected), value);
}

function special(expected: Obj, value: Json | undefined, names: Map<string, Json>, path: string): void {
  if (value === undefined) return need(false, path, "there", value);
  if ("$any" in expected) {
    const kinds = [expected.$any].flat() as string[];
    need(kinds.some((kind) => KINDS[kind]!(value)), path, kinds.join(" or "), value);
  }
  if (typeof expected.$bind === "string") names.set(expected.$bind, value);
  if (typeof expected.$ref === "string") match(names.get(expected.$ref)!, value, names, path, true);
  if ("$exact" in expected) match(expected.$exact!, value, names, path, true);
  for (const part of (expected.$contains ?? []) as Json[])
    need(Array.isArray(value) && value.some((item) => matches(part, item, names)), path, `with ${JSON.stringify(part)}`, value);
}

function matches(expected: Json, value: Json, names: Map<string, Json>): boolean {
  try {
    match(expected, value, names);
    return true;
  } catch (error) {
    if (error instanceof Mismatch) return false;
    throw error;
  }
}

async function play(header: Header, steps: Step[], folder: string): Promise<void> {
  const store = join(folder, "store.db");
  const names = new Map<string, Json>();
  const clients = new Map<string, Sidecar>();
  try {
    for (const name of header.clients ?? ["a"]) clients.set(name, await Sidecar.start(store));
    for (const [index, step] of steps.entries()) {
      const name = step.client ?? "a";
      const client = clients.get(name)!;
      try {
        if (step.send) client.send(substituted(step.send, names) as Obj);
        else if (step.expect) {
          const method = step.expect.method;
          match(step.expect, typeof method === "string" ? await client.notification(method) : await client.reply(step.expect.id!), names);
        } else if (step.expectNone) need(!client.notifications.some((n) => n.method === step.expectNone), "", "nothing", null);
        else if (step.kill !== undefined) {
          await client.kill();
          clients.set(name, await Sidecar.start(store));
        }
      } catch (error) {
        throw error instanceof Mismatch ? new Mismatch(`line ${index + 2}: ${error.message}`) : error;
      }
    }
    for (const client of clients.values()) await client.shutDown();
  } finally {
    for (const client of clients.values()) await client.kill();
  }
}

const counts = { passed: 0, failed: 0, skipped: 0 };
for (const path of process.argv.slice(2)) {
  const [header, ...steps] = readFileSync(path, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line)) as [Header, ...Step[]];
  // A JavaScript number is a double: what needs more cannot be judged here.
  const why = header.lifecycle === "raw" ? "raw frames" : header.needs?.includes("bigIntegers") ? "big integers" : undefined;
  if (why) {
    counts.skipped++;
    console.log(`skip ${header.session}: ${why}`);
    continue;
  }
  const folder = mkdtempSync(join(tmpdir(), "sidecar-"));
  try {
    await play(header, steps, folder);
    counts.passed++;
    console.log(`ok ${header.session}`);
  } catch (error) {
    if (!(error instanceof Mismatch)) throw error;
    counts.failed++;
    console.log(`not ok ${header.session}: ${error.message}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
console.log(Object.entries(counts).map(([word, count]) => `${count} ${word}`).join(", "));
process.exit(counts.failed ? 1 : 0);
