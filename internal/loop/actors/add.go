package actors

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/git"
	"stig/internal/process"
	"stig/internal/store/jsonl"
	"stig/internal/visible"
	"stig/internal/workspace"
	"stig/signals"
)

const (
	// tryLimit is the timeout for the test run of a new worker's command.
	tryLimit = 2 * time.Minute
	// keptOfTry is how many characters of its output are shown.
	keptOfTry = 2000
	// noProgram is the exit code of a shell that does not find a program.
	noProgram = 127

	tryText = "This tests whether stig worker add can start you. Change nothing and answer with the single word OK.\n"
)

// AddRequest is the input of Add and Register.
type AddRequest struct {
	Name        string
	Kind        string // "" for an agent
	Roles       []string
	Command     string
	Description string
	NoTry       bool // skip the test run of the command
	DryRun      bool // run and write nothing
}

// Added is the result of Add.
type Added struct {
	Name    string `json:"name"`
	File    string `json:"file"`
	Said    string `json:"said"`    // output of the test run
	Tried   bool   `json:"tried"`   // there was a test run
	Trusted bool   `json:"trusted"` // its loop may run the command
	DryRun  bool   `json:"dry_run"`
	Diff    string `json:"diff"`
}

// Add tests the command of a new worker with a question that needs no work, then writes the
// worker's file and registers it. A person who adds a worker thereby agrees to its command.
func Add(ctx context.Context, a *workspace.Run, r AddRequest) (*Added, error) {
	if strings.TrimSpace(r.Command) == "" {
		return nil, workspace.Usage("--command: required", `give the command that works on an issue, such as --command "claude -p"`)
	}
	root, p, err := r.file(ctx, a)
	if err != nil {
		return nil, err
	}
	added := &Added{Name: r.Name, File: workspace.Shortest(clone.ProfilePath(root, r.Name)), DryRun: r.DryRun}
	if err := exists(ctx, a, root, r.Command); err != nil {
		return nil, err
	}
	warnOfSecret(a, added.File, p.Text())
	file := workspace.HostFile{Path: clone.ProfilePath(root, r.Name), Root: root}
	step := file.Change(nil, []byte(p.Text()))[0] // one step, since the text is not empty
	if added.Diff = step.Diff; r.DryRun {
		return added, nil
	}
	if !r.NoTry {
		added.Tried = true
		if added.Said, err = try(ctx, a, r); err != nil {
			return nil, err
		}
	}
	if err := step.Do(); err != nil {
		return nil, err
	}
	if err := setState(a, r.Name, clone.Provisioning); err != nil {
		return nil, err
	}
	if added.Trusted, err = agree(ctx, a, p); err != nil {
		return nil, err
	}
	return added, setState(a, r.Name, clone.Healthy)
}

// Register writes the file of an actor that stig does not start: a person or a program.
func Register(ctx context.Context, a *workspace.Run, r AddRequest) (*Edited, error) {
	root, p, err := r.file(ctx, a)
	if err != nil {
		return nil, err
	}
	done := &Edited{Name: r.Name, File: below(root, p.Path), Changed: true, DryRun: r.DryRun}
	warnOfSecret(a, done.File, p.Text())
	file := workspace.HostFile{Path: p.Path, Root: root}
	step := file.Change(nil, []byte(p.Text()))[0] // one step, since the text is not empty
	if r.DryRun {
		done.Diff = step.Diff
		return done, nil
	}
	return done, step.Do()
}

// file returns the profile of a new actor. An existing file is an error.
func (r AddRequest) file(ctx context.Context, a *workspace.Run) (root string, p *clone.Profile, err error) {
	if err := clone.CheckName(r.Name); err != nil {
		return "", nil, err
	}
	if root, err = Root(a); err != nil {
		return "", nil, err
	}
	path := clone.ProfilePath(root, r.Name)
	if workspace.Exists(path) {
		return "", nil, &fault.Error{Code: fault.Usage, ID: r.Name, Err: fs.ErrExist, Reason: "already exists: " + workspace.Shortest(path),
			Hint: "edit the file, then type stig worker resume " + r.Name}
	}
	by, err := a.MustActor(ctx)
	if err != nil {
		return "", nil, err
	}
	now, err := a.Clock()
	if err != nil {
		return "", nil, err
	}
	p, err = clone.ParseProfile(path, r.text(by, now))
	return root, p, err
}

// text returns the contents of the actor's file.
func (r AddRequest) text(by string, now time.Time) string {
	var b strings.Builder
	b.WriteString("---\nname: " + scalar(r.Name) + "\nkind: " + cmp.Or(r.Kind, clone.Agent) + "\n")
	if r.Description != "" {
		b.WriteString("description: " + scalar(r.Description) + "\n")
	}
	if len(r.Roles) > 0 {
		var roles []string
		for _, role := range r.Roles {
			roles = append(roles, scalar(role))
		}
		b.WriteString("roles: [" + strings.Join(roles, ", ") + "]\n")
	}
	made := fmt.Sprintf("## Evolution\n\n- %s: made by %s\n", signals.Day(now), visible.OneLine(by))
	if r.Command == "" {
		return b.String() + "---\n\n" + made
	}
	b.WriteString("command: " + scalar(r.Command) + "\n---\n")
	seed := cmp.Or(r.Description, "Works on one issue after another.")
	fmt.Fprintf(&b, "\n## Seed\n\n%s\n\n## Values\n\nClaim that it works only where you saw it work.\nAsk a person where the issue does not say what is wanted.\n\n## Heartbeat\n\n## Learned\n\n%s",
		seed, made)
	return b.String()
}

// scalar returns text as a YAML scalar for front matter: unquoted if it is plain.
func scalar(text string) string {
	plain := text != "" && strings.IndexFunc(text, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '-' || r == '_')
	}) < 0
	switch strings.ToLower(text) {
	case "true", "false", "yes", "no", "on", "off", "null", "y", "n":
		plain = false
	}
	if plain && !strings.HasPrefix(text, "-") {
		return text
	}
	var b strings.Builder
	encoder := json.NewEncoder(&b) // JSON strings are valid YAML
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a string can always be encoded
	return strings.TrimSpace(b.String())
}

// exists returns an error if the first word of the command is a plain name that the shell does
// not find. Other commands can only be checked by running them.
func exists(ctx context.Context, a *workspace.Run, root, command string) error {
	word, _, _ := strings.Cut(strings.TrimSpace(command), " ")
	if strings.ContainsAny(word, "\"'\\$`(){}[]|&;<>*?~!#=\t") {
		return nil
	}
	found, err := process.Run(ctx, process.Command{Argv: []string{"sh", "-c", `command -v -- "$1"`, "sh", word}, Dir: root, Env: a.Environ()})
	if err != nil || found.Exit == 0 {
		return err
	}
	return &fault.Error{Code: fault.Usage, Reason: "--command: " + word + ": no such program", Hint: "install it, or give its path"}
}

// try runs a command once, with a question that needs no work, in a temporary directory: a work
// tree of HEAD, as in the loop, or an empty directory if there is no commit. Its output must
// contain the answer OK apart from the question.
func try(ctx context.Context, a *workspace.Run, r AddRequest) (said string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, tryLimit, fmt.Errorf("it did not answer within %s", tryLimit))
	defer cancel()
	temp, err := os.MkdirTemp("", "stig-try-*")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(temp) }()
	briefing, scratch := filepath.Join(temp, "briefing.md"), filepath.Join(temp, "empty")
	if err := errors.Join(os.WriteFile(briefing, []byte(tryText), 0o600), os.Mkdir(scratch, 0o700)); err != nil {
		return "", err
	}
	store, err := jsonl.Discover(a.Where())
	if err != nil {
		return "", err
	}
	trees, err := a.Trees(store)
	if err != nil {
		return "", err
	}
	hint, commit := "it ran in an empty directory: give its absolute path, or --no-try", ""
	if trees != nil {
		commit, _ = trees.Git.Commit(ctx, "HEAD") // there may be none yet
	}
	if commit != "" {
		dir, remove, err := git.DetachedTree(ctx, *trees, "try "+r.Name, commit)
		if err != nil {
			return "", err
		}
		defer func() { _ = remove(context.WithoutCancel(ctx)) }()
		scratch, hint = dir, "it ran in a work tree of HEAD: commit what it needs, or give --no-try"
	}
	env := a.EnvironFor("STIG_ACTOR="+r.Name, "STIG_RUN="+clone.NewRunID(), "STIG_BRIEFING="+briefing, "BEADS_DIR="+filepath.Clean(store.Dir))
	out := new(process.Dropped)
	result, err := process.Run(ctx, process.Command{Argv: []string{"sh", "-c", r.Command}, Dir: scratch, Env: env, Stdin: []byte(tryText), Stdout: out, Stderr: out, Limit: tryLimit})
	printed := strings.TrimSpace(string(result.Stderr))
	said = cmp.Or(workspace.Visible(visible.Clipped(printed, keptOfTry)), "(no output)")
	short := visible.Clipped(visible.OneLine(said), keptOfText)
	failed := func(how string) (string, error) {
		return said, &fault.Error{Code: fault.Found, ID: r.Name, Err: err, Reason: "test run of its command failed: " + how, Hint: hint}
	}
	switch {
	case err != nil:
		return failed(err.Error())
	case result.Exit == noProgram:
		return failed("program not found: " + short)
	case result.Exit != 0:
		return failed(fmt.Sprintf("exit code %d: %s", result.Exit, short))
	case printed == "":
		hint = "for a program that prints nothing, give --no-try"
		return failed("exit code 0 without output; it was asked to answer OK")
	case !answers(printed):
		return failed("it did not answer OK: " + short)
	}
	return said, nil
}

// answers reports whether an output contains the word OK apart from the question, which a
// program may repeat.
func answers(printed string) bool {
	printed = strings.ReplaceAll(printed, strings.TrimSpace(tryText), "")
	words := strings.FieldsFunc(printed, func(r rune) bool { return !unicode.IsLetter(r) })
	return slices.ContainsFunc(words, func(word string) bool { return strings.EqualFold(word, "OK") })
}

// agree records that the person who adds a worker agrees to its command. It reports whether the
// worker's loop may run the command.
func agree(ctx context.Context, a *workspace.Run, p *clone.Profile) (bool, error) {
	trust, err := a.TrustsActor(ctx, p)
	if err != nil {
		return false, err
	}
	who, err := a.ActorName(ctx)
	if err != nil || !trust.Repository || !a.ByPerson(who) {
		return trust.Agreed, err
	}
	return true, trust.AgreeToActor(p)
}

// setState sets the state of a worker on behalf of stig, and registers it.
func setState(a *workspace.Run, name string, state clone.State) error {
	now, err := a.Clock()
	if err != nil {
		return err
	}
	return edit(a, name, func(p *clone.Presence) bool {
		if p.First.IsZero() {
			p.First = now
		}
		p.Kind, p.State, p.By, p.Why, p.Until = clone.Agent, state, "", "", time.Time{}
		return true
	})
}

// warnOfSecret warns if the text of an actor's file contains what looks like a credential.
func warnOfSecret(a *workspace.Run, file, text string) {
	if found := visible.Secrets(text); len(found) > 0 {
		a.Warn("%s: contains what looks like %s; remove it before you commit, and revoke it where it was issued", file, found[0].Kind)
	}
}
