---The connection: one LSP client for the whole editor, started by the first request.
local config = require('history_sidecar.config')

local M = {}

---@type integer?
local client_id
---@type table<string, string> subscription ids by history
local subscriptions = {}

local function on_change(_, result)
  if result and result.history then
    require('history_sidecar.buffer').changed(result.history)
  end
end

---@return table lsp client config
function M.lsp_config()
  return {
    name = 'history_sidecar',
    cmd = config.command(),
    root_dir = vim.uv.cwd(),
    init_options = config.init_options(),
    handlers = { ['history/didChange'] = on_change, ['history/didDelete'] = on_change },
    on_exit = function(code, signal)
      local expected = code == 0 or signal == 15
      client_id, subscriptions = nil, {}
      if not expected then
        vim.schedule(function()
          vim.notify(('the history sidecar ended (code %d)'):format(code), vim.log.levels.WARN)
        end)
      end
    end,
  }
end

---@return table? client
---@return string? message
local function running()
  local client = client_id and vim.lsp.get_client_by_id(client_id)
  if client and not client.is_stopped() then
    return client
  end
  local argv = config.command()
  if vim.fn.executable(argv[1]) == 0 then
    return nil, ('history-sidecar: %q is not executable; see :checkhealth history_sidecar'):format(argv[1])
  end
  if vim.fn.has('nvim-0.11') == 1 then
    client_id = vim.lsp.start(M.lsp_config(), { attach = false })
  else
    client_id = vim.lsp.start_client(M.lsp_config())
  end
  client = client_id and vim.lsp.get_client_by_id(client_id)
  if not client then
    return nil, 'the history sidecar does not start'
  end
  vim.wait(config.get().timeout, function()
    return client.initialized or client.is_stopped()
  end, 5)
  if not client.initialized then
    return nil, 'the history sidecar does not answer'
  end
  return client
end

---@return boolean
function M.is_running()
  return client_id ~= nil and vim.lsp.get_client_by_id(client_id) ~= nil
end

---@param method string
---@param params? table
---@return any? result
---@return string? message
function M.request(method, params)
  local client, message = running()
  if not client then
    return nil, message
  end
  local done, failure, result
  local function handler(err, answer)
    done, failure, result = true, err, answer
  end
  params = params or vim.empty_dict()
  local sent
  if vim.fn.has('nvim-0.11') == 1 then
    sent = client:request(method, params, handler)
  else
    sent = client.request(method, params, handler)
  end
  if not sent then
    return nil, 'the history sidecar is gone'
  end
  if not vim.wait(config.get().timeout, function()
    return done
  end, 2) then
    return nil, ('%s: no answer'):format(method)
  end
  if failure then
    return nil, failure.message
  end
  return result
end

---Run one of the sidecar's commands.
---@param command string
---@param arguments table
---@return any? result
---@return string? message
function M.execute(command, arguments)
  return M.request('workspace/executeCommand', { command = command, arguments = { arguments } })
end

---Let the sidecar tell of changes of a history.
---@param history string
function M.subscribe(history)
  if subscriptions[history] then
    return
  end
  local answer = M.request('history/subscribe', { history = history, entries = false })
  subscriptions[history] = answer and answer.subscriptionId
end

---@param history string
function M.unsubscribe(history)
  local id = subscriptions[history]
  subscriptions[history] = nil
  if id and M.is_running() then
    M.request('history/unsubscribe', { subscriptionId = id })
  end
end

---Attach the client to a buffer, so that hover, symbols, diagnostics and code actions work in it.
---@param buffer integer
function M.attach(buffer)
  if client_id then
    vim.lsp.buf_attach_client(buffer, client_id)
  end
end

function M.stop()
  local client = client_id and vim.lsp.get_client_by_id(client_id)
  if client then
    if vim.fn.has('nvim-0.11') == 1 then
      client:stop()
    else
      client.stop()
    end
  end
end

return M
