package unit

import (
	"encoding/xml"
	"slices"
	"strings"
	"time"
)

// Launchd gives the property lists of launchd for a worker, agents of the user who
// installs them.
func (w Worker) Launchd() ([]File, error) {
	if err := w.check(); err != nil {
		return nil, err
	}
	files := []File{{w.label("worker") + ".plist", w.agent(w.label("worker"), w.work(), 24*time.Hour, true)}}
	if w.Dream > 0 {
		files = append(files, File{w.label("dream") + ".plist", w.agent(w.label("dream"), w.dream(), w.Dream, false)})
	}
	return files, nil
}

// LaunchdNames lists the files of launchd that there may be for the worker, whether it
// dreams or not.
func (w Worker) LaunchdNames() []string {
	return []string{w.label("worker") + ".plist", w.label("dream") + ".plist"}
}

// label names an agent. A backslash is no part of a label.
func (w Worker) label(what string) string {
	return "stig." + what + "." + strings.ReplaceAll(w.id(), `\x`, "_")
}

// agent is a property list; see launchd.plist(5). A loop is started at once, and again
// when it crashed; when it ended by itself, which it does on purpose, every so often.
func (w Worker) agent(label string, argv []string, every time.Duration, loop bool) string {
	t := &text{}
	t.linef(`<?xml version="1.0" encoding="UTF-8"?>`)
	t.linef(`<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">`)
	t.linef(`<plist version="1.0">`)
	t.linef("<dict>")
	t.linef("\t<key>Label</key>\n\t<string>%s</string>", escaped(label))
	t.linef("\t<key>ProgramArguments</key>\n\t<array>")
	for _, word := range argv {
		t.linef("\t\t<string>%s</string>", escaped(word))
	}
	t.linef("\t</array>")
	if len(w.Env) > 0 {
		t.linef("\t<key>EnvironmentVariables</key>\n\t<dict>")
		for _, variable := range slices.Sorted(slices.Values(w.Env)) {
			name, value, _ := strings.Cut(variable, "=")
			t.linef("\t\t<key>%s</key>\n\t\t<string>%s</string>", escaped(name), escaped(value))
		}
		t.linef("\t</dict>")
	}
	t.linef("\t<key>ProcessType</key>\n\t<string>Background</string>")
	t.linef("\t<key>StartInterval</key>\n\t<integer>%d</integer>", max(1, every/time.Second))
	if loop {
		t.linef("\t<key>RunAtLoad</key>\n\t<true/>")
		t.linef("\t<key>KeepAlive</key>\n\t<dict>\n\t\t<key>Crashed</key>\n\t\t<true/>\n\t</dict>")
		t.linef("\t<key>ThrottleInterval</key>\n\t<integer>10</integer>\n\t<key>ExitTimeOut</key>\n\t<integer>60</integer>")
	}
	t.linef("</dict>\n</plist>")
	return t.String()
}

func escaped(word string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(word)) // a strings.Builder takes everything
	return b.String()
}
