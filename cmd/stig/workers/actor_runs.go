package workers

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/assistant"
	"stig/internal/loop/actors"
	"stig/internal/workspace"
)

func runsCommand(a *cli.App) *cobra.Command {
	var r actors.RunsRequest
	cmd := &cobra.Command{
		Use:   "runs [NAME]",
		Short: "list the runs of an actor, oldest first",
		Long: "List the runs of an actor's loop, or of all loops, oldest first, and at the end how many runs\n" +
			"had each outcome, how long they took, and what they cost, by currency.",
		Args:    cli.Takes(0, 1, "one name at most"),
		Example: "  stig actor runs\n  stig actor runs bo\n  stig actor runs bo --since 1d --json | jq '[.runs[].cost] | add'",
		RunE: func(_ *cobra.Command, args []string) error {
			if r.All = len(args) == 0; !r.All {
				r.Name = args[0]
			}
			list, err := actors.Runs(a.Run, r)
			return a.Result("runs", struct {
				Actor string       `json:"actor"`
				Runs  []actors.Run `json:"runs"`
			}{r.Name, list}, err, func() error { return printRuns(a, list, r.All) })
		},
	}
	cmd.Flags().StringVar(&r.Since, "since", "", "only runs since `WHEN`: a day, a time or an age such as 7d (default 7d)")
	cli.Filters(cmd, "since")
	return cmd
}

func logCommand(a *cli.App) *cobra.Command {
	var r actors.LogRequest
	cmd := &cobra.Command{
		Use:   "log NAME",
		Short: "print the output of the last run of an actor",
		Long: "Print the output of the last run of an actor, or of the run that --run names. --follow keeps\n" +
			"printing until the run ends. With --follow, and on a terminal, the JSON that Claude Code,\n" +
			"Codex, the Gemini CLI and OpenCode print is shown as readable lines, and control characters\n" +
			"are escaped; elsewhere the output is printed byte for byte.",
		Args:    cli.Takes(1, 1, "one name"),
		Example: "  stig actor log bo --follow\n  stig actor log bo --run r-4f21c09ab7",
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Name = args[0]
			if a.JSON {
				var text bytes.Buffer
				run, err := actors.Log(cmd.Context(), a.Run, r, &text)
				if err != nil {
					return err
				}
				return a.PrintJSON("run-log", struct {
					Actor string     `json:"actor"`
					Run   actors.Run `json:"run"`
					Text  string     `json:"text"`
				}{r.Name, run, text.String()})
			}
			w := &shownLines{app: a, readable: r.Follow || a.ToTerminal()}
			_, err := actors.Log(cmd.Context(), a.Run, r, w)
			if r.Follow && errors.Is(err, context.Canceled) {
				err = nil // an interrupt is how one stops following
			}
			return errors.Join(err, w.flush())
		},
	}
	flags := cmd.Flags()
	flags.BoolVarP(&r.Follow, "follow", "f", false, "keep printing until the run ends")
	flags.StringVar(&r.Run, "run", "", "print the output of the run `ID`")
	return cmd
}

// shownLines prints whole lines, so that no character is cut in two.
type shownLines struct {
	app      *cli.App
	readable bool // print events of assistants' programs as text, and control characters escaped
	rest     []byte
}

var _ io.Writer = (*shownLines)(nil)

func (s *shownLines) Write(text []byte) (int, error) {
	s.rest = append(s.rest, text...)
	end := bytes.LastIndexByte(s.rest, '\n') + 1
	if end == 0 {
		return len(text), nil
	}
	err := s.put(s.rest[:end])
	s.rest = append([]byte{}, s.rest[end:]...)
	return len(text), err
}

func (s *shownLines) flush() error { return s.put(s.rest) }

func (s *shownLines) put(text []byte) error {
	switch {
	case len(text) == 0:
		return nil
	case s.readable:
		return s.app.Print(workspace.Visible(assistant.ReadableText(string(text))))
	}
	return s.app.Data(string(text))
}
