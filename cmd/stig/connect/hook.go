package connect

import (
	"context"
	"encoding/json"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/assistant"
	"stig/internal/service"
	"stig/internal/service/hooks"
	"stig/internal/workspace"
)

func HookCommand(a *cli.App) *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "hook EVENT",
		Short: "answer an assistant's hook event; see stig setup",
		Long: "Answer an event that an assistant's program sends on standard input:\n" +
			"  session-start  names the session, and prints the briefing of its claim, or the survey\n" +
			"  pre-tool-use   denies commands that close an issue without the gate or write the store\n" +
			"  post-tool-use  reports what another program removed from the store, or closed in it\n" +
			"  subagent-start names a subagent, and says what it must leave to its session\n" +
			"  stop           reports as post-tool-use does, and reminds of claims without a checkpoint\n" +
			"  pre-compact    writes a draft if claimed work has no state estimate\n" +
			"  session-end    records the end of the session: others may take its claims\n" +
			"stig setup writes the hooks. Without a store, a hook does nothing. A hook never ends with exit\n" +
			"code 2, which would stop the assistant.",
		Args:    cobra.ArbitraryArgs,
		Example: "  echo '{\"tool_input\":{\"command\":\"bd close demo-1\"}}' | stig hook pre-tool-use --host claude",
		RunE: func(cmd *cobra.Command, args []string) error {
			hook, err := hooks.ParseHook(strings.Join(args, " "), name)
			if err != nil {
				return misheard(a, err.Error())
			}
			return answerHook(cmd.Context(), a, hook)
		},
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return misheard(a, err.Error()) })
	cmd.Flags().StringVar(&name, "host", string(assistant.Claude), "the calling `HOST`: "+assistant.Names())
	return cmd
}

// misheard reports an invalid hook command line. The usual exit code 2 goes only to a person at
// a terminal: to a host it is an order to stop what it asked about.
func misheard(a *cli.App, message string) error {
	if cli.IsTerminal(a.In) {
		return workspace.Usage(strings.TrimPrefix(message, "stig "), "type stig setup --help")
	}
	a.Complain(message, "type stig setup --help")
	return workspace.Found()
}

// answerHook reads an event and writes the reply.
func answerHook(ctx context.Context, a *cli.App, hook hooks.Hook) error {
	var text []byte
	if !cli.IsTerminal(a.In) {
		// Input that is cut short by an error is invalid JSON and has no effect.
		text, _ = io.ReadAll(io.LimitReader(a.In, hooks.EventLimit))
	}
	reply, err := hooks.AnswerHook(ctx, a.Run, hook, text)
	if err != nil {
		a.Complain(err.Error(), "")
	}
	_, err = a.Out.Write(reply)
	return err
}

func SendCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:    service.SendName,
		Short:  "deliver the notification on standard input",
		Hidden: true,
		Args:   cli.Takes(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var p service.Delivery
			if err := json.NewDecoder(a.In).Decode(&p); err != nil {
				return workspace.Usage(service.SendName+": standard input: "+err.Error(), "stig starts this by itself")
			}
			return p.Deliver(cmd.Context(), a.Environ())
		},
	}
}
