;;; eglot.el --- Rendered transcripts through Eglot  -*- lexical-binding: t; -*-
;; For files named *.history.md.  The package in ../emacs needs no Eglot and shows histories themselves.

(require 'eglot)

(define-derived-mode history-sidecar-file-mode text-mode "HistoryFile"
  "A rendered transcript.")

(add-to-list 'auto-mode-alist '("\\.history\\.md\\'" . history-sidecar-file-mode))

(add-to-list 'eglot-server-programs
             '(history-sidecar-file-mode
               . ("history-sidecar"
                  :initializationOptions
                  (:sidecar (:protocolVersion 1 :client (:name "eglot"))))))

(add-hook 'history-sidecar-file-mode-hook #'eglot-ensure)
;;; eglot.el ends here
