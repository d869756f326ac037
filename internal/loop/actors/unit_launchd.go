package actors

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"time"
)

// agent is a property list; see launchd.plist(5).
const agent = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>%s</string>
	<key>ProgramArguments</key>
	<array>
%s	</array>
%s	<key>ProcessType</key>
	<string>Background</string>
	<key>StartInterval</key>
	<integer>%d</integer>
%s</dict>
</plist>
`

// A loop is started at once, and again when it crashed; when it ended by itself, which it
// does on purpose, every so often.
const agentOfLoop = `	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<dict>
		<key>Crashed</key>
		<true/>
	</dict>
	<key>ThrottleInterval</key>
	<integer>10</integer>
	<key>ExitTimeOut</key>
	<integer>60</integer>
`

// Launchd gives the property lists of launchd for a worker, agents of the user who
// installs them.
func (w Unit) Launchd() ([]UnitFile, error) {
	if err := w.check(); err != nil {
		return nil, err
	}
	names := w.LaunchdNames()
	files := []UnitFile{{names[0], w.agent(names[0], w.work(), 24*time.Hour, agentOfLoop)}}
	if w.Dream > 0 {
		files = append(files, UnitFile{names[1], w.agent(names[1], w.dream(), w.Dream, "")})
	}
	return files, nil
}

// LaunchdNames lists the files of launchd that there may be for the worker: of its loop and
// of its dreams. A backslash is no part of a label.
func (w Unit) LaunchdNames() []string {
	id := strings.ReplaceAll(w.id(), `\x`, "_")
	return []string{"stig.worker." + id + ".plist", "stig.dream." + id + ".plist"}
}

func (w Unit) agent(name string, argv []string, every time.Duration, loop string) string {
	var words, env strings.Builder
	for _, word := range argv {
		words.WriteString("\t\t<string>" + escaped(word) + "</string>\n")
	}
	if len(w.Env) > 0 {
		env.WriteString("\t<key>EnvironmentVariables</key>\n\t<dict>\n")
		for _, variable := range slices.Sorted(slices.Values(w.Env)) {
			name, value, _ := strings.Cut(variable, "=")
			fmt.Fprintf(&env, "\t\t<key>%s</key>\n\t\t<string>%s</string>\n", escaped(name), escaped(value))
		}
		env.WriteString("\t</dict>\n")
	}
	return fmt.Sprintf(agent, escaped(strings.TrimSuffix(name, ".plist")), words.String(), env.String(), max(1, every/time.Second), loop)
}

func escaped(word string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(word)) // a strings.Builder takes everything
	return b.String()
}
