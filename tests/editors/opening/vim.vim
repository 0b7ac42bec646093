vim9script
# Opens a history that is empty and one that is long; each line of $STAGE/report is a name and the seconds it took.
execute 'set runtimepath^=' .. $PLUGINS .. '/vim'
runtime plugin/history_sidecar.vim

def Open(name: string)
  history_sidecar#Request('sidecar/info')
  const started = reltime()
  execute 'History open' name
  redraw
  const took = reltimefloat(reltime(started))
  history_sidecar#Request('sidecar/info')
  writefile([printf('%s %.4f', name, took)], $STAGE .. '/report', 'a')
enddef

Open('empty')
Open('long')
if getline(1) ==# '# long'
  history_sidecar#Stop()
  qall!
endif
cquit 1
