package main

import (
	"bytes"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"strings"
)

// notifications says who is told of events, and who could not be told of the last one.
func (d *doctor) notifications() {
	a := *d.app // what is read here must not stay
	if err := a.configure(d.store); err != nil {
		return // config says so already
	}
	if a.config.Notify.off() {
		return // nobody asked for it
	}
	site, err := a.site(d.ctx, d.store)
	if err != nil {
		d.failed("notify", err)
		return
	}
	to, err := a.whom(d.ctx, site)
	if err != nil {
		d.failed("notify", err)
		return
	}
	if !to.same(a.config.Notify) {
		d.todo("notify", "what the repository says of whom to tell does not count: it is not trusted", "read .stig.cue, then type stig trust")
		return
	}
	last, err := lastLine(site.notifyLog())
	if err != nil {
		d.failed("notify", err)
		return
	}
	if last != "" {
		d.todo("notify", "somebody could not be told: "+last, "see "+shortest(site.notifyLog())+", and remove it")
		return
	}
	d.ok("notify", "told of events: %s", strings.Join(to.words(), ", "))
}

// words name who is told, without what may be secret of a URL.
func (n notifications) words() (words []string) {
	if where, err := url.Parse(n.URL); err == nil && n.URL != "" {
		words = append(words, where.Host)
	}
	if len(n.Command) > 0 {
		words = append(words, n.Command[0])
	}
	return words
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
