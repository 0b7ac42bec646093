-- Defines one command and one autocommand; nothing is required, and no process started, before one of them is used.
if vim.g.loaded_history_sidecar then
  return
end
vim.g.loaded_history_sidecar = 1

if vim.fn.has('nvim-0.10') == 0 then
  vim.api.nvim_create_user_command('History', function()
    vim.api.nvim_err_writeln('history-sidecar needs Neovim 0.10 or newer')
  end, { nargs = '*', desc = 'Histories of AI-agent conversations' })
  return
end

vim.api.nvim_create_user_command('History', function(options)
  require('history_sidecar.command').run(options)
end, {
  nargs = '*',
  bang = true,
  desc = 'Histories of AI-agent conversations',
  complete = function(lead, line)
    return require('history_sidecar.command').complete(lead, line)
  end,
})

vim.api.nvim_create_autocmd('BufReadCmd', {
  group = vim.api.nvim_create_augroup('history_sidecar', {}),
  pattern = 'history://*',
  desc = 'Show a history',
  callback = function(event)
    require('history_sidecar.buffer').read(event.buf, event.match)
  end,
})

for name, action in pairs({ next = 'next_prompt', previous = 'previous_prompt', edit = 'edit', cut = 'cut' }) do
  vim.keymap.set('n', ('<Plug>(history-%s)'):format(name), function()
    require('history_sidecar.buffer')[action]()
  end, { desc = 'History: ' .. name })
end
