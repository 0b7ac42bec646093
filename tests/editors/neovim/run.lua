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
package.path = package.path .. ';/usr/share/lua/5.1/?.lua;/usr/share/lua/5.1/?/init.lua'
package.cpath = package.cpath .. ';/usr/lib/' .. jit.arch .. '-linux-gnu/lua/5.1/?.so'
  .. ';/usr/lib/x86_64-linux-gnu/lua/5.1/?.so;/usr/lib/aarch64-linux-gnu/lua/5.1/?.so'
_G.arg = { [0] = 'busted', '--output=plainTerminal', '--no-auto-insulate', '--pattern=_spec', here }
local ok, message = pcall(require('busted.runner'), { standalone = false })
if not ok and message then
  io.stderr:write(tostring(message), '\n')
  vim.cmd('cquit 1')
end
