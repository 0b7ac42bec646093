-- One of several windows on one store: shows `live`, writes $NAME.ready, edits what $NAME.edit says, tells what it sees.
vim.opt.runtimepath:prepend(vim.env.PLUGINS .. '/neovim')
vim.cmd('runtime! plugin/history_sidecar.lua')
local history = require('history_sidecar')
local place = vim.env.STAGE .. '/' .. vim.env.NAME

vim.cmd('History open live')
local function shown()
  vim.fn.writefile(vim.api.nvim_buf_get_lines(0, 0, -1, false), place .. '.new')
  vim.uv.fs_rename(place .. '.new', place .. '.shown')
end
vim.api.nvim_create_autocmd({ 'TextChanged' }, { callback = shown })
vim.api.nvim_buf_attach(0, false, { on_lines = function() vim.schedule(shown) end })
shown()
while not vim.uv.fs_stat(vim.env.STAGE .. '/end') do
  if vim.uv.fs_stat(place .. '.edit') then
    local text = vim.fn.readfile(place .. '.edit')[1]
    vim.uv.fs_unlink(place .. '.edit')
    local _, message = history.request('history/applyEdits', {
      history = 'live',
      ifVersion = history.request('history/len', { history = 'live' }).version,
      edits = { { kind = 'setText', entryId = 'first', text = text } },
    })
    vim.fn.writefile({ message or 'ok' }, place .. '.answer')
  end
  vim.wait(20)
end
vim.cmd('History stop')
