;;; history-sidecar.el --- Histories of AI-agent conversations  -*- lexical-binding: t; -*-

;; Author: The History Sidecar authors
;; Version: 0.1.0
;; Package-Requires: ((emacs "28.1"))
;; Keywords: tools, convenience
;; URL: https://example.org/history-sidecar
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; List, read, search, edit, fork and undo the conversations that History
;; Sidecar keeps.  The program `history-sidecar' is started by the first
;; command and ends with Emacs.
;;
;;   M-x history-sidecar           list of histories
;;   M-x history-sidecar-open      transcript of one
;;   M-x history-sidecar-search    entries that hold some words
;;
;; A transcript is read-only and follows its history.  `e' edits the message
;; at point in a buffer of its own; only its new text is sent, with the version
;; it was read at, since a JSON round trip through Lisp turns {} into null.
;;
;; What the vendors in `history-sidecar-vendors' would refuse is shown by
;; Flymake (M-x flymake-show-buffer-diagnostics, `next-error'); `x' fixes it.

;;; Code:

(require 'jsonrpc)
(require 'flymake)
(require 'outline)
(require 'cl-lib)
(require 'seq)
(require 'subr-x)

(defgroup history-sidecar nil
  "Histories of AI-agent conversations."
  :group 'tools
  :prefix "history-sidecar-")

(defcustom history-sidecar-command nil
  "Command line of the sidecar, a list of strings.
When nil, the environment variable HISTORY_SIDECAR names the program, else
`history-sidecar' on variable `exec-path' is used."
  :type '(choice (const :tag "Find it" nil) (repeat string)))

(defcustom history-sidecar-store nil
  "Where histories are kept: a file or a postgresql URL.
When nil, the sidecar uses the store of the user."
  :type '(choice (const :tag "The user's store" nil) string))

(defcustom history-sidecar-vendors nil
  "Vendors whose rules are checked; nil means the sidecar's choice."
  :type '(repeat string))

(defcustom history-sidecar-check t
  "Whether a transcript shows what vendors would refuse, by Flymake."
  :type 'boolean)

(defcustom history-sidecar-timeout 10
  "Seconds to wait for an answer."
  :type 'number)

;;;; Connection

(defvar history-sidecar--connection nil
  "The connection, when the sidecar runs.")

(defvar history-sidecar--subscribed nil
  "Non-nil after subscribing to every history.")

(defvar history-sidecar--timers nil
  "Alist of history names and the timers that will refresh their buffers.")

(defun history-sidecar--argv ()
  "Return the command line of the sidecar."
  (append (or history-sidecar-command
              (list (or (getenv "HISTORY_SIDECAR") "history-sidecar")))
          (and history-sidecar-store (list "--store" history-sidecar-store))))

(defun history-sidecar--make-connection (&rest args)
  "Make a process connection from ARGS, with its events log off.
The log pretty-prints every message, which costs more than the message.  Its
slot has another name since jsonrpc 1.0.25."
  (condition-case nil
      (apply #'make-instance 'jsonrpc-process-connection
             :events-buffer-config '(:size 0) args)
    (invalid-slot-name
     (apply #'make-instance 'jsonrpc-process-connection
            :events-buffer-scrollback-size 0 args))))

(defun history-sidecar--start ()
  "Start the sidecar and return its connection."
  (let ((argv (history-sidecar--argv))
        (process-adaptive-read-buffering nil))
    (unless (executable-find (car argv))
      (user-error "%s was not found; see `history-sidecar-command'" (car argv)))
    (let ((connection
           (history-sidecar--make-connection
            :name "history-sidecar"
            :process (lambda ()
                       (make-process
                        :name "history-sidecar"
                        :command argv
                        :connection-type 'pipe
                        :coding 'utf-8-emacs-unix
                        :noquery t
                        :stderr (get-buffer-create " *history-sidecar stderr*")))
            :notification-dispatcher #'history-sidecar--on-notification
            :request-dispatcher #'history-sidecar--on-request
            :on-shutdown (lambda (_connection)
                           (setq history-sidecar--connection nil
                                 history-sidecar--subscribed nil)))))
      (jsonrpc-request
       connection :initialize
       (list :processId (emacs-pid)
             :capabilities (make-hash-table)
             :initializationOptions
             (list :sidecar
                   (append
                    (list :protocolVersion 1
                          :client (list :name "emacs" :version emacs-version))
                    (and history-sidecar-vendors
                         (list :defaults
                               (list :vendors (vconcat history-sidecar-vendors)))))))
       :timeout history-sidecar-timeout)
      (jsonrpc-notify connection :initialized (make-hash-table))
      (setq history-sidecar--connection connection))))

(defun history-sidecar--on-request (_connection method _params)
  "Refuse a request of the server for METHOD."
  (jsonrpc-error :code -32601 :message (format "no method %s" method)))

(defun history-sidecar--on-notification (_connection method params)
  "Take the notification METHOD with PARAMS."
  (when (memq method '(history/didChange history/didDelete))
    (save-current-buffer
      (history-sidecar--refresh-soon (plist-get params :history)))))

(defun history-sidecar--running ()
  "Return the connection, or nil when the sidecar does not run."
  (and history-sidecar--connection
       (jsonrpc-running-p history-sidecar--connection)
       history-sidecar--connection))

(defun history-sidecar--later (method params function)
  "Ask the running sidecar for METHOD with PARAMS; call FUNCTION on the result.
Whatever happens by itself asks this way: a request that waits inside a timer,
while a command waits for another, ends neither in Emacs 30.  A refusal is
dropped, since nobody asked for it."
  (when-let ((connection (history-sidecar--running))
             (buffer (current-buffer)))
    (jsonrpc-async-request
     connection method (or params (make-hash-table))
     :success-fn (lambda (result)
                   (when (buffer-live-p buffer)
                     (with-current-buffer buffer (funcall function result))))
     :error-fn #'ignore
     :timeout-fn #'ignore
     :timeout history-sidecar-timeout)))

(defun history-sidecar-request (method &optional params)
  "Ask the sidecar for METHOD with PARAMS, a plist, and return the result.
A refusal is a `user-error' with the sidecar's own sentence."
  (let ((connection (or (history-sidecar--running) (history-sidecar--start))))
    (condition-case failure
        (jsonrpc-request connection method (or params (make-hash-table))
                         :timeout history-sidecar-timeout)
      (jsonrpc-error
       (user-error "History: %s"
                   (or (alist-get 'jsonrpc-error-message (cddr failure))
                       (cadr failure)))))))

(defun history-sidecar--execute (command &rest arguments)
  "Run the sidecar's COMMAND with ARGUMENTS, a plist."
  (history-sidecar-request
   :workspace/executeCommand
   (list :command command :arguments (vector arguments))))

(defun history-sidecar--subscribe ()
  "Subscribe to every history, once for each sidecar."
  (unless history-sidecar--subscribed
    (history-sidecar-request :history/subscribe '(:prefix "" :entries :json-false))
    (setq history-sidecar--subscribed t)))

(defun history-sidecar-stop ()
  "End the sidecar."
  (interactive)
  (when history-sidecar--connection
    (ignore-errors
      (jsonrpc-request history-sidecar--connection :shutdown nil :timeout 3))
    (ignore-errors (jsonrpc-notify history-sidecar--connection :exit nil))
    (setq history-sidecar--connection nil
          history-sidecar--subscribed nil)))

;;;; Choosing

(defconst history-sidecar--most 2000
  "How many histories are listed at most.")

(defun history-sidecar--page-params (cursor)
  "Return the params that ask for the page of histories at CURSOR."
  (append '(:orderBy "updatedAt" :limit 200)
          (and cursor (list :cursor cursor))))

(defun history-sidecar--all ()
  "Return all histories, the newest first, as plists."
  (let ((cursor nil) (found nil) (more t))
    (while more
      (let ((page (history-sidecar-request
                   :history/list (history-sidecar--page-params cursor))))
        (setq found (append found (plist-get page :data) nil)
              cursor (plist-get page :nextCursor)
              more (and cursor (< (length found) history-sidecar--most)))))
    found))

(defun history-sidecar--all-later (function &optional cursor found)
  "Call FUNCTION on FOUND and all histories from CURSOR on."
  (history-sidecar--later
   :history/list (history-sidecar--page-params cursor)
   (lambda (page)
     (let ((found (append found (plist-get page :data) nil))
           (cursor (plist-get page :nextCursor)))
       (if (and cursor (< (length found) history-sidecar--most))
           (history-sidecar--all-later function cursor found)
         (funcall function found))))))

(defun history-sidecar--names ()
  "Return the names of all histories."
  (mapcar (lambda (info) (plist-get info :history)) (history-sidecar--all)))

(defvar-local history-sidecar--history nil
  "Name of the history in the current buffer.")

(defun history-sidecar--read-name (prompt)
  "Read the name of a history with PROMPT; the one shown is the default."
  (let ((here (or history-sidecar--history
                  (and (derived-mode-p 'history-sidecar-list-mode)
                       (tabulated-list-get-id)))))
    (completing-read (format-prompt prompt here) (history-sidecar--names)
                     nil nil nil nil here)))

;;;; Transcript

(defvar-local history-sidecar--uri nil
  "Address of the document in the current buffer.")

(defvar history-sidecar-transcript-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map "n" #'history-sidecar-next)
    (define-key map "p" #'history-sidecar-previous)
    (define-key map "N" #'history-sidecar-next-prompt)
    (define-key map "P" #'history-sidecar-previous-prompt)
    (define-key map "e" #'history-sidecar-edit)
    (define-key map "f" #'history-sidecar-fork)
    (define-key map "k" #'history-sidecar-cut)
    (define-key map "u" #'history-sidecar-undo)
    (define-key map "v" #'history-sidecar-project)
    (define-key map "a" #'history-sidecar-append)
    (define-key map "x" #'history-sidecar-fix)
    (define-key map (kbd "TAB") #'history-sidecar-toggle)
    map)
  "Keys of a transcript.")

(define-derived-mode history-sidecar-transcript-mode special-mode "History"
  "A history, read-only and live.

\\{history-sidecar-transcript-mode-map}"
  (setq-local revert-buffer-function #'history-sidecar--revert)
  (setq-local imenu-generic-expression '((nil "^## \\([0-9]+\\. [a-z]+.*\\)$" 1)))
  (setq-local outline-regexp "## [0-9]+\\. ")
  (setq-local buffer-undo-list t)
  (setq-local font-lock-defaults
              '((("^# .*$" . 'bold)
                 ("^## .*$" . 'bold)
                 ("^<!--.*-->$" . 'shadow)
                 ("^\\*\\*call\\*\\*.*$" . 'font-lock-function-name-face))
                t))
  (add-hook 'flymake-diagnostic-functions #'history-sidecar-flymake nil t)
  (outline-minor-mode 1))

(defun history-sidecar--buffer (uri)
  "Return the buffer of the document at URI, made if there is none."
  (let* ((name (format "*%s*" uri))
         (buffer (get-buffer name)))
    (unless buffer
      (setq buffer (get-buffer-create name))
      (with-current-buffer buffer
        (history-sidecar-transcript-mode)
        (setq history-sidecar--uri uri
              history-sidecar--history (history-sidecar--name-of uri))))
    (with-current-buffer buffer (history-sidecar--fill))
    (history-sidecar--subscribe)
    buffer))

(defun history-sidecar--name-of (uri)
  "Return the name of the history in URI."
  (let ((path (replace-regexp-in-string "\\`history:/+\\|[?#].*\\'" "" uri)))
    (replace-regexp-in-string "\\.\\(md\\|jsonl\\|[^./]+\\.json\\)\\'" "" path)))

(defun history-sidecar--fill ()
  "Fill the current buffer with the newest text of its document."
  (history-sidecar--show
   (history-sidecar-request
    :workspace/textDocumentContent (list :uri history-sidecar--uri))))

(defun history-sidecar--show (answer)
  "Fill the current buffer with the text in ANSWER, then have it checked.
Windows whose point stands at the end follow it."
  (let* ((inhibit-read-only t)
         (following (seq-filter (lambda (window)
                                  (and (> (point-max) 1)
                                       (>= (window-point window) (point-max))))
                                (get-buffer-window-list nil nil t)))
         (new (generate-new-buffer " *history-sidecar new*" t)))
    (unwind-protect
        (progn
          (with-current-buffer new (insert (plist-get answer :text)))
          (save-restriction
            (widen)
            (replace-buffer-contents new 0.5)))
      (kill-buffer new))
    (set-buffer-modified-p nil)
    (dolist (window following)
      (set-window-point window (point-max))))
  (when history-sidecar-check
    (if flymake-mode (flymake-start) (flymake-mode 1))))

(defvar-local history-sidecar--check nil
  "What tells the newest check of the current buffer from those before it.")

(defun history-sidecar-flymake (report &rest _)
  "Tell REPORT what vendors would refuse in the history of this buffer."
  (let ((buffer (current-buffer))
        (check (setq history-sidecar--check (list nil))))
    (history-sidecar--later
     :textDocument/diagnostic
     (list :textDocument (list :uri history-sidecar--uri))
     (lambda (answer)
       (when (and flymake-mode (eq check history-sidecar--check))
         (funcall report
                  (mapcar (lambda (found)
                            (history-sidecar--diagnostic buffer found))
                          (plist-get answer :items))))))))

(defun history-sidecar--diagnostic (buffer found)
  "Return the LSP diagnostic FOUND as one of Flymake in BUFFER."
  (let* ((start (plist-get (plist-get found :range) :start))
         (region (flymake-diag-region buffer (1+ (plist-get start :line)))))
    (flymake-make-diagnostic
     buffer (car region) (cdr region)
     (pcase (plist-get found :severity) (1 :error) (2 :warning) (_ :note))
     (format "%s: %s [%s]" (plist-get found :source) (plist-get found :message)
             (plist-get found :code)))))

(defun history-sidecar--revert (&rest _)
  "Fill the current buffer again."
  (history-sidecar--fill))

(defun history-sidecar--refresh-soon (history)
  "Refresh the buffers of HISTORY soon, once for a burst of notifications."
  (unless (assoc history history-sidecar--timers)
    (push (cons history
                (run-at-time 0.1 nil #'history-sidecar--refresh history))
          history-sidecar--timers)))

(defun history-sidecar--refresh (history)
  "Refresh the buffers of HISTORY and the list."
  (setq history-sidecar--timers
        (assoc-delete-all history history-sidecar--timers))
  (dolist (buffer (buffer-list))
    (with-current-buffer buffer
      (cond
       ((and (derived-mode-p 'history-sidecar-transcript-mode)
             (equal history history-sidecar--history)
             (not (string-match-p "atVersion=" history-sidecar--uri)))
        (history-sidecar--later :workspace/textDocumentContent
                                (list :uri history-sidecar--uri)
                                #'history-sidecar--show))
       ((derived-mode-p 'history-sidecar-list-mode)
        (history-sidecar--all-later
         (lambda (found)
           (setq tabulated-list-entries (history-sidecar--rows found))
           (tabulated-list-print t))))))))

;;;###autoload
(defun history-sidecar-open (history &optional entry-id)
  "Show the transcript of HISTORY, at ENTRY-ID when given."
  (interactive (list (history-sidecar--read-name "History")))
  (let ((buffer (history-sidecar--buffer (format "history:///%s.md" history))))
    (pop-to-buffer buffer)
    (when entry-id
      (history-sidecar--goto-line
       (plist-get (history-sidecar--execute
                   "history.entryAt" :uri history-sidecar--uri :entryId entry-id)
                  :startLine)))
    buffer))

(defun history-sidecar--goto-line (line)
  "Go to LINE, counted from 0."
  (goto-char (point-min))
  (forward-line line))

(defun history-sidecar-next (&optional count)
  "Go to the next entry, or the next COUNT."
  (interactive "p")
  (let ((line (plist-get (history-sidecar--entry :move (or count 1)) :startLine)))
    (history-sidecar--goto-line line)))

(defun history-sidecar-previous (&optional count)
  "Go to the previous entry, or COUNT entries back."
  (interactive "p")
  (history-sidecar-next (- (or count 1))))

(defun history-sidecar-next-prompt (&optional count)
  "Go to the next user message, or COUNT of them on."
  (interactive "p")
  (let ((entry (history-sidecar--entry :move (or count 1) :role "user")))
    (history-sidecar--goto-line (plist-get entry :startLine))))

(defun history-sidecar-previous-prompt (&optional count)
  "Go to the previous user message, or COUNT of them back."
  (interactive "p")
  (history-sidecar-next-prompt (- (or count 1))))

(defun history-sidecar-toggle ()
  "Fold or unfold the entry at point."
  (interactive)
  (save-excursion
    (outline-back-to-heading)
    (outline-toggle-children)))

(defun history-sidecar--entry (&rest more)
  "Return the entry at point as a plist, asked with MORE arguments."
  (unless history-sidecar--uri
    (user-error "This buffer shows no history"))
  (apply #'history-sidecar--execute "history.entryAt"
         :uri history-sidecar--uri :line (1- (line-number-at-pos nil t)) more))

;;;; Editing one message

(defvar-local history-sidecar--edited nil
  "Plist of the entry being edited in the current buffer.")

(defvar history-sidecar-edit-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "C-c C-c") #'history-sidecar-edit-finish)
    (define-key map (kbd "C-c C-k") #'history-sidecar-edit-abort)
    map)
  "Keys while a message is edited.")

(define-minor-mode history-sidecar-edit-mode
  "Edit one message of a history.

\\{history-sidecar-edit-mode-map}"
  :lighter " HistoryEdit")

(defun history-sidecar-edit ()
  "Edit the message at point in a buffer of its own."
  (interactive)
  (let* ((entry (history-sidecar--entry))
         (part (seq-first (plist-get entry :texts)))
         (buffer (generate-new-buffer
                  (format "*history edit %s %d*" (plist-get entry :history)
                          (plist-get entry :index)))))
    (unless part
      (kill-buffer buffer)
      (user-error "This entry has no text to edit"))
    (with-current-buffer buffer
      (insert (plist-get part :text))
      (goto-char (point-min))
      (set-buffer-modified-p nil)
      (text-mode)
      (history-sidecar-edit-mode 1)
      (setq history-sidecar--edited
            (list :history (plist-get entry :history)
                  :version (plist-get entry :version)
                  :entryId (plist-get entry :entryId)
                  :block (plist-get part :block))))
    (pop-to-buffer buffer)
    (message "C-c C-c sends the text, C-c C-k drops it")))

(defun history-sidecar-edit-finish ()
  "Send the text of the message and close the buffer."
  (interactive)
  (let ((edit history-sidecar--edited))
    (unless edit
      (user-error "This buffer edits no message"))
    (history-sidecar-request
     :history/applyEdits
     (list :history (plist-get edit :history)
           :ifVersion (plist-get edit :version)
           :edits (vector
                   (append (list :kind "setText"
                                 :entryId (plist-get edit :entryId)
                                 :text (buffer-substring-no-properties
                                        (point-min) (point-max)))
                           (and (plist-get edit :block)
                                (list :block (plist-get edit :block)))))))
    (quit-window t)))

(defun history-sidecar-edit-abort ()
  "Close the buffer and send nothing."
  (interactive)
  (set-buffer-modified-p nil)
  (quit-window t))

;;;; Other commands

;;;###autoload
(defun history-sidecar-append (history text)
  "Append TEXT to HISTORY as a message of the user."
  (interactive
   (let ((history (history-sidecar--read-name "Append to")))
     (list history (read-string "Message: "))))
  (history-sidecar-request
   :history/append
   (list :history history
         :entries (vector (list :message (list :role "user" :content text))))))

(defun history-sidecar-cut ()
  "Cut the history back to the entry at point."
  (interactive)
  (let ((entry (history-sidecar--entry)))
    (when (or noninteractive
              (yes-or-no-p (format "Cut %s back to entry %d? "
                                   (plist-get entry :history)
                                   (plist-get entry :index))))
      (history-sidecar-request
       :history/truncate
       (list :history (plist-get entry :history)
             :ifVersion (plist-get entry :version)
             :afterEntry (plist-get entry :entryId))))))

(defun history-sidecar-fix (history)
  "Fix in HISTORY whatever a vendor would refuse, as one change."
  (interactive (list (or history-sidecar--history
                         (history-sidecar--read-name "Fix"))))
  (let ((fixed (plist-get (history-sidecar--execute "history.fixAll" :history history)
                          :fixed)))
    (message "Fixed %d in %s; `u' takes it back" fixed history)))

(defun history-sidecar-fork (history to)
  "Fork HISTORY as TO and show the fork."
  (interactive
   (let ((history (history-sidecar--read-name "Fork")))
     (list history (read-string "New name: " (concat history "-fork")))))
  (history-sidecar-open
   (plist-get (history-sidecar--execute "history.fork" :history history :to to)
              :history)))

(defun history-sidecar-rename (history to)
  "Rename HISTORY to TO."
  (interactive
   (let ((history (history-sidecar--read-name "Rename")))
     (list history (read-string "New name: " history))))
  (history-sidecar-request :history/rename (list :history history :to to)))

(defun history-sidecar-delete (history)
  "Delete HISTORY."
  (interactive (list (history-sidecar--read-name "Delete")))
  (when (or noninteractive (yes-or-no-p (format "Delete %s? " history)))
    (history-sidecar-request :history/delete (list :history history))))

(defun history-sidecar-undo (history)
  "Take back the last change of HISTORY, such as a compaction."
  (interactive (list (or history-sidecar--history
                         (history-sidecar--read-name "Undo in"))))
  (history-sidecar--execute "history.revert" :history history))

(defun history-sidecar-project (history vendor)
  "Show what VENDOR would be sent of HISTORY."
  (interactive
   (let ((history (or history-sidecar--history
                      (history-sidecar--read-name "History"))))
     (list history
           (completing-read
            "Vendor: "
            (mapcar (lambda (vendor) (plist-get vendor :id))
                    (plist-get (history-sidecar-request :wire/vendors) :data))
            nil t))))
  (pop-to-buffer
   (history-sidecar--buffer (format "history:///%s.%s.json" history vendor))))

;;;###autoload
(defun history-sidecar-search (query)
  "Choose among entries that hold the words of QUERY, and show the one chosen."
  (interactive (list (read-string "Search histories: ")))
  (let* ((hits (append (plist-get (history-sidecar-request
                                   :history/search (list :query query :limit 100))
                                  :data)
                       nil))
         (labels (mapcar (lambda (hit)
                           (cons (format "%s · %d · %s" (plist-get hit :history)
                                         (plist-get hit :index)
                                         (replace-regexp-in-string
                                          "[ \t\n]+" " " (plist-get hit :snippet)))
                                 hit))
                         hits)))
    (unless hits
      (user-error "Nothing found"))
    (let ((hit (cdr (assoc (completing-read "Found: " labels nil t) labels))))
      (history-sidecar-open (plist-get hit :history) (plist-get hit :entryId)))))

;;;; List

(defvar history-sidecar-list-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "RET") #'history-sidecar-list-open)
    (define-key map "a" #'history-sidecar-append)
    (define-key map "d" #'history-sidecar-delete)
    (define-key map "f" #'history-sidecar-fork)
    (define-key map "r" #'history-sidecar-rename)
    (define-key map "s" #'history-sidecar-search)
    (define-key map "u" #'history-sidecar-list-undo)
    map)
  "Keys of the list of histories.")

(define-derived-mode history-sidecar-list-mode tabulated-list-mode "Histories"
  "All histories of the store.

\\{history-sidecar-list-mode-map}"
  (setq tabulated-list-format
        [("Changed" 17 t)
         ("History" 40 t)
         ("Entries" 8 history-sidecar--by-entries :right-align t)
         ("Tokens" 9 history-sidecar--by-tokens :right-align t)
         ("Title" 0 t)])
  (setq-local revert-buffer-function #'history-sidecar--revert-list)
  (tabulated-list-init-header))

(defun history-sidecar--revert-list (&rest _)
  "List the histories as they are now."
  (setq tabulated-list-entries (history-sidecar--rows (history-sidecar--all)))
  (tabulated-list-print t))

(defun history-sidecar--number (row column)
  "Return the number in COLUMN of ROW."
  (string-to-number (aref (cadr row) column)))

(defun history-sidecar--by-entries (one two)
  "Say whether row ONE has fewer entries than row TWO."
  (< (history-sidecar--number one 2) (history-sidecar--number two 2)))

(defun history-sidecar--by-tokens (one two)
  "Say whether row ONE has fewer tokens than row TWO."
  (< (history-sidecar--number one 3) (history-sidecar--number two 3)))

(defun history-sidecar--rows (histories)
  "Return the rows of the list of HISTORIES."
  (mapcar
   (lambda (info)
     (let ((tokens (plist-get info :tokenEstimate)))
       (list (plist-get info :history)
             (vector
              (format-time-string "%Y-%m-%d %H:%M"
                                  (/ (plist-get info :updatedAt) 1000))
              (plist-get info :history)
              (number-to-string (plist-get info :len))
              (if tokens (number-to-string tokens) "")
              (or (plist-get info :title) "")))))
   histories))

(defun history-sidecar-list-open ()
  "Show the transcript of the history at point."
  (interactive)
  (history-sidecar-open (or (tabulated-list-get-id)
                            (user-error "No history here"))))

(defun history-sidecar-list-undo ()
  "Take back the last change of the history at point."
  (interactive)
  (history-sidecar-undo (or (tabulated-list-get-id)
                            (user-error "No history here"))))

;;;###autoload
(defun history-sidecar ()
  "List all histories of the store."
  (interactive)
  (let ((buffer (get-buffer-create "*Histories*")))
    (with-current-buffer buffer
      (unless (derived-mode-p 'history-sidecar-list-mode)
        (history-sidecar-list-mode))
      (history-sidecar--revert-list))
    (history-sidecar--subscribe)
    (pop-to-buffer buffer)))

(provide 'history-sidecar)
;;; history-sidecar.el ends here
