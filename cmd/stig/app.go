package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"stig/beads"
	"stig/cue"
	"stig/git"
	"stig/signals"
)

// core is what every front end shares: where the store is, who acts, the clock, the
// configuration, and whom to tell what no result says.
type core struct {
	getenv   func(string) string
	env      func() []string
	now      func() time.Time // the machine's clock; what is told and written has clock
	schema   *signals.Schema
	config   config
	own      notifications       // what the user's file says of them, whatever the repository does
	say      func(level, string) // what no result says
	progress io.Writer           // where checks print while they run
	terminal bool                // progress goes to a terminal

	ctx     context.Context // of the command that runs
	running string          // its name
	journal *journal        // of its edits; nil before the first

	dir   string // -C
	store string // --store
	actor string // --actor
}

// app is the world as the commands see it, and the flags they share.
type app struct {
	*core
	in       io.Reader
	out, err io.Writer

	json    bool
	quiet   bool
	noColor bool
	noInput bool
}

func newApp() *app {
	return front(os.Stdin, os.Stdout, os.Stderr, &core{getenv: os.Getenv, env: os.Environ, now: time.Now, schema: cue.Embedded()})
}

// front is a command line on three streams.
func front(in io.Reader, out, err io.Writer, c *core) *app {
	a := &app{core: c, in: in, out: out, err: err}
	c.say, c.progress, c.terminal = a.complaint, err, isTerminal(err)
	return a
}

// run executes one command line and gives the exit code.
func (a *app) run(ctx context.Context, args []string) int {
	root := a.command()
	root.SetArgs(args)
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && ctx.Err() != nil {
		return exitInterrupted
	}
	return a.report(err, cmd, args)
}

func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:   "stig",
		Short: "share a codebase through the issues in its repository",
		Long: "stig briefs a worker before work and keeps what was learned after it,\n" +
			"in the notes of the issues in .beads/issues.jsonl.",
		Example:       "  stig orient\n  stig orient ID\n  stig checkpoint ID --surprise 0.2 --done … --remains …",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          a.unknownCommand,
		RunE:          a.helpAlone,
	}
	flags := root.PersistentFlags()
	flags.StringVarP(&a.dir, "directory", "C", "", "act as if started in `DIR`")
	flags.StringVar(&a.store, "store", "", "use the store `FILE` instead of looking for one")
	flags.BoolVar(&a.json, "json", false, "print one JSON object")
	flags.BoolVarP(&a.quiet, "quiet", "q", false, "print results only, no hints")
	flags.BoolVar(&a.noColor, "no-color", false, "print without colour")
	flags.BoolVar(&a.noInput, "no-input", false, "ask nothing and open no editor, on a terminal too")
	root.PersistentPreRun = func(cmd *cobra.Command, _ []string) { a.ctx, a.running = cmd.Context(), called(cmd) }
	root.SetFlagErrorFunc(a.unknownFlag)
	root.AddGroup(
		&cobra.Group{ID: "work", Title: "Work:"},
		&cobra.Group{ID: "decide", Title: "Decide:"},
		&cobra.Group{ID: "check", Title: "Check:"},
		&cobra.Group{ID: "graph", Title: "Graph:"},
		&cobra.Group{ID: "store", Title: "Store:"},
		&cobra.Group{ID: "connect", Title: "Connect:"},
	)
	root.AddCommand(
		a.orientCommand(), a.checkpointCommand(), a.vetCommand(), a.checkCommand(), a.lintCommand(), a.explainCommand(), a.showCommand(),
		a.verifyCommand(), a.closeCommand(), a.reopenCommand(), a.trustCommand(),
		a.claimCommand(), a.releaseCommand(), a.propagateCommand(), a.reviewCommand(),
		a.escalateCommand(), a.escalationsCommand(), a.resolveCommand(), a.awaitCommand(), a.retroCommand(),
		a.initCommand(), a.createCommand(), a.editCommand(), a.depCommand(),
		a.hookCommand(), a.mcpCommand(), a.sendCommand(),
		a.signalsCommand(), a.schemaCommand(), a.versionCommand(), a.diffCommand(),
		a.logCommand(), a.recoverCommand(), a.undoCommand(), a.mergeCommand(), a.setupCommand(), a.doctorCommand(), a.skillCommand(), a.readyCommand(), a.cyclesCommand(), a.planCommand(), a.listCommand(), a.trajectoryCommand(), a.graphCommand(),
	)
	root.SetHelpCommandGroupID("connect")
	root.SetCompletionCommandGroupID("connect")
	a.reword(root)
	return root
}

// reword gives the commands that come with the library our words, and has them
// refuse what is not there as ours do.
func (a *app) reword(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Short, cmd.Long = "what a command does, and its flags", "help says what a command does, and its flags, as --help behind that command does."
			cmd.Run, cmd.RunE = nil, a.help
		case "completion":
			cmd.Short = "the script with which a shell completes command lines"
			cmd.Long = "completion prints the script with which a shell completes command lines. The help of\n" +
				"each shell says where it goes."
			cmd.Args, cmd.RunE = a.unknownCommand, a.helpAlone
			for _, shell := range cmd.Commands() {
				shell.Short = "the script for " + shell.Name()
			}
		}
	}
}

// help is the help of the command that is named, or of all.
func (a *app) help(cmd *cobra.Command, args []string) error {
	of, rest, err := cmd.Root().Find(args)
	if err != nil || len(rest) > 0 {
		return a.unknownCommand(of, rest)
	}
	of.InitDefaultHelpFlag()
	return of.Help()
}

// helpAlone is what a command does that has others below it and none was given.
func (a *app) helpAlone(cmd *cobra.Command, _ []string) error {
	if a.json {
		return usage(called(cmd)+": a command is missing", "")
	}
	return cmd.Help()
}

// clock is the time of this run in UTC: fixed by STIG_NOW, for tests and demos that
// print the same thing every day.
func (a *core) clock() (time.Time, error) {
	fixed := a.getenv("STIG_NOW")
	if fixed == "" {
		return a.now().UTC(), nil
	}
	t, err := time.Parse(time.RFC3339, fixed)
	if err != nil {
		return time.Time{}, usage(fmt.Sprintf("STIG_NOW: must be a time such as 2026-11-20T09:00:00Z; found %q", fixed), "type unset STIG_NOW, and the time is that of the machine")
	}
	return t.UTC(), nil
}

// environ is the environment that other programs are started in.
func (a *core) environ() []string { return a.env() }

// gitIn runs git in a directory.
func (a *core) gitIn(dir string) git.Client { return git.Client{Dir: dir, Env: a.environ()} }

// where says what of this run decides on the store.
func (a *core) where() beads.Where {
	return beads.Where{Dir: cmp.Or(a.dir, "."), File: a.store, BeadsDir: a.getenv("BEADS_DIR")}
}

// discover finds the store of this run, and the configuration that goes with it.
func (a *core) discover() (beads.Store, error) {
	store, err := beads.Discover(a.where())
	if err != nil {
		return store, err
	}
	store.Path = shortest(store.Path)
	return store, a.configure(store)
}

// shortest names a file below the working directory as one would type it.
func shortest(path string) string {
	here, err := os.Getwd()
	if err != nil || !filepath.IsAbs(path) {
		return path
	}
	below, err := filepath.Rel(here, path)
	if err != nil || !filepath.IsLocal(below) {
		return path
	}
	return below
}

// open reads the store and says on the error stream what of it is unreadable.
func (a *core) open() (*beads.File, error) {
	store, err := a.discover()
	if err != nil {
		return nil, err
	}
	file, err := beads.Read(store)
	if err != nil {
		return nil, err
	}
	a.warnOfStore(file)
	return file, nil
}

// writes binds the flags of a command that writes: a dry run prints the diff of
// the same computation, without its last step.
func (a *app) writes(cmd *cobra.Command, dryRun *bool) {
	cmd.Flags().BoolVar(dryRun, "dry-run", false, "print the diff of what would change, write nothing")
	a.acts(cmd)
}

// acts binds the flag of a command that says on record who had it done.
func (a *app) acts(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.actor, "actor", "", "act as `NAME` (default STIG_ACTOR, BD_ACTOR, git user.name)")
}
