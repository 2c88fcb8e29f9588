;;; emacs.el --- drives the language server as a user of Emacs would  -*- lexical-binding: t -*-

;; Uses editors/emacs/gander.el. Writes what happened to the file that GANDER_TEST_OUT names; the
;; test compares it.

(package-initialize)
(require 'cl-lib)
(load (getenv "GANDER_TEST_CONFIGURATION"))
(setq eglot-sync-connect 60
      eglot-send-changes-idle-time 0.05
      flymake-no-changes-timeout 0.05
      make-backup-files nil
      auto-save-default nil)

(defvar out nil)
(defun say (format &rest arguments) (push (apply #'format format arguments) out))
(defun finish ()
  (with-temp-file (getenv "GANDER_TEST_OUT")
    (insert (mapconcat #'identity (reverse out) "\n") "\n"))
  (kill-emacs 0))
(defun wait (what condition)
  (let ((end (+ (float-time) 60)))
    (while (and (not (funcall condition)) (< (float-time) end))
      (accept-process-output nil 0.05)
      ;; Flymake shows messages from a timer, which a batch job runs only while it waits.
      (sit-for 0.02))
    (unless (funcall condition)
      (say "no %s" what)
      (finish))))
(defun messages () (mapcar #'flymake-diagnostic-text (flymake-diagnostics)))
(defun has (part) (lambda () (cl-some (lambda (text) (string-match-p part text)) (messages))))

(find-file (getenv "GANDER_TEST_MODEL"))
(say "mode %s" major-mode)
;; Eglot connects after the command that opened the file.
(run-hooks 'post-command-hook)
(say "managed %s" (and (eglot-managed-p) t))
(flymake-mode 1)
(wait "verdict" (has "`wrong` fails"))
(dolist (text (messages)) (say "%s" (car (split-string text "\n"))))

;; A repair, and a check by the command of the file.
(goto-char (point-min))
(search-forward "always wrong: x <= 2")
(replace-match "always wrong: x <= 3")
(eglot--signal-textDocument/didChange)
(wait "repair" (lambda () (null (messages))))
(say "check %s" (and (gander-check) t))
(search-backward "always wrong")
(replace-match "alwys wrong")
(eglot--signal-textDocument/didChange)
(wait "error" (has "alwys"))
(say "an error is shown")
(set-buffer-modified-p nil)
(finish)
