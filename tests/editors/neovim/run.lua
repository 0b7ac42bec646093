-- nvim --headless --clean -u NONE -l run.lua: busted inside Neovim, from Debian's lua-busted.
local here = vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p:h')
vim.opt.runtimepath:prepend(vim.env.PLUGINS .. '/neovim')
vim.cmd('runtime! plugin/history_sidecar.lua')
if arg[1] == 'hold' then
  require('history_sidecar').request('history/len', { history = 'live' })
  vim.fn.writefile({ 'ready' }, vim.env.STAGE .. '/ready')
  vim.wait(60000)
  return
end
local usr = vim.env.LUA_ROOT or '/usr'
package.path = ('%s;%s/share/lua/5.1/?.lua;%s/share/lua/5.1/?/init.lua'):format(package.path, usr, usr)
for _, machine in ipairs({ 'x86_64', 'aarch64' }) do
  package.cpath = ('%s;%s/lib/%s-linux-gnu/lua/5.1/?.so'):format(package.cpath, usr, machine)
end
_G.arg = { [0] = 'busted', '--output=plainTerminal', '--no-auto-insulate', '--pattern=_spec', here }
local ok, message = pcall(require('busted.runner'), { standalone = false })
if not ok and message then
  io.stderr:write(tostring(message), '\n')
  vim.cmd('cquit 1')
end
