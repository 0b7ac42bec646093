local M = {}

function M.check()
  local health = vim.health
  local config = require('history_sidecar.config')
  health.start('history_sidecar')
  if vim.fn.has('nvim-0.10') == 1 then
    health.ok('Neovim is new enough')
  else
    health.error('Neovim 0.10 or newer is needed')
  end
  local argv = config.command()
  if vim.fn.executable(argv[1]) == 0 then
    health.error(('%s is not executable'):format(argv[1]), {
      'Install it: pipx install history-sidecar',
      'or set vim.g.history_sidecar = { cmd = { "/path/to/history-sidecar" } }',
    })
    return
  end
  health.ok(('%s is executable'):format(argv[1]))
  local info, message = require('history_sidecar.client').request('sidecar/info')
  if info then
    health.ok(('the sidecar answers: version %s, protocol %d'):format(info.server.version, info.protocolVersion))
    health.info(('store: %s'):format(info.store.engine))
  else
    health.error(('the sidecar does not answer: %s'):format(message))
  end
end

return M
