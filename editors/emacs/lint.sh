#!/bin/sh
# Byte-compile with warnings as errors, checkdoc as errors, and package-lint where it is installed.
set -eu
cd "$(dirname "$0")"
el=history-sidecar.el
emacs -Q --batch -L . --eval '(setq byte-compile-error-on-warn t)' \
  --eval '(setq byte-compile-dest-file-function (lambda (_) (make-temp-file "history-sidecar" nil ".elc")))' \
  -f batch-byte-compile "$el"
emacs -Q --batch -l checkdoc --eval "
(let ((bad nil))
  (setq checkdoc-create-error-function
        (lambda (text start _end &rest _)
          (setq bad t)
          (message \"$el:%s: %s\" (and start (line-number-at-pos start)) text)
          nil))
  (with-current-buffer (find-file-noselect \"$el\") (checkdoc-current-buffer t))
  (when bad (kill-emacs 1)))"
if emacs --batch -f package-initialize --eval '(kill-emacs (if (require (quote package-lint) nil t) 0 1))'; then
  # Debian's package-lint is too old to know that (emacs \"28.1\") was released.
  emacs --batch -f package-initialize -l package-lint -f package-lint-batch-and-exit "$el" 2>&1 |
    grep -v 'uninstallable in all released' | grep -E '(error|warning):' && exit 1
fi
exit 0
