// Plays conformance sessions against a sidecar with org.eclipse.lsp4j.jsonrpc, the library of LSP4E and LSP4IJ.
import com.google.gson.*;
import java.io.IOException;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;
import org.eclipse.lsp4j.jsonrpc.*;
import org.eclipse.lsp4j.jsonrpc.json.*;
import org.eclipse.lsp4j.jsonrpc.messages.ResponseError;

public class Play {
  static final int TIMEOUT = 20;

  static class Mismatch extends RuntimeException {
    Mismatch(String message) { super(message); }
  }

  /** A sidecar process; requests are answered by the session's ids, notifications are kept in order. */
  static class Sidecar implements Endpoint {
    final Process process;
    final RemoteEndpoint remote;
    final Map<String, CompletableFuture<JsonObject>> replies = new HashMap<>();
    final List<JsonObject> notifications = new ArrayList<>();

    Sidecar(Path store, Set<String> methods) throws Exception {
      List<String> command = new ArrayList<>();
      JsonParser.parseString(System.getenv("SIDECAR_COMMAND")).getAsJsonArray().forEach(word -> command.add(word.getAsString()));
      command.addAll(List.of("--store", store.toString()));
      process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
      Map<String, JsonRpcMethod> known = new HashMap<>();
      for (String method : methods) known.put(method, JsonRpcMethod.request(method, JsonElement.class, JsonElement.class));
      // Gson leaves null members out by default, and null content means something here.
      MessageJsonHandler json = new MessageJsonHandler(known, gson -> gson.serializeNulls());
      remote = new RemoteEndpoint(new StreamMessageConsumer(process.getOutputStream(), json), this);
      json.setMethodProvider(remote);
      Thread reader = new Thread(() -> new StreamMessageProducer(process.getInputStream(), json).listen(remote));
      reader.setDaemon(true);
      reader.start();
      JsonObject params = new JsonObject();
      params.addProperty("processId", ProcessHandle.current().pid());
      params.add("capabilities", new JsonObject());
      remote.request("initialize", params).get(TIMEOUT, TimeUnit.SECONDS);
      remote.notify("initialized", new JsonObject());
    }

    @Override public CompletableFuture<?> request(String method, Object params) {
      return CompletableFuture.failedFuture(new UnsupportedOperationException(method));
    }

    @Override public synchronized void notify(String method, Object params) {
      JsonObject note = new JsonObject();
      note.addProperty("jsonrpc", "2.0");
      note.addProperty("method", method);
      note.add("params", params instanceof JsonElement element ? element : new Gson().toJsonTree(params));
      notifications.add(note);
      notifyAll();
    }

    void send(JsonObject message) {
      JsonElement params = message.has("params") ? message.get("params") : new JsonObject();
      String method = message.get("method").getAsString();
      if (!message.has("id")) {
        remote.notify(method, params);
        return;
      }
      JsonElement id = message.get("id");
      replies.put(id.toString(), remote.request(method, params).handle((result, failure) -> {
        JsonObject reply = new JsonObject();
        reply.add("id", id);
        Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
        if (cause instanceof ResponseErrorException refused) reply.add("error", error(refused.getResponseError()));
        else if (cause != null) throw new Mismatch(cause.toString());
        else reply.add("result", result == null ? JsonNull.INSTANCE : (JsonElement) result);
        return reply;
      }));
    }

    JsonObject reply(JsonElement id) throws Exception {
      CompletableFuture<JsonObject> answer = replies.get(id.toString());
      if (answer == null) throw new Mismatch("nothing was sent with id " + id);
      return answer.get(TIMEOUT, TimeUnit.SECONDS);
    }

    synchronized JsonObject notification(String method) throws Exception {
      long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT);
      while (true) {
        for (JsonObject note : notifications)
          if (note.get("method").getAsString().equals(method)) {
            notifications.remove(note);
            return note;
          }
        long left = TimeUnit.NANOSECONDS.toMillis(until - System.nanoTime());
        if (left <= 0) throw new Mismatch("no " + method + " in time");
        wait(left);
      }
    }

    void shutDown() throws Exception {
      remote.request("shutdown", null).get(TIMEOUT, TimeUnit.SECONDS);
      remote.notify("exit", null);
      if (!process.waitFor(TIMEOUT, TimeUnit.SECONDS) || process.exitValue() != 0) throw new Mismatch("the exit code is not 0");
    }

    void kill() throws InterruptedException {
      process.destroyForcibly().waitFor();
    }
  }

  static JsonObject error(ResponseError from) {
    JsonObject error = new JsonObject();
    error.addProperty("code", from.getCode());
    error.addProperty("message", from.getMessage());
    error.add("data", from.getData() instanceof JsonElement data ? data : new Gson().toJsonTree(from.getData()));
    return error;
  }

  static void need(boolean fine, String path, String what, JsonElement value) {
    if (fine) return;
    String shown = String.valueOf(value);
    throw new Mismatch(path + " should be " + what + ", is " + shown.substring(0, Math.min(300, shown.length())));
  }

  static boolean isKind(String kind, JsonElement value) {
    JsonPrimitive primitive = value.isJsonPrimitive() ? value.getAsJsonPrimitive() : null;
    return switch (kind) {
      case "any" -> true;
      case "null" -> value.isJsonNull();
      case "boolean" -> primitive != null && primitive.isBoolean();
      case "integer" -> primitive != null && primitive.isNumber() && primitive.getAsString().matches("-?\\d+");
      case "number" -> primitive != null && primitive.isNumber();
      case "string" -> primitive != null && primitive.isString();
      case "array" -> value.isJsonArray();
      default -> value.isJsonObject();
    };
  }

  static void match(JsonElement expected, JsonElement value, Map<String, JsonElement> names, String path, boolean exact) {
    if (expected.isJsonObject()) {
      JsonObject members = expected.getAsJsonObject();
      if (!exact && members.keySet().stream().anyMatch(key -> key.startsWith("$"))) {
        special(members, value, names, path);
        return;
      }
      need(value.isJsonObject(), path, "an object", value);
      JsonObject found = value.getAsJsonObject();
      for (String key : members.keySet()) {
        JsonElement part = members.get(key);
        if (!exact && part.isJsonObject() && part.getAsJsonObject().has("$absent")) {
          need(!found.has(key), path, "without " + key, value);
          continue;
        }
        need(found.has(key), path, "with " + key, value);
        match(part, found.get(key), names, path + "/" + key, exact);
      }
      need(!exact || found.size() == members.size(), path, "nothing more", value);
    } else if (expected.isJsonArray()) {
      JsonArray parts = expected.getAsJsonArray();
      need(value.isJsonArray() && value.getAsJsonArray().size() == parts.size(), path, parts.size() + " items", value);
      for (int i = 0; i < parts.size(); i++) match(parts.get(i), value.getAsJsonArray().get(i), names, path + "/" + i, exact);
    } else need(same(expected, value), path, expected.toString(), value);
  }

  /** Gson compares numbers by value; as JSON, 1 and 1.0 are written differently. */
  static boolean same(JsonElement one, JsonElement other) {
    return one.equals(other) && one.toString().equals(other.toString());
  }

  static void special(JsonObject expected, JsonElement value, Map<String, JsonElement> names, String path) {
    if (expected.has("$any")) {
      JsonElement wanted = expected.get("$any");
      List<String> kinds = new ArrayList<>();
      if (wanted.isJsonArray()) wanted.getAsJsonArray().forEach(kind -> kinds.add(kind.getAsString()));
      else kinds.add(wanted.getAsString());
      need(kinds.stream().anyMatch(kind -> isKind(kind, value)), path, String.join(" or ", kinds), value);
    }
    if (expected.has("$bind")) names.put(expected.get("$bind").getAsString(), value);
    if (expected.has("$ref")) match(names.get(expected.get("$ref").getAsString()), value, names, path, true);
    if (expected.has("$exact")) match(expected.get("$exact"), value, names, path, true);
    if (expected.has("$contains"))
      for (JsonElement part : expected.getAsJsonArray("$contains")) {
        boolean fine = false;
        for (JsonElement item : value.isJsonArray() ? value.getAsJsonArray() : new JsonArray()) fine = fine || matches(part, item, names);
        need(fine, path, "with " + part, value);
      }
  }

  static boolean matches(JsonElement expected, JsonElement value, Map<String, JsonElement> names) {
    try {
      match(expected, value, names, "", false);
      return true;
    } catch (Mismatch mismatch) {
      return false;
    }
  }

  static JsonElement substituted(JsonElement value, Map<String, JsonElement> names) {
    if (value.isJsonArray()) {
      JsonArray out = new JsonArray();
      value.getAsJsonArray().forEach(item -> out.add(substituted(item, names)));
      return out;
    }
    if (!value.isJsonObject()) return value;
    JsonObject members = value.getAsJsonObject();
    if (members.has("$ref")) return names.get(members.get("$ref").getAsString());
    JsonObject out = new JsonObject();
    members.entrySet().forEach(member -> out.add(member.getKey(), substituted(member.getValue(), names)));
    return out;
  }

  static void play(JsonObject header, List<JsonObject> steps, Path folder) throws Exception {
    Path store = folder.resolve("store.db");
    Map<String, JsonElement> names = new HashMap<>();
    Map<String, Sidecar> clients = new LinkedHashMap<>();
    Set<String> methods = new HashSet<>(Set.of("initialize", "shutdown"));
    for (JsonObject step : steps) if (step.has("send")) methods.add(step.getAsJsonObject("send").get("method").getAsString());
    try {
      JsonArray wanted = header.has("clients") ? header.getAsJsonArray("clients") : JsonParser.parseString("[\"a\"]").getAsJsonArray();
      for (JsonElement name : wanted) clients.put(name.getAsString(), new Sidecar(store, methods));
      for (int number = 0; number < steps.size(); number++)
        try {
          take(steps.get(number), store, methods, clients, names);
        } catch (Mismatch | TimeoutException mismatch) {
          throw new Mismatch("line " + (number + 2) + ": " + mismatch.getMessage());
        }
      for (Sidecar client : clients.values()) client.shutDown();
    } finally {
      for (Sidecar client : clients.values()) client.kill();
    }
  }

  static void take(JsonObject step, Path store, Set<String> methods, Map<String, Sidecar> clients, Map<String, JsonElement> names) throws Exception {
    String name = step.has("client") ? step.get("client").getAsString() : "a";
    Sidecar client = clients.get(name);
    if (step.has("send")) client.send(substituted(step.get("send"), names).getAsJsonObject());
    else if (step.has("expect")) {
      JsonObject expected = step.getAsJsonObject("expect");
      JsonObject found = expected.has("method") ? client.notification(expected.get("method").getAsString()) : client.reply(expected.get("id"));
      match(expected, found, names, "", false);
    } else if (step.has("expectNone")) {
      synchronized (client) {
        for (JsonObject note : client.notifications) need(!note.get("method").equals(step.get("expectNone")), "", "nothing", note);
      }
    } else if (step.has("kill")) {
      client.kill();
      clients.put(name, new Sidecar(store, methods));
    }
  }

  public static void main(String[] paths) throws Exception {
    int passed = 0, failed = 0, skipped = 0;
    for (String path : paths) {
      List<String> lines = Files.readAllLines(Path.of(path));
      JsonObject header = JsonParser.parseString(lines.get(0)).getAsJsonObject();
      String session = header.get("session").getAsString();
      if (header.has("lifecycle") && header.get("lifecycle").getAsString().equals("raw")) {
        skipped++;
        System.out.println("skip " + session + ": raw frames");
        continue;
      }
      if (header.has("needs") && header.getAsJsonArray("needs").contains(new JsonPrimitive("loneSurrogates"))) {
        skipped++;
        System.out.println("skip " + session + ": a lone surrogate has no UTF-8 form");
        continue;
      }
      List<JsonObject> steps = new ArrayList<>();
      for (String line : lines.subList(1, lines.size())) steps.add(JsonParser.parseString(line).getAsJsonObject());
      Path folder = Files.createTempDirectory("sidecar-");
      try {
        play(header, steps, folder);
        passed++;
        System.out.println("ok " + session);
      } catch (Mismatch | ExecutionException problem) {
        failed++;
        System.out.println("not ok " + session + ": " + problem.getMessage());
      } finally {
        remove(folder);
      }
    }
    System.out.printf("%d passed, %d failed, %d skipped%n", passed, failed, skipped);
    System.exit(failed > 0 ? 1 : 0);
  }

  static void remove(Path folder) throws IOException {
    try (var paths = Files.walk(folder)) {
      for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) Files.deleteIfExists(path);
    }
  }
}
