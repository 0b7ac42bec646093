---Public functions of the plugin. `setup` is optional: `vim.g.history_sidecar` holds the same table.
local M = {}

---@param options? history_sidecar.Config
function M.setup(options)
  vim.g.history_sidecar = options or {}
end

---Ask the sidecar and wait for the answer; starts it when it does not run.
---@param method string
---@param params? table
---@return any? result
---@return string? message why there is no result
function M.request(method, params)
  return require('history_sidecar.client').request(method, params)
end

---Append a user message.
---@param history string
---@param text string
---@return any? result
---@return string? message
function M.append(history, text)
  local entry = { message = { role = 'user', content = text } }
  return M.request('history/append', { history = history, entries = { entry } })
end

return M
