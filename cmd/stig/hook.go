package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stig/beads"
	"stig/dag"
	"stig/host"
	"stig/orient"
	"stig/signals"
)

const (
	// contextLimit is how many characters an assistant is given to begin
	// with, as its host counts them. Of more than 10,000 Claude Code shows the
	// beginning, and Codex leaves out the middle.
	contextLimit = 9000
	// eventLimit is how many bytes of an event are read. Some hold all of a
	// file that is about to be written.
	eventLimit = 64 << 20
	// hookLimit is how long a hook works: a git that hangs must not hold up a
	// session.
	hookLimit = 5 * time.Second
)

// hookAnswer makes the reply to an event; nil when there is nothing to say.
type hookAnswer func(*core, context.Context, host.Host, host.Event) []byte

// hookEvents are the events that hooks answer, by their names in settings.
func hookEvents() map[string]hookAnswer {
	return map[string]hookAnswer{
		"session-start": (*core).sessionStart,
		"pre-tool-use":  (*core).preToolUse,
		"stop":          (*core).stop,
		"pre-compact":   (*core).preCompact,
	}
}

func (a *app) hookCommand() *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "hook EVENT",
		Short: "answer the program of a coding assistant; see stig setup",
		Long: "Answer an event that the program of a coding assistant tells on standard input:\n" +
			"  session-start  gives the briefing of what you have claimed, or the survey\n" +
			"  pre-tool-use   denies what would close an issue past the gate, or write the store\n" +
			"  stop           reminds once of claimed work that has no checkpoint of today\n" +
			"  pre-compact    leaves a draft where claimed work has no state estimate\n" +
			"stig setup names it in the settings. Where there is no store it asks nothing. It never\n" +
			"ends with exit code 2, which would stop the assistant.",
		GroupID: "connect",
		Args:    cobra.ArbitraryArgs,
		Example: "  echo '{\"tool_input\":{\"command\":\"bd close demo-1\"}}' | stig hook pre-tool-use --host claude",
		RunE: func(cmd *cobra.Command, args []string) error {
			answer, ok := hookEvents()[strings.Join(args, " ")]
			if !ok {
				return a.misheard(fmt.Sprintf("stig hook: must be one of session-start, pre-tool-use, stop, pre-compact; found %q", strings.Join(args, " ")))
			}
			if !slices.Contains(host.Hosts(), host.Host(name)) {
				return a.misheard(fmt.Sprintf("--host: must be one of claude, codex, gemini, cursor; found %q", name))
			}
			return a.answer(cmd.Context(), answer, host.Host(name))
		},
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return a.misheard(err.Error()) })
	cmd.Flags().StringVar(&name, "host", string(host.Claude), "the `HOST` that asks: claude, codex, gemini, cursor")
	return cmd
}

// misheard says what is wrong with the command line of a hook. Exit code 2,
// which says so elsewhere, would have the host stop whatever it asked about.
func (a *app) misheard(message string) error {
	a.complain(message, "type stig setup --help")
	return foundError{}
}

// answer hears an event and writes the reply. Whatever goes wrong is no reason
// to break somebody's session, and neither is a mistake in here.
func (a *app) answer(ctx context.Context, answer hookAnswer, h host.Host) error {
	var text []byte
	if !isTerminal(a.in) {
		// What is cut short by an error is no JSON, and tells nothing.
		text, _ = io.ReadAll(io.LimitReader(a.in, eventLimit))
	}
	event := host.Hear(text)
	if info, err := os.Stat(event.Dir); a.dir == "" && err == nil && info.IsDir() {
		a.dir = event.Dir
	}
	ctx, cancel := context.WithTimeout(ctx, hookLimit)
	defer cancel()
	reply := a.reply(ctx, answer, h, event)
	if reply == nil {
		reply = h.Silence()
	}
	_, err := a.out.Write(reply)
	return err
}

func (a *app) reply(ctx context.Context, answer hookAnswer, h host.Host, e host.Event) (reply []byte) {
	defer func() {
		if r := recover(); r != nil {
			a.complain(fmt.Sprintf("a mistake in stig: %v", r), "")
			reply = nil
		}
	}()
	return answer(a.core, ctx, h, e)
}

// sessionStart gives the assistant something to begin with.
func (a *core) sessionStart(ctx context.Context, h host.Host, _ host.Event) []byte {
	file, actor, claims, err := a.claims(ctx)
	if err != nil {
		return nil
	}
	defer file.Close()
	if err := a.refuseUnfinished(ctx, file.Store()); err != nil {
		refused := classify(err)
		return h.Context(visible("Do not begin to work: stig cannot say what to do.\n\n" + refused.message + "\n" + refused.hint + "\n"))
	}
	rules, err := a.reading(file, signals.ThresholdStaleDays)
	if err != nil {
		return nil
	}
	graph := dag.New(file)
	lost := a.noteLost(ctx, file.Store())
	if lost != "" {
		lost += ": type stig recover to see what, and stig recover --apply to put it back.\n\n"
	}
	text, err := within(h, contextLimit-len(lost), func(budget int) (string, error) {
		if len(claims) == 1 {
			b, err := orient.Brief(file, graph, claims[0], orient.Request{Budget: budget}, rules)
			if err != nil {
				return "", err
			}
			return b.Markdown(), nil
		}
		s, err := orient.Look(file, graph, orient.SurveyRequest{As: actor, Budget: min(budget, orient.SurveyBudget)}, rules)
		if err != nil {
			return "", err
		}
		return s.Markdown(), nil
	})
	if err != nil {
		return nil
	}
	return h.Context(visible(lost + text))
}

// claims opens the store and lists what the actor has in progress.
func (a *core) claims(ctx context.Context) (file *beads.File, actor string, claims []int, err error) {
	store, err := a.discover()
	if err != nil {
		return nil, "", nil, err
	}
	if actor, err = a.actorName(ctx); err != nil {
		return nil, "", nil, err
	}
	if file, err = beads.Read(store); err != nil {
		return nil, "", nil, err
	}
	for i, issue := range file.All() {
		if actor == "" || issue.Status != "in_progress" || issue.Assignee != actor {
			continue
		}
		if at, ok := file.Index(issue.ID); ok && at == i {
			claims = append(claims, i)
		}
	}
	return file, actor, claims, nil
}

// within makes a text of at most so many characters, as the host counts them: a
// budget counts some of them once that a host counts two to four times, and the
// least that a text must say may be more than there is room for.
func within(h host.Host, limit int, text func(budget int) (string, error)) (string, error) {
	budget := limit
	for range 4 {
		t, err := text(budget)
		length := h.Length(visible(t))
		if err != nil || length <= limit {
			return t, err
		}
		budget = max(budget*limit/length*15/16, orient.MinBudget)
	}
	return fmt.Sprintf("The briefing is longer than %d characters: type stig orient to read it.\n", limit), nil
}
