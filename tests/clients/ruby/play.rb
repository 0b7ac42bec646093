# Plays conformance sessions against a sidecar with Ruby's standard library.
require "json"
require "open3"
require "tmpdir"
require "timeout"

TIMEOUT = 20

class Mismatch < StandardError; end

# A sidecar process; replies are found by id, notifications are kept in order.
class Sidecar
  attr_reader :notifications

  def initialize(store)
    command = JSON.parse(ENV.fetch("SIDECAR_COMMAND")) + ["--store", store]
    @in, @out, @process = Open3.popen2(*command)
    [@in, @out].each(&:binmode)
    @replies = {}
    @notifications = []
    write({ id: "initialize", method: "initialize", params: { processId: Process.pid, capabilities: {} } })
    reply("initialize")
    write({ method: "initialized", params: {} })
  end

  def write(message)
    body = JSON.generate({ "jsonrpc" => "2.0" }.merge(message))
    @in.write("Content-Length: #{body.bytesize}\r\n\r\n", body)
    @in.flush
  end

  def reply(id)
    receive until @replies.key?(id)
    @replies.delete(id)
  end

  def notification(method)
    receive until (found = @notifications.find { |n| n["method"] == method })
    @notifications.delete(found)
  end

  def shut_down
    write({ id: "shutdown", method: "shutdown" })
    reply("shutdown")
    write({ method: "exit" })
    raise Mismatch, "the exit code is not 0" unless Timeout.timeout(TIMEOUT) { @process.value }.exitstatus == 0
  end

  def kill
    Process.kill("KILL", @process.pid)
    @process.value
  rescue Errno::ESRCH
    nil
  end

  private

  def receive
    message = Timeout.timeout(TIMEOUT) do
      length = nil
      while (line = @out.gets) && line != "\r\n"
        name, value = line.split(":", 2)
        length = value.to_i if name.downcase == "content-length"
      end
      raise Mismatch, "the server ended" unless length
      JSON.parse(@out.read(length).force_encoding("UTF-8"), max_nesting: 200)
    end
    message.key?("method") ? @notifications << message : @replies[message["id"]] = message
  end
end

KINDS = {
  "any" => ->(_) { true }, "null" => ->(v) { v.nil? }, "boolean" => ->(v) { [true, false].include?(v) },
  "integer" => ->(v) { v.is_a?(Integer) }, "number" => ->(v) { v.is_a?(Numeric) },
  "string" => ->(v) { v.is_a?(String) }, "array" => ->(v) { v.is_a?(Array) }, "object" => ->(v) { v.is_a?(Hash) }
}.freeze

def substituted(value, names)
  case value
  when Hash then value.key?("$ref") ? names[value["$ref"]] : value.transform_values { |v| substituted(v, names) }
  when Array then value.map { |v| substituted(v, names) }
  else value
  end
end

def need(fine, path, what, value)
  raise Mismatch, "#{path} should be #{what}, is #{JSON.generate(value)[0, 300]}" unless fine
end

def match(expected, value, names, path = "", exact: false)
  case expected
  when Hash
    return special(expected, value, names, path) if !exact && expected.keys.any? { |k| k.start_with?("$") }
    need(value.is_a?(Hash), path, "an object", value)
    expected.each do |key, part|
      if part == { "$absent" => true } && !exact
        need(!value.key?(key), path, "without #{key}", value)
      else
        need(value.key?(key), path, "with #{key}", value)
        match(part, value[key], names, "#{path}/#{key}", exact: exact)
      end
    end
    need(value.size == expected.size, path, "only #{expected.keys}", value) if exact
  when Array
    need(value.is_a?(Array) && value.size == expected.size, path, "#{expected.size} items", value)
    expected.each_with_index { |part, i| match(part, value[i], names, "#{path}/#{i}", exact: exact) }
  else need(expected.eql?(value), path, expected.inspect, value)
  end
end

def special(expected, value, names, path)
  if expected.key?("$any")
    kinds = Array(expected["$any"])
    need(kinds.any? { |kind| KINDS.fetch(kind).call(value) }, path, kinds.join(" or "), value)
  end
  names[expected["$bind"]] = value if expected.key?("$bind")
  match(names[expected["$ref"]], value, names, path, exact: true) if expected.key?("$ref")
  match(expected["$exact"], value, names, path, exact: true) if expected.key?("$exact")
  expected.fetch("$contains", []).each do |part|
    need(value.is_a?(Array) && value.any? { |item| matches?(part, item, names) }, path, "with #{part}", value)
  end
end

def matches?(expected, value, names)
  match(expected, value, names)
  true
rescue Mismatch
  false
end

def play(header, steps, folder)
  store = File.join(folder, "store.db")
  names = {}
  clients = header.fetch("clients", ["a"]).to_h { |name| [name, Sidecar.new(store)] }
  steps.each_with_index do |step, index|
    name = step.fetch("client", "a")
    client = clients[name]
    if step.key?("send")
      client.write(substituted(step["send"], names))
    elsif step.key?("expect")
      wanted = step["expect"]
      match(wanted, wanted.key?("method") ? client.notification(wanted["method"]) : client.reply(wanted["id"]), names)
    elsif step.key?("expectNone")
      raise Mismatch, "unexpected" if client.notifications.any? { |n| n["method"] == step["expectNone"] }
    elsif step.key?("kill")
      client.kill
      clients[name] = Sidecar.new(store)
    end
  rescue Mismatch, Timeout::Error => e
    raise Mismatch, "line #{index + 2}: #{e.message}"
  end
  clients.each_value(&:shut_down)
ensure
  clients&.each_value(&:kill)
end

$stdout.sync = true
counts = { "passed" => 0, "failed" => 0, "skipped" => 0 }
ARGV.each do |path|
  lines = File.readlines(path, encoding: "UTF-8")
  header = JSON.parse(lines.shift)
  why = header["lifecycle"] == "raw" ? "raw frames" : nil
  # JSON.parse refuses a lone surrogate, so such a session cannot be judged here.
  why ||= "lone surrogates" if header.fetch("needs", []).include?("loneSurrogates")
  if why
    counts["skipped"] += 1
    puts "skip #{header["session"]}: #{why}"
    next
  end
  steps = lines.map { |line| JSON.parse(line, max_nesting: 200) }
  begin
    Dir.mktmpdir { |folder| play(header, steps, folder) }
    counts["passed"] += 1
    puts "ok #{header["session"]}"
  rescue Mismatch => e
    counts["failed"] += 1
    puts "not ok #{header["session"]}: #{e.message}"
  end
end
puts counts.map { |word, count| "#{count} #{word}" }.join(", ")
exit(counts["failed"].zero? ? 0 : 1)
