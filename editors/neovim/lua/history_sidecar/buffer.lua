---Buffers that show a history, and the scratch buffer in which one message is edited.
---
---A transcript is never written back: a JSON round trip through Lua loses `null`, so only the new text of one message
---goes to the sidecar, with the version it was read at.
local client = require('history_sidecar.client')

local M = {}

---@type table<string, boolean> histories with a refresh under way
local pending = {}

---@param message string
function M.complain(message)
  -- Not as an error: `vim.cmd('History …')` in a mapping would turn that into a Lua stack.
  vim.notify(message, vim.log.levels.WARN, { title = 'History' })
end

---@param uri string
---@return string? history
function M.history_of(uri)
  local path = uri:match('^history:///?/?([^?#]+)')
  if not path then
    return nil
  end
  local name = path:match('^(.+)%.md$') or path:match('^(.+)%.jsonl$')
  return name or path:match('^(.+)%.[^./]+%.json$') or path
end

---@param name string a history, or an address
---@return string uri
function M.uri_of(name)
  return name:match('^history:') and name or ('history:///%s.md'):format(name)
end

---@param buffer integer
---@param text string
local function fill(buffer, text)
  local lines = vim.split(text, '\n', { plain = true })
  if lines[#lines] == '' then
    lines[#lines] = nil
  end
  -- Windows that stand at the end follow it, the others stay where they are.
  local last = vim.api.nvim_buf_line_count(buffer)
  local following = vim.tbl_filter(function(window)
    return last > 1 and vim.api.nvim_win_get_cursor(window)[1] == last
  end, vim.fn.win_findbuf(buffer))
  vim.bo[buffer].modifiable = true
  vim.bo[buffer].readonly = false
  local old = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
  local same = 0
  while same < #old and same < #lines and old[same + 1] == lines[same + 1] do
    same = same + 1
  end
  vim.api.nvim_buf_set_lines(buffer, same, -1, false, vim.list_slice(lines, same + 1))
  vim.bo[buffer].modifiable = false
  vim.bo[buffer].readonly = true
  vim.bo[buffer].modified = false
  for _, window in ipairs(following) do
    vim.api.nvim_win_set_cursor(window, { vim.api.nvim_buf_line_count(buffer), 0 })
  end
end

---Fill a `history://` buffer; the callback of `BufReadCmd`.
---@param buffer integer
---@param name string
function M.read(buffer, name)
  local uri, entry_id = name:match('^([^#]*)#?(.*)$')
  local answer, message = client.request('workspace/textDocumentContent', { uri = uri })
  if not answer then
    M.complain(message or 'no answer')
    return
  end
  vim.bo[buffer].buftype = 'nofile'
  vim.bo[buffer].swapfile = false
  vim.bo[buffer].undolevels = -1
  fill(buffer, answer.text)
  vim.b[buffer].history = M.history_of(uri)
  if vim.bo[buffer].filetype == '' then
    vim.bo[buffer].filetype = uri:match('%.md$') and 'markdown' or 'json'
  end
  client.attach(buffer) -- again after `:edit`, which detaches
  if not uri:find('atVersion=', 1, true) then
    local history = vim.b[buffer].history
    client.subscribe(history)
    vim.api.nvim_create_autocmd('BufWipeout', {
      buffer = buffer,
      once = true,
      callback = function()
        vim.schedule(function()
          client.unsubscribe(history)
        end)
      end,
    })
  end
  if entry_id ~= '' then
    M.jump(buffer, uri, entry_id)
  end
end

---@param buffer integer
---@param uri string
---@param entry_id string
function M.jump(buffer, uri, entry_id)
  local place = client.execute('history.entryAt', { uri = uri, entryId = vim.uri_decode(entry_id) })
  local window = vim.fn.bufwinid(buffer)
  if place and window ~= -1 then
    vim.api.nvim_win_set_cursor(window, { place.startLine + 1, 0 })
  end
end

---Refresh the buffers of a history soon, once for a burst of changes.
---@param history string
function M.changed(history)
  if pending[history] then
    return
  end
  pending[history] = true
  vim.defer_fn(function()
    pending[history] = nil
    for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
      local name = vim.api.nvim_buf_get_name(buffer)
      local shows = vim.api.nvim_buf_is_loaded(buffer) and name:match('^history:') and M.history_of(name) == history
      if shows and not name:find('atVersion=', 1, true) then
        local answer = client.request('workspace/textDocumentContent', { uri = name })
        if answer and vim.api.nvim_buf_is_valid(buffer) then
          fill(buffer, answer.text)
        end
      end
    end
  end, 50)
end

---@return table? entry what stands under the cursor: history, version, entryId, index, role, texts
function M.entry()
  local uri = vim.uri_from_bufnr(0)
  local line = vim.api.nvim_win_get_cursor(0)[1] - 1
  local entry, message = client.execute('history.entryAt', { uri = uri, line = line })
  if not entry then
    M.complain(message or 'no entry here')
  end
  return entry
end

---Edit the message under the cursor in a buffer of its own; `:write` sends it.
function M.edit()
  local entry = M.entry()
  if not entry then
    return
  end
  local part = entry.texts[1]
  if not part then
    M.complain('this entry has no text to edit')
    return
  end
  vim.cmd.new()
  local buffer = vim.api.nvim_get_current_buf()
  vim.api.nvim_buf_set_name(buffer, ('history-edit://%s/%s'):format(entry.history, entry.entryId))
  vim.bo[buffer].buftype = 'acwrite'
  vim.bo[buffer].bufhidden = 'wipe'
  vim.bo[buffer].swapfile = false
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.split(part.text, '\n', { plain = true }))
  vim.bo[buffer].filetype = 'markdown'
  vim.bo[buffer].modified = false
  local version = entry.version
  vim.api.nvim_create_autocmd('BufWriteCmd', {
    buffer = buffer,
    callback = function()
      local text = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n')
      local edit = { kind = 'setText', entryId = entry.entryId, text = text, block = part.block }
      local answer, message = client.request('history/applyEdits', {
        history = entry.history,
        ifVersion = version,
        edits = { edit },
      })
      if answer then
        version = answer.version
        vim.bo[buffer].modified = false
      else
        M.complain(message or 'not written')
      end
    end,
  })
end

---Cut the history back to the entry under the cursor, after asking.
---@param force? boolean
function M.cut(force)
  local entry = M.entry()
  if not entry then
    return
  end
  local question = ('Cut %s back to entry %d?'):format(entry.history, entry.index)
  if force or vim.fn.confirm(question, '&Cut\n&Keep', 2) == 1 then
    local answer, message = client.request('history/truncate', {
      history = entry.history,
      ifVersion = entry.version,
      afterEntry = entry.entryId,
    })
    if not answer then
      M.complain(message or 'not cut')
    end
  end
end

---@param forward boolean
local function go_to_prompt(forward)
  local uri = vim.uri_from_bufnr(0)
  local line = vim.api.nvim_win_get_cursor(0)[1] - 1
  local place = client.execute('history.entryAt', { uri = uri, line = line, role = 'user', move = forward and 1 or -1 })
  if place then
    vim.api.nvim_win_set_cursor(0, { place.startLine + 1, 0 })
  end
end

function M.next_prompt()
  go_to_prompt(true)
end

function M.previous_prompt()
  go_to_prompt(false)
end

return M
