package actors

import (
	"crypto/sha256"
	"encoding/xml"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Unit is what a service manager needs to run a worker's loop and its dreams on one repository.
type Unit struct {
	Actor   string        // its name
	Repo    string        // absolute; working directory of stig
	Store   string        // value of --store, absolute; "" if stig finds the store from Repo
	Program string        // stig executable, absolute
	Env     []string      // NAME=value; service managers pass on almost nothing
	Dream   time.Duration // interval between dreams; 0 for never
}

// UnitFile is a file in the directory of a service manager. If Text is "", the file is not
// needed.
type UnitFile struct{ Name, Text string }

// task is a command that a service manager starts.
type task struct {
	name  string // base name of its files, without extension
	what  string // description
	argv  []string
	every time.Duration // delay until it is started again after its end; 0 for never
}

// loop is the task that works on issues. It ends by design when a limit is reached; limits
// cover 24 hours.
func (u Unit) loop() task {
	return task{"stig-worker-" + u.id(), "worker " + u.Actor + " on " + u.Repo, u.stig("work", "--actor="+u.Actor), 24 * time.Hour}
}

func (u Unit) dream() task {
	return task{"stig-dream-" + u.id(), "dream of " + u.Actor + " on " + u.Repo, u.stig("dream", u.Actor), u.Dream}
}

func (t task) file(ending, text string) UnitFile {
	if t.every == 0 {
		text = ""
	}
	return UnitFile{t.name + ending, text}
}

func (u Unit) stig(words ...string) []string {
	argv := []string{u.Program, "--directory=" + u.Repo}
	if u.Store != "" {
		argv = append(argv, "--store="+u.Store)
	}
	return slices.Concat(argv, []string{"--no-input"}, words)
}

// id returns a readable name of the worker and its repository, made unique by a hash. It needs
// no escaping in a unit name or a shell.
func (u Unit) id() string {
	plain := func(r rune) rune {
		if r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-._", r)) {
			return r
		}
		return '_'
	}
	const most = 64 // bytes of each; a file name may have 255
	cut := func(text string) string { return strings.Map(plain, text[:min(len(text), most)]) }
	sum := sha256.Sum256([]byte(u.Actor + "\x00" + u.Repo + "\x00" + u.Store))
	return fmt.Sprintf("%s-%s-%x", cut(u.Actor), cut(filepath.Base(u.Repo)), sum[:4])
}

// Check returns an error if a value cannot be written into a unit file.
func (u Unit) Check() error {
	for _, path := range []string{u.Repo, u.Program} {
		if !filepath.IsAbs(path) {
			return fmt.Errorf("%q: must be an absolute path", path)
		}
	}
	for _, text := range append([]string{u.Actor, u.Repo, u.Store, u.Program}, u.Env...) {
		if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
			return fmt.Errorf("%q: has a character that is not allowed in a unit", text)
		}
	}
	if strings.ContainsAny(u.Program, `"'\`) {
		return fmt.Errorf("%s: systemd cannot start a program whose path has quotes or backslashes", u.Program)
	}
	return nil
}

// A user's systemd can restrict the file system only with a user namespace, and in one ssh
// rejects root's configuration. So only restrictions that need no namespace are used: an
// assistant needs the network, its home, the repository and namespaces of its own.
const systemdUnit = `# Written by stig worker install. To remove it, type stig worker install %s --remove
[Unit]
Description=stig: %s
StartLimitIntervalSec=1h
StartLimitBurst=10

[Service]
ExecStart=%s
%sEnvironmentFile=-%%E/stig/worker.env
MemoryMax=4G
NoNewPrivileges=yes
LockPersonality=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
%s`

// Exit code 1: runs left no result; the timer starts the loop again. 6: only questions to
// people are left. 129, 130 and 143: the loop was stopped. The loop ends its command itself;
// then systemd kills what is left. A command that uses too much memory is a failed run and does
// not end the loop.
const systemdLoop = `Restart=on-failure
RestartSec=10
RestartPreventExitStatus=1
SuccessExitStatus=6 129 130 143
KillMode=mixed
TimeoutStopSec=60
OOMPolicy=continue

[Install]
WantedBy=default.target
`

const systemdDream = `Type=oneshot
TimeoutStartSec=600
`

const systemdTimer = `# Written by stig worker install. To remove it, type stig worker install %s --remove
[Unit]
Description=stig: when to start the %s

[Timer]
%sOnUnitInactiveSec=%v

[Install]
WantedBy=timers.target
`

// Systemd returns the systemd units of a worker: a service and a timer for each task.
func (u Unit) Systemd() (files []UnitFile) {
	var env strings.Builder
	for _, variable := range u.Env {
		env.WriteString("Environment=" + unitQuoted(variable) + "\n")
	}
	for i, t := range []task{u.loop(), u.dream()} {
		words := []string{unitQuoted(":" + t.argv[0])} // the colon disables expansion of $
		for _, word := range t.argv[1:] {
			words = append(words, unitQuoted(word))
		}
		what := strings.ReplaceAll(t.what, "%", "%%")
		service := fmt.Sprintf(systemdUnit, u.Actor, what, strings.Join(words, " "), env.String(), []string{systemdLoop, systemdDream}[i])
		files = append(files, t.file(".service", service), t.file(".timer", fmt.Sprintf(systemdTimer, u.Actor, what, []string{"", "OnBootSec=30min\n"}[i], t.every)))
	}
	return files
}

// unitQuoted returns a quoted word of a list; see systemd.syntax(7) and systemd.unit(5),
// "Specifiers".
func unitQuoted(word string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `%`, `%%`).Replace(word) + `"`
}

// launchdAgent is a property list; see launchd.plist(5).
const launchdAgent = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>%s</string>
	<key>ProgramArguments</key>
	<array>
%s	</array>
	<key>EnvironmentVariables</key>
	<dict>
%s	</dict>
	<key>ProcessType</key>
	<string>Background</string>
	<key>StartInterval</key>
	<integer>%d</integer>
%s</dict>
</plist>
`

// A loop starts at once, and again after a crash.
const launchdLoop = `	<key>RunAtLoad</key>
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

// Launchd returns the launchd property lists of a worker, one for each task. They are agents of
// the user who installs them.
func (u Unit) Launchd() (files []UnitFile) {
	var env strings.Builder
	for _, variable := range u.Env {
		name, value, _ := strings.Cut(variable, "=")
		fmt.Fprintf(&env, "\t\t<key>%s</key>\n\t\t<string>%s</string>\n", escaped(name), escaped(value))
	}
	for i, t := range []task{u.loop(), u.dream()} {
		var words strings.Builder
		for _, word := range t.argv {
			words.WriteString("\t\t<string>" + escaped(word) + "</string>\n")
		}
		files = append(files, t.file(".plist", fmt.Sprintf(launchdAgent, t.name, words.String(), env.String(), max(1, t.every/time.Second), []string{launchdLoop, ""}[i])))
	}
	return files
}

func escaped(word string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(word)) // a strings.Builder never fails
	return b.String()
}
