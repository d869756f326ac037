package workers

import (
	"cmp"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/loop/actors"
)

func installCommand(a *cli.App) *cobra.Command {
	var r actors.InstallRequest
	cmd := &cobra.Command{
		Use:   "install NAME",
		Short: "start a worker with the machine",
		Long: "Write systemd units that start the loop of a worker when the machine starts, restart it if it\n" +
			"was killed, and start its dream from time to time; on macOS, launchd property lists. They are\n" +
			"user units, which end when you log out unless lingering is on. Write keys that the command\n" +
			"needs into ~/.config/stig/worker.env, as lines NAME=value.",
		Args:    cli.Takes(1, 1, "one worker"),
		Example: "  stig worker install tide --print\n  stig worker install tide\n  stig worker install tide --remove",
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Name = args[0]
			done, err := actors.Install(cmd.Context(), a.Run, r)
			if done == nil {
				return err
			}
			return errors.Join(printInstalled(a, r, done, err), err)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&r.Print, "print", false, "print the units, write nothing")
	flags.BoolVar(&r.Remove, "remove", false, "stop the worker and remove its units")
	a.Writes(cmd, &r.DryRun)
	cli.Exclude(cmd, "print", "remove", "dry-run")
	return cmd
}

func printInstalled(a *cli.App, r actors.InstallRequest, done *actors.Installed, failed error) error {
	switch {
	case a.JSON && failed != nil:
		return nil // the error is the JSON object
	case a.JSON:
		return a.PrintJSON("worker-installed", done)
	case r.DryRun:
		return a.Print(cmp.Or(done.Diff, "nothing would change\n"))
	}
	var text strings.Builder
	for _, f := range done.Files {
		switch {
		case r.Print:
			text.WriteString("# " + f.Path + "\n" + f.Text + "\n")
		case r.Remove:
			text.WriteString(f.Path + ": removed\n")
		case f.Written:
			text.WriteString(f.Path + ": written\n")
		default:
			text.WriteString(f.Path + ": is current\n")
		}
	}
	if r.Remove && len(done.Files) == 0 {
		text.WriteString(done.Name + ": no units are installed\n")
	}
	if done.Started {
		text.WriteString(done.Name + ": started\n")
	}
	if err := a.Print(text.String()); err != nil {
		return err
	}
	for _, hint := range done.Hints {
		a.Hint(hint)
	}
	return nil
}
