package connect

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strings"

	"stig/app"
)

// notifications says who is told of events, and who could not be told of the last one.
func (d *doctor) notifications() {
	a := *d.app // what is read here must not stay
	if err := a.Configure(d.store); err != nil {
		return // config says so already
	}
	if a.Config.Notify.Off() {
		return // nobody asked for it
	}
	site, err := a.Site(d.ctx, d.store)
	if err != nil {
		d.failed("notify", err)
		return
	}
	to, err := a.Whom(d.ctx, site)
	if err != nil {
		d.failed("notify", err)
		return
	}
	if !to.Same(a.Config.Notify) {
		d.todo("notify", "what the repository says of whom to tell does not count: it is not trusted", "read .stig.cue, then type stig trust")
		return
	}
	last, err := lastLine(site.NotifyLog())
	if err != nil {
		d.failed("notify", err)
		return
	}
	if last != "" {
		d.todo("notify", "somebody could not be told: "+last, "see "+app.Shortest(site.NotifyLog())+", and remove it")
		return
	}
	d.ok("notify", "told of events: %s", strings.Join(to.Words(), ", "))
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
