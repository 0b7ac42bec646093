-- For `vim.lsp.enable('history_sidecar')` (Neovim 0.11): rendered transcripts, files named *.history.md.
-- Transcripts opened by `:History open` are served by the plugin itself and need no enable.
local config = require('history_sidecar.config')

---@type vim.lsp.Config
return {
  cmd = config.command(),
  filetypes = { 'markdown' },
  init_options = config.init_options(),
  root_dir = function(buffer, on_dir)
    local name = vim.api.nvim_buf_get_name(buffer)
    if name:match('%.history%.md$') then
      on_dir(vim.fs.dirname(name))
    end
  end,
}
