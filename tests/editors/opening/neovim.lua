-- Opens a history that is empty and one that is long; each line of $STAGE/report is a name and the seconds it took.
vim.opt.runtimepath:prepend(vim.env.PLUGINS .. '/neovim')
vim.cmd('runtime! plugin/history_sidecar.lua')
local history = require('history_sidecar')

local function mark()
  assert(history.request('sidecar/info'))
end

local function open(name)
  mark()
  local started = vim.uv.hrtime()
  vim.cmd('History open ' .. name)
  vim.cmd.redraw()
  local took = (vim.uv.hrtime() - started) / 1e9
  mark()
  vim.fn.writefile({ ('%s %.4f'):format(name, took) }, vim.env.STAGE .. '/report', 'a')
end

open('empty')
open('long')
assert(vim.api.nvim_buf_get_lines(0, 0, 1, false)[1] == '# long')
vim.cmd('History stop')
