package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"stig/beads"
	"stig/process"
)

func (a *app) initCommand() *cobra.Command {
	var prefix string
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "init",
		Short: "make an empty store in this repository",
		Long: "Make .beads with an empty issues.jsonl in the directory of -C, else at the root\n" +
			"of the git repository, else here. Ids begin with the prefix, which is kept in\n" +
			".beads/prefix until issues show it; config.yaml, if there is one, counts more.",
		GroupID: "store",
		Args:    takes(0, 0, "nothing"),
		Example: "  stig init --prefix demo",
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := a.home(cmd.Context())
			if err != nil {
				return err
			}
			if prefix, err = a.prefix(prefix, dir); err != nil {
				return err
			}
			return a.init(cmd.Context(), dir, prefix, dryRun)
		},
	}
	cmd.Flags().StringVar(&prefix, "prefix", "", "what ids begin with (default the name of the directory)")
	a.writes(cmd, &dryRun)
	return cmd
}

// home is the directory that gets the store.
func (a *core) home(ctx context.Context) (string, error) {
	for _, named := range []struct{ what, path string }{{"--store", a.store}, {"BEADS_DIR", a.getenv("BEADS_DIR")}} {
		if named.path != "" {
			return "", usage(fmt.Sprintf("init: makes %s, and %s names %s", filepath.Join(".beads", "issues.jsonl"), named.what, named.path),
				"leave "+named.what+" out; -C DIR says where the store goes")
		}
	}
	if a.dir != "" {
		return a.dir, nil
	}
	if !process.Finder("", a.getenv)("git") {
		return ".", nil
	}
	result, err := a.gitIn("").Run(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return "", err
	}
	root := strings.TrimRight(string(result.Stdout), "\r\n")
	if result.Exit != 0 || root == "" {
		return ".", nil
	}
	return filepath.FromSlash(root), nil
}

func (a *core) prefix(given, dir string) (string, error) {
	if given == "" {
		return beads.PrefixOf(dir)
	}
	given = strings.TrimRight(given, "-")
	if err := beads.CheckPrefix(given); err != nil {
		return "", usage(err.Error(), "such as --prefix demo, which gives ids like demo-4k2")
	}
	return given, nil
}

func (a *app) init(ctx context.Context, dir, prefix string, dryRun bool) error {
	if dryRun {
		return a.previewInit(dir, prefix)
	}
	store, made, err := beads.Init(dir, prefix)
	if err != nil {
		return err
	}
	if a.json {
		files := []string{}
		for _, f := range made {
			files = append(files, shortest(f))
		}
		return a.printJSON("init", map[string]any{"store": shortest(store.Path), "prefix": prefix, "made": files, "dry_run": false})
	}
	if err := a.printf("made %s; ids begin with %s-\n", shortest(store.Path), prefix); err != nil {
		return err
	}
	a.warnOfIgnored(ctx, store)
	a.hint("type stig create TITLE to add the first issue")
	return nil
}

// warnOfIgnored says when git leaves a new store out, so that nobody else would
// get it.
func (a *core) warnOfIgnored(ctx context.Context, store beads.Store) {
	if !process.Finder("", a.getenv)("git") {
		return
	}
	argv := []string{"git", "check-ignore", "-q", "--", filepath.Base(store.Path)}
	result, err := process.Run(ctx, process.Command{Argv: argv, Dir: store.Dir, Env: a.environ()})
	if err == nil && result.Exit == 0 {
		a.warn("git ignores the store: nobody else gets it, and it has no history")
		a.hint("take .beads out of .gitignore, or type git add -f " + shortest(store.Path))
	}
}

// previewInit shows the files that init would make. The store is empty, so that
// the diff has no line of it.
func (a *app) previewInit(dir, prefix string) error {
	store, files, err := beads.Blank(dir, prefix)
	if err != nil {
		return err
	}
	path, diff := shortest(store.Path), ""
	for _, f := range files {
		diff += hostFile{path: f.Path}.diff(nil, []byte(f.Text))
	}
	if a.json {
		return a.printJSON("init", map[string]any{"store": path, "prefix": prefix, "made": []string{}, "dry_run": true, "diff": diff})
	}
	if err := a.print(diff); err != nil {
		return err
	}
	a.note("would make %s; ids begin with %s-", path, prefix)
	return nil
}
