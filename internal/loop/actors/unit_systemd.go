package actors

import (
	"fmt"
	"strings"
	"time"
)

// What ended by itself with 1 did so after runs that left nothing, and must not be started
// again by itself; 6 says that only questions to people remain, 129, 130 and 143 that it was
// stopped. The rest is bounded by the start limit. The loop ends its command by itself; what
// is left of both is killed then. A command that takes too much memory is a failed run and
// not the end of the loop.
const serviceFile = `StartLimitIntervalSec=1h
StartLimitBurst=10

[Service]
ExecStart=%s
Restart=on-failure
RestartSec=10
RestartPreventExitStatus=1
SuccessExitStatus=6 129 130 143
KillMode=mixed
TimeoutStopSec=60
OOMPolicy=continue
%s
[Install]
WantedBy=%s
`

const dreams = `
[Service]
Type=oneshot
ExecStart=%s
TimeoutStartSec=600
%s`

const timer = `
[Timer]
%s

[Install]
WantedBy=timers.target
`

// An assistant needs the network, its home, the repository, and the right to make
// namespaces for a sandbox of its own.
const bounds = `MemoryMax=4G
NoNewPrivileges=yes
LockPersonality=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
`

// A manager of a user can only confine the file system by a user namespace, in which
// every file of root is nobody's: ssh then refuses its configuration, and some systems
// allow none. There no more is taken than what needs no namespace.
const machineBounds = `ProtectSystem=strict
PrivateTmp=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
`

// Systemd gives the units of systemd for a worker: a service that keeps the loop running,
// and a timer that starts it again a day after it ended at one of its bounds, which are
// counted over 24 hours; for one that dreams a service and a timer of its dreams.
func (w Unit) Systemd() ([]UnitFile, error) {
	if err := w.check(); err != nil {
		return nil, err
	}
	if strings.ContainsAny(w.Program, `"'\`) {
		return nil, fmt.Errorf("%s: systemd starts no program whose path has quotes or backslashes", w.Program)
	}
	target, online := "default.target", ""
	if w.User != "" {
		target, online = "multi-user.target", "Wants=network-online.target\nAfter=network-online.target\n"
	}
	files := []UnitFile{
		{w.Service(), w.head("worker") + online + fmt.Sprintf(serviceFile, command(w.work()), w.confined(), target)},
		{w.Daily(), w.head("daily start of") + fmt.Sprintf(timer, "OnUnitInactiveSec=24h")},
	}
	if w.Dream > 0 {
		files = append(files,
			UnitFile{w.Dreams(), w.head("dream of") + fmt.Sprintf(dreams, command(w.dream()), w.confined())},
			UnitFile{w.Timer(), w.head("when to dream of") + fmt.Sprintf(timer, "OnBootSec=30min\nOnUnitActiveSec="+span(w.Dream))})
	}
	return files, nil
}

func (w Unit) head(what string) string {
	return fmt.Sprintf("# Written by stig worker install. To remove it, type stig worker install %s --remove\n[Unit]\nDescription=%s\n",
		w.Actor, specifiers(fmt.Sprintf("stig: %s %s on %s", what, w.Actor, w.Repo)))
}

// confined is what the processes of a unit run with, and may do.
func (w Unit) confined() string {
	var b strings.Builder
	if w.User != "" {
		b.WriteString("User=" + specifiers(w.User) + "\n")
	}
	for _, variable := range w.Env {
		b.WriteString("Environment=" + unitQuoted(variable) + "\n")
	}
	if w.EnvFile != "" {
		b.WriteString("EnvironmentFile=-" + specifiers(w.EnvFile) + "\n")
	}
	b.WriteString(bounds)
	if w.User != "" {
		b.WriteString(machineBounds)
		for _, dir := range append([]string{w.Repo}, w.Writes...) {
			b.WriteString("ReadWritePaths=" + unitQuoted("-"+dir) + "\n")
		}
	}
	return b.String()
}

// command is a command line as ExecStart takes it. The colon keeps variables from
// being expanded, so that a dollar sign stands for itself.
func command(argv []string) string {
	words := []string{unitQuoted(":" + argv[0])}
	for _, word := range argv[1:] {
		words = append(words, unitQuoted(word))
	}
	return strings.Join(words, " ")
}

// unitQuoted is a word of a list; see systemd.syntax(7) and systemd.unit(5), "Specifiers".
func unitQuoted(word string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `%`, `%%`).Replace(word) + `"`
}

// specifiers keeps a percent sign from beginning a specifier.
func specifiers(text string) string { return strings.ReplaceAll(text, "%", "%%") }

// span is a time as systemd reads it, in its greatest whole unit; see systemd.time(7).
func span(d time.Duration) string {
	switch {
	case d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d%time.Minute == 0:
		return fmt.Sprintf("%dmin", d/time.Minute)
	}
	return fmt.Sprintf("%ds", max(1, d/time.Second))
}
