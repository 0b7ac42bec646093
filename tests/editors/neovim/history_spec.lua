local history = require('history_sidecar')

local function text()
  return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
end

local function wait_for(what, condition, timeout)
  local started = vim.uv.hrtime()
  assert(vim.wait(timeout or 5000, condition, 5), what .. '\n' .. text())
  return (vim.uv.hrtime() - started) / 1e6
end

local function find(pattern)
  vim.fn.cursor(1, 1)
  assert.are_not.equal(0, vim.fn.search(pattern, 'W'), 'not found: ' .. pattern .. '\n' .. text())
end

local function pids()
  local file = vim.env.STAGE .. '/pids'
  return vim.uv.fs_stat(file) and #vim.fn.readfile(file) or 0
end

describe('the plugin', function()
  teardown(function()
    vim.cmd('History stop')
  end)

  it('starts nothing before the first command', function()
    assert.equal(2, vim.fn.exists(':History'))
    assert.are.same({ 'open' }, vim.fn.getcompletion('History op', 'cmdline'))
    assert.equal(0, pids())
  end)

  it('opens a transcript that cannot be changed by accident', function()
    vim.cmd('History open odd')
    assert.equal(1, pids())
    assert.equal('history:///odd.md', vim.api.nvim_buf_get_name(0))
    assert.equal('markdown', vim.bo.filetype)
    assert.is_false(vim.bo.modifiable)
    assert.truthy(text():find('## 0. user', 1, true))
    assert.truthy(text():find('keep me 🙂', 1, true))
    assert.falsy(text():find('\226\128\174', 1, true)) -- the bidirectional override is spelled out
  end)

  it('edits one message and leaves the others alone', function()
    vim.cmd('History append odd from neovim')
    wait_for('the append is shown', function()
      return text():find('from neovim', 1, true) ~= nil
    end)
    find('^before')
    vim.cmd('History edit')
    assert.are.same({ 'before' }, vim.api.nvim_buf_get_lines(0, 0, -1, false))
    vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'edited by neovim' })
    vim.cmd.write()
    assert.is_false(vim.bo.modified)
    vim.cmd.close()
    wait_for('the edit is shown', function()
      return text():find('edited by neovim', 1, true) ~= nil
    end)
  end)

  it('refuses an edit on top of a change it has not seen', function()
    vim.cmd('History open live')
    find('^hello')
    vim.cmd('History edit')
    history.append('live', 'meanwhile')
    vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'overwritten' })
    local said = {}
    local notify = vim.notify
    vim.notify = function(message)
      table.insert(said, message)
    end
    vim.cmd.write()
    vim.notify = notify
    assert.is_true(vim.bo.modified)
    assert.are.same(1, #said)
    assert.truthy(said[1]:find('is at version', 1, true), said[1])
    vim.cmd('bwipeout!')
  end)

  it('follows what another process appends', function()
    vim.cmd('History open live')
    vim.cmd.normal('G')
    local done
    vim.system(vim.split(vim.env.APPEND .. ' live tail', ' '), {}, function(result)
      done = result.code
    end)
    vim.wait(20000, function()
      return done ~= nil
    end, 5)
    assert.equal(0, done)
    local took = wait_for('the append is shown', function()
      return text():find('\ntail', 1, true) ~= nil
    end)
    io.stdout:write(('  shown %d ms after it was on disk\n'):format(took))
    assert.is_true(took < 1000, ('%d ms'):format(took))
    assert.equal(vim.api.nvim_buf_line_count(0), vim.api.nvim_win_get_cursor(0)[1])
  end)

  it('opens ten thousand entries in under a second', function()
    local function timed(name)
      local started = vim.uv.hrtime()
      vim.cmd('History open ' .. name)
      return (vim.uv.hrtime() - started) / 1e6
    end
    -- A machine that is busy with other things gets the time that two short histories take on top.
    local short = timed('odd') + timed('work/broken')
    local took = timed('big')
    io.stdout:write(('  10000 entries in %d ms\n'):format(took))
    assert.truthy(text():find('message number 9999', 1, true))
    assert.truthy(text():find('9500 earlier entries', 1, true))
    assert.is_true(took < 1000 + short, ('%d ms'):format(took))
  end)

  it('shows what vendors would refuse, and fixes it', function()
    vim.cmd('History open work/broken')
    local buffer = vim.api.nvim_get_current_buf()
    wait_for('diagnostics', function()
      return #vim.diagnostic.get(buffer) > 0
    end)
    local diagnostic = vim.diagnostic.get(buffer)[1]
    assert.truthy(diagnostic.source:find('history-sidecar', 1, true))
    vim.fn.cursor(diagnostic.lnum + 1, 1)
    local answer = vim.lsp.buf_request_sync(buffer, 'textDocument/codeAction', {
      textDocument = vim.lsp.util.make_text_document_params(),
      range = vim.lsp.util.make_range_params(0, 'utf-16').range,
      context = { diagnostics = {}, only = { 'quickfix' } },
    }, 5000)
    local actions = vim.tbl_values(answer)[1].result
    assert.is_true(#actions > 0)
    assert(history.request('workspace/executeCommand', actions[1].command))
    wait_for('the fix is shown', function()
      return vim.api.nvim_buf_line_count(0) > 12
    end)
  end)

  it('jumps from a call to its result and knows its outline', function()
    vim.cmd('History open work/broken')
    local answer = assert(history.request('textDocument/documentSymbol', { textDocument = { uri = 'history:///work/broken.md' } }))
    assert.equal(1, #answer)
    assert.equal('0. user: read it', answer[1].name)
    find('^\\*\\*call')
    vim.lsp.buf.definition()
    wait_for('the cursor is on the result', function()
      return vim.api.nvim_get_current_line():find('tool', 1, true) ~= nil
    end)
  end)

  it('moves by prompts', function()
    vim.cmd('History open big')
    vim.fn.cursor(vim.api.nvim_buf_line_count(0), 1)
    require('history_sidecar.buffer').previous_prompt()
    assert.truthy(vim.api.nvim_get_current_line():find('## 9998. user', 1, true))
  end)

  it('forks, renames, cuts, undoes and deletes', function()
    vim.cmd('History fork odd copy/of-odd')
    assert.equal('history:///copy/of-odd.md', vim.api.nvim_buf_get_name(0))
    find('^## 0')
    vim.cmd('History! cut')
    assert.equal(1, history.request('history/len', { history = 'copy/of-odd' }).len)
    vim.cmd('History undo')
    assert.equal(3, history.request('history/len', { history = 'copy/of-odd' }).len)
    vim.cmd('History rename copy/of-odd copy/renamed')
    assert.equal(0, history.request('history/len', { history = 'copy/of-odd' }).len)
    vim.cmd('History! delete copy/renamed')
    assert.equal(0, history.request('history/len', { history = 'copy/renamed' }).len)
  end)

  it('chooses by vim.ui.select', function()
    local offered
    local select = vim.ui.select
    vim.ui.select = function(items, options, choose)
      offered = vim.tbl_map(options.format_item, items)
      choose(items[1])
    end
    vim.cmd('History search keep')
    assert.are.same(1, #offered)
    assert.truthy(offered[1]:find('odd · 0 ·', 1, true), offered[1])
    assert.truthy(vim.api.nvim_get_current_line():find('## 0. user', 1, true))
    vim.cmd('History list')
    vim.ui.select = select
    assert.is_true(#offered >= 4)
  end)

  it('shows a projection', function()
    vim.cmd('History project openai-chat live')
    assert.equal('json', vim.bo.filetype)
    assert.equal('user', vim.json.decode(text()).messages[1].role)
  end)

  it('says what is wrong in one sentence', function()
    local said = {}
    local notify = vim.notify
    vim.notify = function(message)
      table.insert(said, message)
    end
    vim.cmd('History fork no-such-history x')
    vim.cmd('History nonsense')
    vim.notify = notify
    assert.are.same({ "history 'no-such-history' does not exist", 'no such command: History nonsense' }, said)
  end)

  it('has a green health check', function()
    vim.cmd('checkhealth history_sidecar')
    assert.truthy(text():find('the sidecar answers', 1, true))
    assert.falsy(text():find('ERROR', 1, true))
    vim.cmd('helptags ' .. vim.env.PLUGINS .. '/neovim/doc')
    vim.cmd('help :History')
    vim.fn.delete(vim.env.PLUGINS .. '/neovim/doc/tags')
  end)
end)
