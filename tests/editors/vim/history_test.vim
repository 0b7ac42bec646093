vim9script
# vim -Nu NONE -i NONE -n -es -S history_test.vim: every Test… function, v:errors and the exit code tell.

def Say(text: string)
  writefile([text], $STAGE .. '/report', 'a')
enddef

def Text(): string
  return join(getline(1, '$'), "\n")
enddef

def Wait(what: string, Condition: func(): bool): float
  const started = reltime()
  while !Condition()
    if reltimefloat(reltime(started)) > 5.0
      v:errors->add('timed out: ' .. what .. "\n" .. Text())
      return 5.0
    endif
    sleep 10m
  endwhile
  return reltimefloat(reltime(started))
enddef

def Pids(): number
  return filereadable($STAGE .. '/pids') ? len(readfile($STAGE .. '/pids')) : 0
enddef

def Find(pattern: string)
  cursor(1, 1)
  assert_notequal(0, search(pattern, 'W'), 'not found: ' .. pattern .. "\n" .. Text())
enddef

def Said(command: string): string
  return trim(execute(command, 'silent'))
enddef

def Len(history: string): number
  return history_sidecar#Request('history/len', {history: history}).len
enddef

def Timed(history: string): float
  const started = reltime()
  execute 'History open' history
  return reltimefloat(reltime(started))
enddef

def g:Test1Lazy()
  assert_equal(2, exists(':History'))
  assert_equal(['open'], getcompletion('History op', 'cmdline'))
  assert_equal(0, Pids())
enddef

def g:Test2Transcript()
  History open odd
  assert_equal(1, Pids())
  assert_equal('history:///odd.md', bufname())
  assert_false(&modifiable)
  assert_match('## 0\. user', Text())
  assert_match('keep me 🙂', Text())
  assert_notmatch("\u202e", Text())
enddef

def g:Test3Edit()
  History append odd from vim
  Wait('the append', () => Text() =~# 'from vim')
  Find('^before')
  History edit
  assert_equal(['before'], getline(1, '$'))
  setline(1, 'edited by vim')
  write
  assert_false(&modified)
  close
  Wait('the edit', () => Text() =~# 'edited by vim')
enddef

def g:Test4Conflict()
  History open live
  Find('^hello')
  History edit
  history_sidecar#Request('history/append', {history: 'live', entries: [{message: {role: 'user', content: 'meanwhile'}}]})
  setline(1, 'overwritten')
  assert_match('is at version', Said('write'))
  assert_true(&modified)
  bwipeout!
enddef

def g:Test5Live()
  History open live
  normal! G
  var code = -1
  job_start(split($APPEND) + ['live', 'tail-of-vim'], {exit_cb: (_, status) => {
    code = status
  }})
  const started = reltime()
  while code == -1 && reltimefloat(reltime(started)) < 20.0
    sleep 10m
  endwhile
  assert_equal(0, code)
  const took = Wait('the append', () => Text() =~# 'tail-of-vim')
  Say(printf('shown %.0f ms after the other process had ended', took * 1000))
  assert_true(took < 1.0)
  assert_equal(line('$'), line('.'))
enddef

def g:Test6Big()
  # A machine that is busy with other things gets the time that two short histories take on top.
  const short = Timed('odd') + Timed('work/broken')
  const took = Timed('big')
  Say(printf('10000 entries in %.0f ms', took * 1000))
  assert_match('message number 9999', Text())
  assert_true(took < 1.0 + short)
  cursor(line('$'), 1)
  history_sidecar#Prompt(-1)
  assert_match('^## 9998\. user', getline('.'))
enddef

def g:Test7Commands()
  History fork odd copy/of-odd
  assert_equal('history:///copy/of-odd.md', bufname())
  Find('^## 0')
  History! cut
  assert_equal(1, Len('copy/of-odd'))
  History undo
  assert_equal(3, Len('copy/of-odd'))
  History rename copy/of-odd copy/renamed
  assert_equal(0, Len('copy/of-odd'))
  History! delete copy/renamed
  assert_equal(0, Len('copy/renamed'))
  History project openai-chat live
  assert_equal('user', json_decode(Text()).messages[0].role)
enddef

# Line, sign and text of what is shown.
def Shown(): list<list<any>>
  final found: list<list<any>> = []
  const signs = sign_getplaced(bufnr(), {group: 'history_sidecar'})[0].signs->mapnew((_, sign) => [sign.lnum, sign.name])
  for item in getloclist(0)
    found->add([item.lnum, item.type, item.text])
    assert_true(index(signs, [item.lnum, {E: 'HistoryError', W: 'HistoryWarning', N: 'HistoryNote'}[item.type]]) >= 0)
  endfor
  assert_equal(len(signs), len(found))
  return found
enddef

def g:Test7Diagnostics()
  History open work/broken
  Wait('the check', () => !empty(getloclist(0)))
  const line = search('^## 1\. assistant', 'nw')
  const call = 'history-sidecar (mistral): call "c1" of tool "read" '
  assert_equal([
    [line, 'E', call .. 'has an id that mistral refuses; it takes exactly 9 letters and digits [X4]'],
    [line, 'E', call .. 'has no result [X1]'],
  ], Shown()->sort((one, two) => one[2] > two[2] ? 1 : -1))
  lfirst
  assert_equal(line, line('.'))
  assert_match('History: fixed [1-9]', Said('History fix'))
  Wait('the fix', () => empty(getloclist(0)))
  assert_equal([], Shown())
  History undo
  Wait('the undo', () => !empty(getloclist(0)))
  g:history_sidecar_check = 0
  new
  History open odd
  sleep 300m
  assert_equal([], getloclist(0))
  close
  unlet g:history_sidecar_check
enddef

def g:Test8Refusal()
  assert_equal("History: history 'no-such-history' does not exist", Said('History fork no-such-history x'))
  assert_equal('History: no such command: History nonsense', Said('History nonsense'))
enddef

def Main()
  g:history_sidecar_vendors = ['mistral'] # not what the sidecar checks by itself
  execute 'set runtimepath^=' .. $PLUGINS .. '/vim'
  runtime plugin/history_sidecar.vim
  if $SCENE ==# 'hold'
    history_sidecar#Request('history/len', {history: 'live'})
    writefile(['ready'], $STAGE .. '/ready')
    sleep 60
    return
  endif
  for name in getcompletion('g:Test*', 'function')->mapnew((_, name) => substitute(name, '(.*', '', ''))
    const before = len(v:errors)
    try
      call(name, [])
    catch
      v:errors->add(name .. ': ' .. v:exception .. ' at ' .. v:throwpoint)
    endtry
    Say((len(v:errors) == before ? 'ok - ' : 'not ok - ') .. name)
  endfor
  history_sidecar#Stop()
  for error in v:errors
    Say(error)
  endfor
enddef

Main()
if empty(v:errors)
  qall!
endif
cquit 1
