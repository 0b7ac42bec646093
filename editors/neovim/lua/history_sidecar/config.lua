---@class history_sidecar.Config
---@field cmd? string[] argv of the sidecar; default: $HISTORY_SIDECAR, then `history-sidecar` on the PATH
---@field store? string where histories are kept; default: what the sidecar chooses
---@field vendors? string[] vendors whose rules are checked
---@field code_lens? boolean offer "fork here" and "cut back to here" above every entry
---@field inlay_hints? boolean show token counts behind the headings
---@field timeout? integer milliseconds to wait for an answer

local M = {}

---@type history_sidecar.Config
local defaults = { code_lens = false, inlay_hints = false, timeout = 10000 }

---@return history_sidecar.Config
function M.get()
  return vim.tbl_extend('force', defaults, vim.g.history_sidecar or {})
end

---@return string[] argv
function M.command()
  local config = M.get()
  local argv = config.cmd and vim.deepcopy(config.cmd) or { vim.env.HISTORY_SIDECAR or 'history-sidecar' }
  if config.store then
    vim.list_extend(argv, { '--store', config.store })
  end
  return argv
end

---What the sidecar is told at `initialize`.
---@return table
function M.init_options()
  local config = M.get()
  local version = vim.version()
  return {
    sidecar = {
      protocolVersion = 1,
      client = { name = 'neovim', version = ('%d.%d.%d'):format(version.major, version.minor, version.patch) },
      defaults = { vendors = config.vendors, codeLens = config.code_lens, inlayHints = config.inlay_hints },
    },
  }
end

return M
