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

// What the flags of several commands share.

// flagName is the flag that sets a signal.
func flagName(s signals.Signal) string {
	if s == signals.PlanningDepth {
		return "depth"
	}
	return s.String()
}

// given is the text of a flag; nil where the flag was not given, or is none of the
// command's.
func given(cmd *cobra.Command, name string) *string {
	flag := cmd.Flags().Lookup(name)
	if flag == nil || !flag.Changed {
		return nil
	}
	value := flag.Value.String()
	return &value
}

// signalNamed finds a signal by its name.
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

// usageOf tells the values of a signal in the help of its flag.
func usageOf(s signals.Signal) string {
	switch {
	case s == signals.Surprise:
		return "how far the work left its description, 0.0 to 1.0"
	case s == signals.EvidenceFreshness:
		return "day of the newest evidence, YYYY-MM-DD or absent"
	case s == signals.PlanningDepth:
		return strings.Join(s.Domain(), ", ") + ", or auto: what follows from cynefin"
	}
	return strings.Join(s.Domain(), ", ")
}

// reason is what a flag says, or else a text.
func reason(a *cli.App, flag string, t cli.Text) (string, error) {
	if flag != "" && t.Given() {
		return "", workspace.Usage("the reason is given twice", "leave one of them out")
	}
	if flag != "" {
		return flag, nil
	}
	return a.Read(t)
}

// lines reads what --from names, a line for each issue.
func lines(a *cli.App, from string) ([]byte, error) {
	text, err := a.Read(cli.Text{File: from})
	if err != nil {
		return nil, workspace.Usage("--from: "+err.Error(), "")
	}
	return []byte(text), nil
}

// bindTrial binds the flags of a command that runs checks.
func bindTrial(cmd *cobra.Command, o *service.TrialOptions) {
	flags := cmd.Flags()
	flags.BoolVar(&o.KeepGoing, "keep-going", false, "run the checks after one that failed too")
	flags.BoolVar(&o.AllowDestructive, "allow-destructive", false, "run what destroys or publishes, in a fence that is marked verify")
	cli.SpanVar(flags, &o.Timeout, "timeout", "end each check after `TIME` (10m unless configured)")
	cli.SpanVar(flags, &o.Deadline, "deadline", "end all of them after `TIME` (30m unless configured)")
}
