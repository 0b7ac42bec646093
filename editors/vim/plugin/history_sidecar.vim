" Histories of AI-agent conversations.  Defines one command; nothing is started before it is used.
if exists('g:loaded_history_sidecar')
  finish
endif
let g:loaded_history_sidecar = 1

if !has('vim9script') || !has('patch-8.2.4684') || v:version < 900
  command! -nargs=* History echoerr 'history-sidecar needs Vim 9.0 or newer'
  finish
endif

command! -nargs=* -bang -complete=customlist,history_sidecar#Complete History call history_sidecar#Run(<bang>0, <f-args>)

augroup history_sidecar
  autocmd!
  autocmd BufReadCmd history://* call history_sidecar#Read(expand('<amatch>'))
  autocmd BufWinEnter history://* call history_sidecar#Enter()
augroup END

nnoremap <silent> <Plug>(history-next) <Cmd>call history_sidecar#Prompt(1)<CR>
nnoremap <silent> <Plug>(history-previous) <Cmd>call history_sidecar#Prompt(-1)<CR>
nnoremap <silent> <Plug>(history-edit) <Cmd>History edit<CR>
