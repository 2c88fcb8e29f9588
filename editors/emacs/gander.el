;;; gander.el --- gander in Emacs  -*- lexical-binding: t -*-

;; Emacs 29 or later, or 28 with the package `eglot'. Add (load "/path/to/gander.el") to your init file. Models are
;; checked when they are opened and saved; failing claims are shown by Flymake.

(require 'eglot)

(define-derived-mode gander-sts-mode prog-mode "STS"
  (setq-local comment-start "// "))
(define-derived-mode gander-lustre-mode prog-mode "Lustre"
  (setq-local comment-start "-- "))
(define-derived-mode gander-script-mode prog-mode "Script"
  (setq-local comment-start "// "))

(add-to-list 'auto-mode-alist '("\\.sts\\'" . gander-sts-mode))
(add-to-list 'auto-mode-alist '("\\.\\(lus\\|ec\\)\\'" . gander-lustre-mode))
(add-to-list 'auto-mode-alist '("\\.\\(script\\|umc\\)\\'" . gander-script-mode))

(add-to-list 'eglot-server-programs
             '((gander-sts-mode gander-lustre-mode gander-script-mode)
               . ("gander" "lsp" :initializationOptions (:check "save"))))
(dolist (hook '(gander-sts-mode-hook gander-lustre-mode-hook gander-script-mode-hook))
  (add-hook hook #'eglot-ensure))

(defun gander-check ()
  "Check all claims of the buffer."
  (interactive)
  (eglot-execute-command (eglot-current-server) 'gander.check
                         (vector (plist-get (eglot--TextDocumentIdentifier) :uri) nil)))

(provide 'gander)
;;; gander.el ends here
