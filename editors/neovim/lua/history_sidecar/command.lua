---`:History <verb> …`: one function per verb, each with its completion.
local buffer = require('history_sidecar.buffer')
local client = require('history_sidecar.client')

local M = {}

---@param answer any?
---@param message string?
---@return any? answer
local function checked(answer, message)
  if answer == nil then
    buffer.complain(message or 'no answer')
  end
  return answer
end

---@return string[]
local function histories()
  local answer = client.request('history/list', { limit = 200 })
  return answer and vim.tbl_map(function(info)
    return info.history
  end, answer.data) or {}
end

---@return string[]
local function vendors()
  local answer = client.request('wire/vendors')
  return answer and vim.tbl_map(function(vendor)
    return vendor.id
  end, answer.data) or {}
end

---@param name string?
---@return string? history the one named, or the one shown
local function named(name)
  local history = name or vim.b.history
  if not history then
    buffer.complain('name a history')
  end
  return history
end

---@param uri string
local function edit(uri)
  local name, entry_id = uri:match('^([^#]*)#?(.*)$')
  vim.cmd.edit(vim.fn.fnameescape(name))
  if entry_id ~= '' then
    buffer.jump(vim.api.nvim_get_current_buf(), name, entry_id)
  end
end

---@class history_sidecar.Verb
---@field run fun(args: string[], bang: boolean)
---@field complete? fun(): string[]

---@type table<string, history_sidecar.Verb>
local verbs = {}

verbs.list = {
  run = function()
    local answer = checked(client.request('history/list', { limit = 200, orderBy = 'updatedAt' }))
    if not answer then
      return
    end
    vim.ui.select(answer.data, {
      prompt = 'History',
      kind = 'history',
      format_item = function(info)
        local tokens = info.tokenEstimate
        local words = { info.history }
        if type(info.title) == 'string' and info.title ~= '' then
          table.insert(words, info.title)
        end
        table.insert(words, ('%d entries'):format(info.len))
        if type(tokens) == 'number' then
          table.insert(words, ('%d tokens'):format(tokens))
        end
        return table.concat(words, ' · ')
      end,
    }, function(info)
      if info then
        edit(buffer.uri_of(info.history))
      end
    end)
  end,
}

verbs.open = {
  complete = histories,
  run = function(args)
    local history = named(args[1])
    if history then
      edit(buffer.uri_of(history))
    end
  end,
}

verbs.search = {
  run = function(args)
    local answer = checked(client.request('history/search', { query = table.concat(args, ' '), limit = 100 }))
    if not answer then
      return
    end
    vim.ui.select(answer.data, {
      prompt = 'Found',
      kind = 'history',
      format_item = function(hit)
        return ('%s · %d · %s'):format(hit.history, hit.index, hit.snippet:gsub('%s+', ' '))
      end,
    }, function(hit)
      if hit then
        edit(('%s#%s'):format(buffer.uri_of(hit.history), hit.entryId))
      end
    end)
  end,
}

verbs.append = {
  complete = histories,
  run = function(args)
    local history = named(args[1])
    if history then
      local text = table.concat(vim.list_slice(args, 2), ' ')
      checked(require('history_sidecar').append(history, text))
    end
  end,
}

verbs.outline = {
  run = function(args)
    local history = named(args[1])
    local answer = history and checked(client.request('history/outline', { history = history, start = -1000 }))
    if not answer then
      return
    end
    vim.ui.select(answer.data, {
      prompt = history,
      kind = 'history',
      format_item = function(row)
        return ('%d. %s: %s'):format(row.index, row.role, row.line)
      end,
    }, function(row)
      if row then
        edit(('%s#%s'):format(buffer.uri_of(history), row.id))
      end
    end)
  end,
  complete = histories,
}

verbs.edit = { run = buffer.edit }

verbs.cut = {
  run = function(_, bang)
    buffer.cut(bang)
  end,
}

verbs.fork = {
  complete = histories,
  run = function(args)
    local history = named(args[1])
    local answer = history and checked(client.execute('history.fork', { history = history, to = args[2] }))
    if answer then
      edit(buffer.uri_of(answer.history))
    end
  end,
}

verbs.rename = {
  complete = histories,
  run = function(args)
    local from, to = args[1], args[2]
    if not to then
      from, to = vim.b.history, args[1]
    end
    if not from or not to then
      buffer.complain('usage: History rename [NAME] NEW')
      return
    end
    if checked(client.request('history/rename', { history = from, to = to })) and vim.b.history == from then
      edit(buffer.uri_of(to))
    end
  end,
}

verbs.pin = {
  complete = histories,
  run = function(args, bang)
    local history = named(args[1])
    local info = history and checked(client.request('history/info', { history = history }))
    if not info then
      return
    end
    local tags = vim.tbl_filter(function(tag)
      return tag ~= 'pinned'
    end, info.tags)
    if not bang then
      table.insert(tags, 'pinned')
    end
    -- An empty Lua table would go out as an object.
    local patch = { tags = #tags > 0 and tags or vim.NIL }
    checked(client.request('history/setMetadata', { history = history, patch = patch }))
  end,
}

verbs.delete = {
  complete = histories,
  run = function(args, bang)
    local history = named(args[1])
    if not history then
      return
    end
    if bang or vim.fn.confirm(('Delete %s?'):format(history), '&Delete\n&Keep', 2) == 1 then
      checked(client.request('history/delete', { history = history }))
    end
  end,
}

verbs.undo = {
  complete = histories,
  run = function(args)
    local history = named(args[1])
    if history then
      checked(client.execute('history.revert', { history = history }))
    end
  end,
}

verbs.versions = {
  complete = histories,
  run = function(args)
    local history = named(args[1])
    local answer = history and checked(client.request('history/versions', { history = history, limit = 200 }))
    if not answer then
      return
    end
    vim.ui.select(answer.data, {
      prompt = 'Bring back',
      kind = 'history',
      format_item = function(change)
        return ('%d. %s · %d entries · %s'):format(
          change.version,
          change.kind,
          change.len,
          os.date('%Y-%m-%d %H:%M', math.floor(change.ts / 1000))
        )
      end,
    }, function(change)
      if change then
        checked(client.request('history/revert', { history = history, toVersion = change.version }))
      end
    end)
  end,
}

verbs.project = {
  complete = vendors,
  run = function(args)
    local history = named(args[2])
    if history and args[1] then
      edit(('history:///%s.%s.json'):format(history, args[1]))
    else
      buffer.complain('usage: History project VENDOR [NAME]')
    end
  end,
}

verbs.export = {
  run = function(args, bang)
    local history = named(args[2])
    local file = args[1]
    if not file then
      buffer.complain('usage: History export FILE [NAME]')
      return
    end
    if not bang and vim.uv.fs_stat(file) then
      buffer.complain(('%s exists; add ! to overwrite it'):format(file))
      return
    end
    local format = file:match('%.jsonl$') and 'own-jsonl' or 'markdown'
    local params = { history = history, format = format, redact = true }
    local answer = history and checked(client.request('history/export', params))
    if answer then
      local lines = vim.split(answer.text, '\n', { plain = true })
      if lines[#lines] == '' then
        lines[#lines] = nil
      end
      vim.fn.writefile(lines, file)
    end
  end,
}

verbs.stop = { run = client.stop }

---@param options table of nvim_create_user_command
function M.run(options)
  local args = vim.deepcopy(options.fargs)
  local verb = table.remove(args, 1) or 'list'
  if not verbs[verb] then
    buffer.complain(('no such command: History %s'):format(verb))
    return
  end
  verbs[verb].run(args, options.bang)
end

---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  local words = vim.split(vim.trim(line:sub(1, #line - #lead)), '%s+')
  local candidates
  if #words <= 1 then
    candidates = vim.tbl_keys(verbs)
  else
    local verb = verbs[words[2]]
    candidates = verb and verb.complete and #words == 2 and verb.complete() or {}
  end
  candidates = vim.tbl_filter(function(word)
    return vim.startswith(word, lead)
  end, candidates)
  table.sort(candidates)
  return candidates
end

return M
