package issue

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/service"
	"stig/internal/workspace"
	"stig/signals"
)

// Helpers that several commands share.

// flagName returns the flag that sets a signal.
func flagName(s signals.Signal) string {
	if s == signals.PlanningDepth {
		return "depth"
	}
	return s.String()
}

// given returns the value of a flag, or nil if it was not given or the command does not have
// it.
func given(cmd *cobra.Command, name string) *string {
	flag := cmd.Flags().Lookup(name)
	if flag == nil || !flag.Changed {
		return nil
	}
	value := flag.Value.String()
	return &value
}

// signalNamed returns the signal of that name.
func signalNamed(name string) (signals.Signal, error) {
	s, ok := signals.Named(name)
	if !ok {
		return 0, workspace.Usage(fmt.Sprintf("signal: must be one of %s; found %q", signalNames(), name), "")
	}
	return s, nil
}

func signalNames() string {
	var names []string
	for _, s := range signals.All() {
		names = append(names, s.String())
	}
	return strings.Join(names, ", ")
}

// usageOf returns the help text of a signal's flag.
func usageOf(s signals.Signal) string {
	switch {
	case s == signals.Surprise:
		return "how far the work departed from its description, 0.0 to 1.0"
	case s == signals.EvidenceFreshness:
		return "day of the newest evidence, YYYY-MM-DD or absent"
	case s == signals.PlanningDepth:
		return strings.Join(s.Domain(), ", ") + ", or auto: derived from cynefin"
	}
	return strings.Join(s.Domain(), ", ")
}

// reason returns the value of --reason, or else the text.
func reason(a *cli.App, flag string, t cli.Text) (string, error) {
	if flag != "" && t.Given() {
		return "", workspace.Usage("the reason is given twice", "omit one of them")
	}
	if flag != "" {
		return flag, nil
	}
	return a.Read(t)
}

// lines reads the file that --from names.
func lines(a *cli.App, from string) ([]byte, error) {
	text, err := a.Read(cli.Text{File: from})
	if err != nil {
		return nil, workspace.Usage("--from: "+err.Error(), "")
	}
	return []byte(text), nil
}

// bindTrial binds the flags of a command that runs checks.
func bindTrial(cmd *cobra.Command, o *service.GateRunOptions) {
	flags := cmd.Flags()
	flags.BoolVar(&o.KeepGoing, "keep-going", false, "continue after a failed check")
	flags.BoolVar(&o.AllowDestructive, "allow-destructive", false, "also run destructive or publishing commands in a fence marked verify")
	cli.SpanVar(flags, &o.Timeout, "timeout", "end each check after `TIME` (default 10m, or as configured)")
	cli.SpanVar(flags, &o.Deadline, "deadline", "end all checks after `TIME` (default 30m, or as configured)")
}
