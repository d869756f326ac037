package doctor

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strings"

	"stig/internal/service"
	"stig/internal/workspace"
)

// notifications reports who is notified of events, or the last notification that failed.
func (e *examination) notifications() {
	a := e.app.Fresh(e.app.Ctx, e.app.Running) // the run keeps its own configuration
	if err := a.Configure(e.store); err != nil {
		return // configuration reports it
	}
	if a.Config.Notify.Off() {
		return // not configured
	}
	code, err := a.Code(e.ctx, e.store)
	if err != nil {
		e.failed("notify", err)
		return
	}
	to, err := service.NotifyTarget(e.ctx, a, code)
	if err != nil {
		e.failed("notify", err)
		return
	}
	if !to.Same(a.Config.Notify) {
		e.todo("notify", "the repository is not trusted: its notify settings do not apply", "read .stig.cue, then type stig trust")
		return
	}
	last, err := lastLine(service.NotifyLog(code))
	if err != nil {
		e.failed("notify", err)
		return
	}
	if last != "" {
		e.todo("notify", "a notification failed: "+last, "see "+workspace.Shortest(service.NotifyLog(code))+", then remove it")
		return
	}
	e.ok("notify", "notified of events: %s", strings.Join(to.Words(), ", "))
}

// lastLine returns the last line of a file; "" if the file does not exist.
func lastLine(path string) (string, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	text = bytes.TrimSpace(text)
	return string(text[bytes.LastIndexByte(text, '\n')+1:]), err
}
