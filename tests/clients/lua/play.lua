-- Plays conformance sessions against a sidecar with lua-cjson. lua5.4 play.lua FILE...
-- Plain Lua cannot hold both ends of a child process (io.popen is one-way), so two FIFOs do it.
local cjson = require 'cjson'
cjson.decode_max_depth(200)
cjson.encode_max_depth(200)

-- lua-cjson writes an empty table as an object, so an empty array travels through Lua as a text of its own.
local EMPTY = '\1[]'
local function decode(line) return cjson.decode((line:gsub('([^\\]": )%[%]', '%1"\\u0001[]"'))) end
local function encode(value) return (cjson.encode(value):gsub('"\\u0001%[%]"', '[]')) end

local function quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end
local function output(command)
  local pipe = assert(io.popen(command))
  local text = pipe:read('a'):gsub('%s+$', '')
  pipe:close()
  return text
end

local Sidecar = {}
Sidecar.__index = Sidecar

function Sidecar.start(store, folder)
  local words = {}
  for _, word in ipairs(cjson.decode(os.getenv('SIDECAR_COMMAND'))) do words[#words + 1] = quote(word) end
  local pipes = output('mktemp -d -p ' .. quote(folder))
  os.execute(('mkfifo %s/in %s/out'):format(pipes, pipes))
  -- The exit code goes to a file, since nobody here can wait for the process.
  os.execute(('{ sh -c %s; echo $? > %s/code; } &'):format(
    quote(('echo $$ > %s/pid; exec %s --store %s <%s/in >%s/out'):format(pipes, table.concat(words, ' '), quote(store), pipes, pipes)),
    pipes))
  local self = setmetatable({ pipes = pipes, replies = {}, notifications = {} }, Sidecar)
  self.input, self.out = assert(io.open(pipes .. '/in', 'w')), assert(io.open(pipes .. '/out', 'r'))
  self:write { id = 'initialize', method = 'initialize', params = { capabilities = {} } }
  self:reply 'initialize'
  self:write { method = 'initialized' }
  return self
end

function Sidecar:write(message)
  message.jsonrpc = '2.0'
  local body = encode(message)
  self.input:write('Content-Length: ', #body, '\r\n\r\n', body)
  self.input:flush()
end

function Sidecar:receive()
  local length
  for line in self.out:lines() do
    line = line:gsub('\r', '')
    if line == '' then break end
    length = tonumber(line:lower():match('^content%-length:%s*(%d+)')) or length
  end
  assert(length, 'the server ended')
  local message = cjson.decode(self.out:read(length))
  if message.method then table.insert(self.notifications, message) else self.replies[message.id] = message end
end

function Sidecar:reply(id)
  while not self.replies[id] do self:receive() end
  local found = self.replies[id]
  self.replies[id] = nil
  return found
end

function Sidecar:notification(method)
  while true do
    for index, each in ipairs(self.notifications) do
      if each.method == method then return table.remove(self.notifications, index) end
    end
    self:receive()
  end
end

function Sidecar:gone()
  for _ = 1, 200 do
    local file = io.open(self.pipes .. '/code')
    local code = file and file:read('n')
    if file then file:close() end
    if code then return code end
    os.execute('sleep 0.1')
  end
  error('the server does not end')
end

function Sidecar:shut_down()
  self:write { id = 'shutdown', method = 'shutdown' }
  self:reply 'shutdown'
  self:write { method = 'exit' }
  self.ended = true
  assert(self:gone() == 0, 'the exit code is not 0')
end

function Sidecar:kill()
  if self.ended then return end
  self.ended = true
  os.execute(('kill -9 $(cat %s/pid) 2>/dev/null'):format(self.pipes))
  self:gone()
end

-- lua-cjson gives an empty array and an empty object the same empty table, so either passes for the other.
local function is_array(value) return type(value) == 'table' and (#value > 0 or next(value) == nil) end
local function is_object(value) return type(value) == 'table' and #value == 0 end
local KINDS = {
  any = function() return true end,
  null = function(v) return v == cjson.null end,
  boolean = function(v) return type(v) == 'boolean' end,
  integer = function(v) return type(v) == 'number' and v == math.floor(v) end,
  number = function(v) return type(v) == 'number' end,
  string = function(v) return type(v) == 'string' end,
  array = is_array,
  object = is_object,
}

local function need(fine, path, what, value)
  if not fine then
    local shown = value == nil and 'nothing' or cjson.encode({ value }):sub(1, 300)
    error({ mismatch = ('%s should be %s, is %s'):format(path, what, shown) }, 0)
  end
end

local match

local function matches(expected, value, names) return (pcall(match, expected, value, names, '')) end

local function special(expected, value, names, path)
  if expected['$any'] then
    local kinds = type(expected['$any']) == 'table' and expected['$any'] or { expected['$any'] }
    local fine = false
    for _, kind in ipairs(kinds) do fine = fine or KINDS[kind](value) end
    need(fine, path, table.concat(kinds, ' or '), value)
  end
  if expected['$bind'] then names[expected['$bind']] = value end
  if expected['$ref'] then match(names[expected['$ref']], value, names, path, true) end
  if expected['$exact'] ~= nil then match(expected['$exact'], value, names, path, true) end
  for _, part in ipairs(expected['$contains'] or {}) do
    local fine = false
    for _, item in ipairs(value) do fine = fine or matches(part, item, names) end
    need(fine, path, 'with ' .. cjson.encode(part), value)
  end
end

local function count(value)
  local n = 0
  for _ in pairs(value) do n = n + 1 end
  return n
end

function match(expected, value, names, path, exact)
  if expected == EMPTY then expected = {} end
  if type(expected) ~= 'table' then
    need(expected == value and math.type(expected) ~= nil == (math.type(value) ~= nil), path, tostring(expected), value)
    return
  end
  local has_special = false
  for key in pairs(expected) do has_special = has_special or (type(key) == 'string' and key:sub(1, 1) == '$') end
  if has_special and not exact then return special(expected, value, names, path) end
  need(type(value) == 'table', path, 'a table', value)
  if exact or is_array(expected) and (next(expected) ~= nil or is_array(value)) then need(count(value) == count(expected), path, 'of the same size', value) end
  for key, part in pairs(expected) do
    if not exact and type(part) == 'table' and part['$absent'] == true then
      need(value[key] == nil, path, 'without ' .. key, value)
    else
      need(value[key] ~= nil, path, 'with ' .. key, value)
      match(part, value[key], names, path .. '/' .. key, exact)
    end
  end
end

local function substituted(value, names)
  if type(value) ~= 'table' then return value end
  if value['$ref'] then return names[value['$ref']] end
  local out = {}
  for key, part in pairs(value) do out[key] = substituted(part, names) end
  return out
end

local function play(header, steps, folder)
  local store, names, clients = folder .. '/store.db', {}, {}
  local fine, problem = pcall(function()
    for _, name in ipairs(header.clients or { 'a' }) do clients[name] = Sidecar.start(store, folder) end
    for number, step in ipairs(steps) do
      local name = step.client or 'a'
      local client = clients[name]
      local ok, why = pcall(function()
        if step.send then
          client:write(substituted(step.send, names))
        elseif step.expect then
          local method = step.expect.method
          match(step.expect, method and client:notification(method) or client:reply(step.expect.id), names, '')
        elseif step.expectNone then
          for _, each in ipairs(client.notifications) do need(each.method ~= step.expectNone, '', 'nothing', each) end
        elseif step.kill ~= nil then
          client:kill()
          clients[name] = Sidecar.start(store, folder)
        end
      end)
      if not ok then error(('line %d: %s'):format(number + 1, type(why) == 'table' and why.mismatch or why), 0) end
    end
    for _, client in pairs(clients) do client:shut_down() end
  end)
  for _, client in pairs(clients) do client:kill() end
  return fine, problem
end

-- A Lua table keeps no order of keys, and this session looks at the order in which an object was sent.
local CANNOT = { entries = 'order of keys' }

local passed, failed, skipped = 0, 0, 0
io.stdout:setvbuf('line')
for _, path in ipairs(arg) do
  local lines = {}
  for line in io.lines(path) do lines[#lines + 1] = line end
  local header = cjson.decode(table.remove(lines, 1))
  local why = header.lifecycle == 'raw' and 'raw frames' or CANNOT[header.session]
  for _, each in ipairs(header.needs or {}) do why = why or each end
  if why then
    skipped = skipped + 1
    print(('skip %s: %s'):format(header.session, why))
  else
    local steps = {}
    for _, line in ipairs(lines) do steps[#steps + 1] = decode(line) end
    local folder = output('mktemp -d')
    local fine, problem = play(header, steps, folder)
    os.execute('rm -rf ' .. quote(folder))
    if fine then passed = passed + 1 else failed = failed + 1 end
    print(fine and 'ok ' .. header.session or ('not ok %s: %s'):format(header.session, problem))
  end
end
print(('%d passed, %d failed, %d skipped'):format(passed, failed, skipped))
os.exit(failed == 0 and 0 or 1)
