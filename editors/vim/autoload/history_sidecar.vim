vim9script
# The sidecar over Vim's own LSP channel, transcripts in read-only buffers, one message at a time in a scratch buffer.
#
# A transcript is never written back: only the new text of one message goes to the sidecar, with the version it was
# read at. What happens by itself (refreshes, checks) is asked for without waiting.

var job: job
var subscribed = false
var pending: dict<number> = {}

# --- connection -------------------------------------------------------------------------------------------------------

def Argv(): list<string>
  var argv = get(g:, 'history_sidecar_command', [empty($HISTORY_SIDECAR) ? 'history-sidecar' : $HISTORY_SIDECAR])
  if exists('g:history_sidecar_store')
    argv = argv + ['--store', g:history_sidecar_store]
  endif
  return argv
enddef

export def IsRunning(): bool
  return job_status(job) ==# 'run'
enddef

def OnMessage(_: channel, message: dict<any>)
  if has_key(message, 'method') && message.method =~# '^history/did'
    RefreshSoon(message.params.history)
  endif
enddef

def Start(): bool
  const argv = Argv()
  if !executable(argv[0])
    Complain(argv[0] .. ' is not executable; see :help history_sidecar_command')
    return false
  endif
  job = job_start(argv, {
    in_mode: 'lsp',
    out_mode: 'lsp',
    err_io: 'null',
    out_cb: OnMessage,
    stoponexit: 'term',
  })
  subscribed = false
  if job_status(job) !=# 'run'
    Complain('the history sidecar does not start')
    return false
  endif
  var defaults: dict<any> = {}
  if exists('g:history_sidecar_vendors')
    defaults.vendors = g:history_sidecar_vendors
  endif
  const params = {
    processId: getpid(),
    capabilities: {},
    initializationOptions: {sidecar: {
      protocolVersion: 1,
      client: {name: 'vim', version: string(v:versionlong)},
      defaults: defaults,
    }},
  }
  const answer = ch_evalexpr(job, {method: 'initialize', params: params}, {timeout: Timeout()})
  if type(answer) != v:t_dict || !has_key(answer, 'result')
    Complain('the history sidecar does not answer')
    return false
  endif
  ch_sendexpr(job, {method: 'initialized', params: {}})
  return true
enddef

def Timeout(): number
  return get(g:, 'history_sidecar_timeout', 10000)
enddef

# Ask and wait; v:null where there is no result, after saying why.
export def Request(method: string, params: dict<any> = {}): any
  if !IsRunning() && !Start()
    return v:null
  endif
  const answer = ch_evalexpr(job, {method: method, params: params}, {timeout: Timeout()})
  if type(answer) != v:t_dict || empty(answer)
    Complain(method .. ': no answer')
    return v:null
  endif
  if has_key(answer, 'error')
    Complain(answer.error.message)
    return v:null
  endif
  return answer.result
enddef

# Ask a sidecar that runs and call Done with the result; what it refuses is dropped, since nobody asked for it.
def Later(method: string, params: dict<any>, Done: func(any))
  if IsRunning()
    ch_sendexpr(job, {method: method, params: params}, {callback: (_, answer) => {
      if type(answer) == v:t_dict && has_key(answer, 'result')
        Done(answer.result)
      endif
    }})
  endif
enddef

def Execute(command: string, argument: dict<any>): any
  return Request('workspace/executeCommand', {command: command, arguments: [argument]})
enddef

def Subscribe()
  if !subscribed
    subscribed = Request('history/subscribe', {prefix: '', entries: false}) != v:null
  endif
enddef

export def Stop()
  if IsRunning()
    ch_evalexpr(job, {method: 'shutdown', params: {}}, {timeout: 3000})
    ch_sendexpr(job, {method: 'exit', params: {}})
  endif
enddef

def Complain(message: string)
  echohl ErrorMsg
  echomsg 'History: ' .. message
  echohl None
enddef

# --- transcripts ------------------------------------------------------------------------------------------------------

def NameOf(uri: string): string
  return uri->substitute('^history:/\+', '', '')->substitute('[?#].*$', '', '')
    ->substitute('\.\%(md\|jsonl\|[^./]\+\.json\)$', '', '')
enddef

def UriOf(history: string): string
  return 'history:///' .. history .. '.md'
enddef

# The callback of BufReadCmd.
export def Read(uri: string)
  const answer = Request('workspace/textDocumentContent', {uri: uri})
  if answer == v:null
    return
  endif
  setlocal buftype=nofile noswapfile bufhidden=hide undolevels=-1
  Fill(bufnr(), answer.text)
  setlocal nomodifiable readonly
  &l:filetype = uri =~# '\.md\%([?#]\|$\)' ? 'markdown' : 'json'
  b:history = NameOf(uri)
  Subscribe()
enddef

def Fill(buffer: number, text: string)
  var lines = split(text, "\n", true)
  if lines[-1] ==# ''
    lines->remove(-1)
  endif
  const last = getbufinfo(buffer)[0].linecount
  # Windows that stand at the end follow it.
  const following = win_findbuf(buffer)->filter((_, id) => last > 1 && line('.', id) == last)
  setbufvar(buffer, '&modifiable', 1)
  setbufvar(buffer, '&readonly', 0)
  silent setbufline(buffer, 1, lines)
  if last > len(lines)
    silent deletebufline(buffer, len(lines) + 1, '$')
  endif
  setbufvar(buffer, '&modifiable', 0)
  setbufvar(buffer, '&readonly', 1)
  setbufvar(buffer, '&modified', 0)
  for id in following
    win_execute(id, 'normal! G')
  endfor
enddef

def RefreshSoon(history: string)
  if !has_key(pending, history)
    pending[history] = timer_start(100, (_) => Refresh(history))
  endif
enddef

def Refresh(history: string)
  pending->remove(history)
  for info in getbufinfo({bufloaded: 1})
    if info.name =~# '^history:' && NameOf(info.name) ==# history && info.name !~# 'atVersion='
      const buffer = info.bufnr
      const uri = info.name
      Later('workspace/textDocumentContent', {uri: uri}, (answer) => {
        if bufloaded(buffer)
          Fill(buffer, answer.text)
          Check(buffer, uri)
        endif
      })
    endif
  endfor
enddef

# --- what vendors would refuse ----------------------------------------------------------------------------------------

const GROUP = 'history_sidecar'
const SIGNS = {HistoryError: ['E>', 'ErrorMsg'], HistoryWarning: ['W>', 'WarningMsg'], HistoryNote: ['N>', 'Comment']}
var checks: dict<number> = {}

# The callback of BufWinEnter: a location list belongs to the window, which may have shown another history.
export def Enter()
  if getloclist(0, {title: 0}).title ==# GROUP
    setloclist(0, [], 'r', {title: GROUP, items: []})
  endif
  Check(bufnr(), bufname())
enddef

# Signs in the buffer, and the same in the location list of each window that shows it.
def Check(buffer: number, uri: string)
  if !get(g:, 'history_sidecar_check', true)
    return
  endif
  const number = get(checks, uri, 0) + 1
  checks[uri] = number
  Later('textDocument/diagnostic', {textDocument: {uri: uri}}, (answer) => {
    # A newer text is being checked, or nobody looks any more.
    if checks[uri] == number && bufloaded(buffer)
      Mark(buffer, get(answer, 'items', []))
    endif
  })
enddef

def Mark(buffer: number, found: list<any>)
  for [name, look] in items(SIGNS)
    sign_define(name, {text: look[0], texthl: look[1]})
  endfor
  sign_unplace(GROUP, {buffer: buffer})
  var places: list<dict<any>> = []
  for item in found
    const sign = item.severity == 1 ? 'HistoryError' : item.severity == 2 ? 'HistoryWarning' : 'HistoryNote'
    const line = item.range.start.line + 1
    # The worst shows: a higher priority lies on top.
    sign_place(0, GROUP, sign, buffer, {lnum: line, priority: 20 - item.severity})
    places->add({
      bufnr: buffer,
      lnum: line,
      col: 1,
      type: sign[7],
      text: printf('%s: %s [%s]', item.source, item.message, item.code),
    })
  endfor
  for id in win_findbuf(buffer)
    setloclist(id, [], 'r', {title: GROUP, items: places})
  endfor
enddef

def Fix(history: string)
  const answer = Execute('history.fixAll', {history: history})
  if answer != v:null
    echomsg printf('History: fixed %d; :History undo takes it back', answer.fixed)
  endif
enddef

def EntryHere(more: dict<any> = {}): any
  if bufname() !~# '^history:'
    Complain('put the cursor on an entry of a transcript')
    return v:null
  endif
  return Execute('history.entryAt', extendnew({uri: bufname(), line: line('.') - 1}, more))
enddef

export def Prompt(move: number)
  const entry = EntryHere({move: move, role: 'user'})
  if entry != v:null
    cursor(entry.startLine + 1, 1)
  endif
enddef

# --- editing one message ----------------------------------------------------------------------------------------------

def EditMessage()
  const entry = EntryHere()
  if entry == v:null
    return
  endif
  if empty(entry.texts)
    Complain('this entry has no text to edit')
    return
  endif
  execute 'new' fnameescape(printf('history-edit://%s/%s', entry.history, entry.entryId))
  setlocal buftype=acwrite bufhidden=wipe noswapfile filetype=markdown
  setline(1, split(entry.texts[0].text, "\n", true))
  setlocal nomodified
  b:history_edit = {
    history: entry.history,
    version: entry.version,
    entryId: entry.entryId,
    block: entry.texts[0].block,
  }
  autocmd BufWriteCmd <buffer> call history_sidecar#Write()
enddef

export def Write()
  const edit = b:history_edit
  var change: dict<any> = {kind: 'setText', entryId: edit.entryId, text: join(getline(1, '$'), "\n")}
  if edit.block != v:null
    change.block = edit.block
  endif
  const answer = Request('history/applyEdits', {history: edit.history, ifVersion: edit.version, edits: [change]})
  if answer != v:null
    b:history_edit.version = answer.version
    setlocal nomodified
  endif
enddef

# --- the command ------------------------------------------------------------------------------------------------------

# The history that is named, or the one that is shown.
def Named(args: list<string>, position: number = 0): string
  const history = get(args, position, get(b:, 'history', ''))
  if empty(history)
    Complain('name a history')
  endif
  return history
enddef

def Choose(prompt: string, labels: list<string>): number
  if empty(labels)
    Complain('nothing there')
    return -1
  endif
  return inputlist([prompt] + mapnew(labels, (index, label) => printf('%d. %s', index + 1, label))) - 1
enddef

def Open(history: string, entry_id: string = '')
  execute 'edit' fnameescape(UriOf(history))
  if !empty(entry_id)
    const entry = Execute('history.entryAt', {uri: UriOf(history), entryId: entry_id})
    if entry != v:null
      cursor(entry.startLine + 1, 1)
    endif
  endif
enddef

def List()
  const answer = Request('history/list', {limit: 200, orderBy: 'updatedAt'})
  if answer != v:null
    const picked = Choose('History', mapnew(answer.data, (_, info) => printf('%s · %d entries', info.history, info.len)))
    if picked >= 0 && picked < len(answer.data)
      Open(answer.data[picked].history)
    endif
  endif
enddef

def Search(words: string)
  const answer = Request('history/search', {query: words, limit: 50})
  if answer != v:null
    const picked = Choose('Found', mapnew(answer.data, (_, hit) => printf('%s · %d · %s', hit.history, hit.index, hit.snippet)))
    if picked >= 0 && picked < len(answer.data)
      Open(answer.data[picked].history, answer.data[picked].entryId)
    endif
  endif
enddef

def Sure(bang: bool, question: string): bool
  return bang || confirm(question, "&Yes\n&No", 2) == 1
enddef

def Cut(bang: bool)
  const entry = EntryHere()
  if entry != v:null && Sure(bang, printf('Cut %s back to entry %d?', entry.history, entry.index))
    Request('history/truncate', {history: entry.history, ifVersion: entry.version, afterEntry: entry.entryId})
  endif
enddef

const VERBS = ['append', 'cut', 'delete', 'edit', 'fix', 'fork', 'list', 'open', 'project', 'rename', 'search', 'stop', 'undo']

export def Run(bang: bool, ...words: list<string>)
  const verb = get(words, 0, 'list')
  const args = words[1 :]
  if verb ==# 'list'
    List()
  elseif verb ==# 'search'
    Search(join(args))
  elseif verb ==# 'edit'
    EditMessage()
  elseif verb ==# 'cut'
    Cut(bang)
  elseif verb ==# 'stop'
    Stop()
  elseif verb ==# 'project'
    const shown = Named(args, 1)
    if !empty(args) && !empty(shown)
      execute 'edit' fnameescape(printf('history:///%s.%s.json', shown, args[0]))
    endif
  elseif index(VERBS, verb) < 0
    Complain('no such command: History ' .. verb)
  else
    const history = Named(args)
    if empty(history)
      return
    endif
    if verb ==# 'open'
      Open(history)
    elseif verb ==# 'append'
      const entry = {message: {role: 'user', content: join(args[1 :])}}
      Request('history/append', {history: history, entries: [entry]})
    elseif verb ==# 'delete'
      if Sure(bang, printf('Delete %s?', history))
        Request('history/delete', {history: history})
      endif
    elseif verb ==# 'fix'
      Fix(history)
    elseif verb ==# 'undo'
      Execute('history.revert', {history: history})
    elseif verb ==# 'fork'
      const answer = Execute('history.fork', len(args) > 1 ? {history: history, to: args[1]} : {history: history})
      if answer != v:null
        Open(answer.history)
      endif
    elseif verb ==# 'rename' && len(args) > 1
      Request('history/rename', {history: history, to: args[1]})
    else
      Complain('usage: History rename NAME NEW')
    endif
  endif
enddef

export def Complete(lead: string, line: string, _: number): list<string>
  const words = split(line[: len(line) - len(lead) - 1])
  var candidates: list<string> = []
  if len(words) <= 1
    candidates = copy(VERBS)
  elseif words[1] ==# 'project' && len(words) == 2
    const answer = Request('wire/vendors')
    candidates = answer == v:null ? [] : mapnew(answer.data, (_, vendor) => vendor.id)
  elseif len(words) == 2
    const answer = Request('history/list', {limit: 200})
    candidates = answer == v:null ? [] : mapnew(answer.data, (_, info) => info.history)
  endif
  return candidates->filter((_, word) => stridx(word, lead) == 0)
enddef
