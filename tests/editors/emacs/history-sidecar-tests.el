;;; history-sidecar-tests.el --- ERT tests of history-sidecar.el  -*- lexical-binding: t; -*-
;;; Commentary:
;; emacs -Q --batch -L ../../../editors/emacs -l history-sidecar-tests.el -f ert-run-tests-batch-and-exit
;;; Code:
(require 'ert)
(require 'history-sidecar)

;; Not what the sidecar checks by itself.
(setq history-sidecar-vendors '("mistral"))

(defun history-sidecar-tests--pids ()
  "Return how many sidecars were started."
  (let ((file (expand-file-name "pids" (getenv "STAGE"))))
    (if (file-exists-p file)
        (with-temp-buffer
          (insert-file-contents file)
          (count-lines (point-min) (point-max)))
      0)))

(defun history-sidecar-tests--wait (seconds condition)
  "Wait up to SECONDS until CONDITION is true; return the seconds it took."
  (let ((started (float-time)))
    (while (not (funcall condition))
      (when (> (- (float-time) started) seconds)
        (ert-fail (list "timed out" (buffer-string))))
      (accept-process-output nil 0.01))
    (- (float-time) started)))

(defun history-sidecar-tests--shows (text)
  "Say whether the current buffer holds TEXT."
  (save-excursion
    (goto-char (point-min))
    (search-forward text nil t)))

(ert-deftest history-sidecar-1-lazy ()
  "Loading the package starts nothing."
  (should (commandp 'history-sidecar))
  (should (= 0 (history-sidecar-tests--pids))))

(ert-deftest history-sidecar-2-transcript ()
  "A transcript is shown and cannot be changed by accident."
  (history-sidecar-open "odd")
  (should (= 1 (history-sidecar-tests--pids)))
  (should (derived-mode-p 'history-sidecar-transcript-mode))
  (should buffer-read-only)
  (should (history-sidecar-tests--shows "## 0. user"))
  (should (history-sidecar-tests--shows "keep me 🙂"))
  (should-not (history-sidecar-tests--shows "\u202e")))

(ert-deftest history-sidecar-3-edit ()
  "One message is edited, the others are left alone."
  (history-sidecar-append "odd" "from emacs")
  (history-sidecar-open "odd")
  (history-sidecar-tests--wait 5 (lambda () (history-sidecar-tests--shows "from emacs")))
  (goto-char (point-min))
  (search-forward "before")
  (history-sidecar-edit)
  (should (equal (buffer-string) "before"))
  (erase-buffer)
  (insert "edited by emacs")
  (history-sidecar-edit-finish)
  (history-sidecar-open "odd")
  (history-sidecar-tests--wait 5 (lambda () (history-sidecar-tests--shows "edited by emacs"))))

(ert-deftest history-sidecar-4-conflict ()
  "An edit on top of a change that was not seen is refused."
  (history-sidecar-open "live")
  (goto-char (point-min))
  (search-forward "hello")
  (history-sidecar-edit)
  (history-sidecar-append "live" "meanwhile")
  (erase-buffer)
  (insert "overwritten")
  (should (string-match-p
           "is at version"
           (cadr (should-error (history-sidecar-edit-finish) :type 'user-error))))
  (history-sidecar-edit-abort))

(ert-deftest history-sidecar-5-live ()
  "What another process appends is shown within a second, and the end is followed."
  (history-sidecar-open "live")
  (goto-char (point-max))
  (set-window-point (selected-window) (point-max))
  (let* ((argv (append (split-string (getenv "APPEND")) '("live" "tail-of-emacs")))
         (process (make-process :name "append" :command argv)))
    (while (process-live-p process) (accept-process-output process 0.01))
    (should (= 0 (process-exit-status process)))
    (let ((took (history-sidecar-tests--wait
                 5 (lambda () (history-sidecar-tests--shows "tail-of-emacs")))))
      (message "shown %d ms after the other process had ended" (* 1000 took))
      (should (< took 1)))
    (should (= (window-point (selected-window)) (point-max)))))

(ert-deftest history-sidecar-6-big ()
  "Ten thousand entries open in under a second."
  (cl-flet ((timed (name) (let ((started (float-time)))
                            (history-sidecar-open name)
                            (- (float-time) started))))
    ;; A machine that is busy with other things gets the time that two short
    ;; histories take on top.
    (let* ((short (+ (timed "odd") (timed "work/broken")))
           (took (timed "big")))
      (message "10000 entries in %d ms" (* 1000 took))
      (should (history-sidecar-tests--shows "message number 9999"))
      (should (< took (+ 1 short))))))

(ert-deftest history-sidecar-7-moves ()
  "Entries and prompts are moved by, and fold."
  (history-sidecar-open "big")
  (goto-char (point-max))
  (history-sidecar-previous-prompt)
  (should (looking-at "## 9998\\. user"))
  (history-sidecar-next)
  (should (looking-at "## 9999\\. assistant"))
  (history-sidecar-toggle)
  (should (outline-invisible-p (line-end-position)))
  (history-sidecar-toggle)
  (should imenu-generic-expression))

(defun history-sidecar-tests--diagnostics ()
  "Return line, type and text of every diagnostic in the current buffer."
  (sort (mapcar (lambda (found)
                  (list (line-number-at-pos (flymake-diagnostic-beg found))
                        (flymake-diagnostic-type found)
                        (flymake-diagnostic-text found)))
                (flymake-diagnostics))
        (lambda (one two) (string< (nth 2 one) (nth 2 two)))))

(ert-deftest history-sidecar-7-diagnostics ()
  "What the configured vendors would refuse is shown, follows, and is fixed."
  (history-sidecar-open "work/broken")
  (history-sidecar-tests--wait 10 #'history-sidecar-tests--diagnostics)
  (let ((found (history-sidecar-tests--diagnostics))
        (line (save-excursion (goto-char (point-min))
                              (search-forward "## 1. assistant")
                              (line-number-at-pos))))
    (should (equal found
                   (list (list line :error "history-sidecar (mistral): call \"c1\" of tool \"read\" has an id that mistral refuses; it takes exactly 9 letters and digits [X4]")
                         (list line :error "history-sidecar (mistral): call \"c1\" of tool \"read\" has no result [X1]")))))
  (history-sidecar-fix "work/broken")
  (history-sidecar-tests--wait 10 (lambda () (not (history-sidecar-tests--diagnostics))))
  (history-sidecar-undo "work/broken")
  (history-sidecar-tests--wait 10 #'history-sidecar-tests--diagnostics))

(ert-deftest history-sidecar-2-unchecked ()
  "Checks can be switched off."
  (let ((history-sidecar-check nil))
    (history-sidecar-open "live"))
  (should-not flymake-mode))

(ert-deftest history-sidecar-8-commands ()
  "Fork, cut, undo, rename, delete and project."
  (history-sidecar-fork "odd" "copy/of-odd")
  (should (equal history-sidecar--history "copy/of-odd"))
  (goto-char (point-min))
  (search-forward "## 0")
  (history-sidecar-cut)
  (cl-flet ((len (name) (plist-get (history-sidecar-request :history/len (list :history name)) :len)))
    (should (= 1 (len "copy/of-odd")))
    (history-sidecar-undo "copy/of-odd")
    (should (= 3 (len "copy/of-odd")))
    (history-sidecar-rename "copy/of-odd" "copy/renamed")
    (should (= 0 (len "copy/of-odd")))
    (history-sidecar-delete "copy/renamed")
    (should (= 0 (len "copy/renamed"))))
  (history-sidecar-project "live" "openai-chat")
  (should (history-sidecar-tests--shows "\"messages\"")))

(ert-deftest history-sidecar-8-list ()
  "The list shows every history and follows."
  (history-sidecar)
  (should (history-sidecar-tests--shows "work/broken"))
  (history-sidecar-append "brand/new" "x")
  (with-current-buffer "*Histories*"
    (history-sidecar-tests--wait 5 (lambda () (history-sidecar-tests--shows "brand/new")))))

(ert-deftest history-sidecar-9-refusal ()
  "What goes wrong is one sentence of the sidecar."
  (should (equal "History: history ’no-such-history’ does not exist"
                 (replace-regexp-in-string
                  "[‘']" "’"
                  (cadr (should-error (history-sidecar-fork "no-such-history" "x")
                                      :type 'user-error)))))
  (history-sidecar-stop))

(defun history-sidecar-tests-hold ()
  "Start the sidecar, say so, and wait to be killed."
  (history-sidecar-request :history/len '(:history "live"))
  (write-region "ready" nil (expand-file-name "ready" (getenv "STAGE")))
  (sleep-for 60))
;;; history-sidecar-tests.el ends here
