package unit

import (
	"fmt"
	"strings"
	"time"
)

// Systemd gives the units of systemd for a worker: a service and a timer, and for one
// that dreams both once more.
func (w Worker) Systemd() ([]File, error) {
	if err := w.check(); err != nil {
		return nil, err
	}
	if strings.ContainsAny(w.Program, `"'\`) {
		return nil, fmt.Errorf("%s: systemd starts no program whose path has quotes or backslashes", w.Program)
	}
	files := []File{{w.Service(), w.service()}, {w.Daily(), w.daily()}}
	if w.Dream > 0 {
		files = append(files, File{w.Dreams(), w.dreams()}, File{w.Timer(), w.timer()})
	}
	return files, nil
}

// text is a unit that is being written.
type text struct{ strings.Builder }

func (t *text) linef(format string, args ...any) { fmt.Fprintf(t, format+"\n", args...) }

func (w Worker) head(t *text, what string) {
	t.linef("# Written by stig worker install. To remove it, type stig worker install %s --remove", w.Actor)
	t.linef("[Unit]")
	t.linef("Description=%s", specifiers(fmt.Sprintf("stig: %s %s on %s", what, w.Actor, w.Repo)))
}

// service keeps the loop running. What ended by itself with 1 did so after runs that
// left nothing, and must not be started again by itself; 6 says that only questions to
// people remain, 129, 130 and 143 that it was stopped. The rest is bounded by the start limit.
func (w Worker) service() string {
	t := &text{}
	w.head(t, "worker")
	if w.User != "" {
		t.linef("Wants=network-online.target\nAfter=network-online.target")
	}
	t.linef("StartLimitIntervalSec=1h\nStartLimitBurst=10\n")
	t.linef("[Service]")
	t.linef("ExecStart=%s", command(w.work()))
	t.linef("Restart=on-failure\nRestartSec=10\nRestartPreventExitStatus=1\nSuccessExitStatus=6 129 130 143")
	// The loop ends its command by itself; what is left of both is killed then. A
	// command that takes too much memory is a failed run and not the end of the loop.
	t.linef("KillMode=mixed\nTimeoutStopSec=60\nOOMPolicy=continue")
	w.confined(t)
	t.linef("\n[Install]\nWantedBy=%s", w.target())
	return t.String()
}

func (w Worker) target() string {
	if w.User != "" {
		return "multi-user.target"
	}
	return "default.target"
}

// dreams has the worker dream once.
func (w Worker) dreams() string {
	t := &text{}
	w.head(t, "dream of")
	t.linef("\n[Service]\nType=oneshot")
	t.linef("ExecStart=%s", command(w.dream()))
	t.linef("TimeoutStartSec=600")
	w.confined(t)
	return t.String()
}

// daily starts the loop again a day after it ended at one of its bounds, which are
// counted over 24 hours.
func (w Worker) daily() string {
	t := &text{}
	w.head(t, "daily start of")
	t.linef("\n[Timer]\nOnUnitInactiveSec=24h")
	t.linef("\n[Install]\nWantedBy=timers.target")
	return t.String()
}

func (w Worker) timer() string {
	t := &text{}
	w.head(t, "when to dream of")
	t.linef("\n[Timer]\nOnBootSec=30min\nOnUnitActiveSec=%s", span(w.Dream))
	t.linef("\n[Install]\nWantedBy=timers.target")
	return t.String()
}

// confined bounds what the processes of a unit may do. An assistant needs the network,
// its home, the repository, and the right to make namespaces for a sandbox of its own.
//
// A manager of a user can only confine the file system by a user namespace, in which
// every file of root is nobody's: ssh then refuses its configuration, and some systems
// allow none. There no more is taken than what needs no namespace.
func (w Worker) confined(t *text) {
	if w.User != "" {
		t.linef("User=%s", specifiers(w.User))
	}
	for _, variable := range w.Env {
		t.linef("Environment=%s", quoted(variable))
	}
	if w.EnvFile != "" {
		t.linef("EnvironmentFile=-%s", specifiers(w.EnvFile))
	}
	t.linef("MemoryMax=4G\nNoNewPrivileges=yes\nLockPersonality=yes\nRestrictRealtime=yes\nRestrictSUIDSGID=yes")
	if w.User == "" {
		return
	}
	t.linef("ProtectSystem=strict\nPrivateTmp=yes\nProtectClock=yes\nProtectControlGroups=yes\nProtectHostname=yes\nProtectKernelLogs=yes\nProtectKernelModules=yes\nProtectKernelTunables=yes")
	for _, dir := range append([]string{w.Repo}, w.Writes...) {
		t.linef("ReadWritePaths=%s", quoted("-"+dir))
	}
}

// command is a command line as ExecStart takes it. The colon keeps variables from
// being expanded, so that a dollar sign stands for itself.
func command(argv []string) string {
	words := []string{quoted(":" + argv[0])}
	for _, word := range argv[1:] {
		words = append(words, quoted(word))
	}
	return strings.Join(words, " ")
}

// quoted is a word of a list; see systemd.syntax(7) and systemd.unit(5), "Specifiers".
func quoted(word string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `%`, `%%`).Replace(word) + `"`
}

// specifiers keeps a percent sign from beginning a specifier.
func specifiers(text string) string { return strings.ReplaceAll(text, "%", "%%") }

// span is a time as systemd reads it; see systemd.time(7).
func span(d time.Duration) string {
	switch {
	case d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d%time.Minute == 0:
		return fmt.Sprintf("%dmin", d/time.Minute)
	}
	return fmt.Sprintf("%ds", max(1, d/time.Second))
}
