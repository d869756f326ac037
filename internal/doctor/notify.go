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

// notifications says who is notified of events, and of whom the last notification failed.
func (e *examination) notifications() {
	a := e.app.Fresh(e.app.Ctx, e.app.Running) // what is read here must not stay
	if err := a.Configure(e.store); err != nil {
		return // config says so already
	}
	if a.Config.Notify.Off() {
		return // nobody asked for it
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
		e.todo("notify", "what the repository says of whom to tell does not count: it is not trusted", "read .stig.cue, then type stig trust")
		return
	}
	last, err := lastLine(service.NotifyLog(code))
	if err != nil {
		e.failed("notify", err)
		return
	}
	if last != "" {
		e.todo("notify", "somebody could not be told: "+last, "see "+workspace.Shortest(service.NotifyLog(code))+", and remove it")
		return
	}
	e.ok("notify", "told of events: %s", strings.Join(to.Words(), ", "))
}

// lastLine is the last line of a file, "" where there is none.
func lastLine(path string) (string, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	text = bytes.TrimSpace(text)
	return string(text[bytes.LastIndexByte(text, '\n')+1:]), err
}
