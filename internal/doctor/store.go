package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"stig/internal/beads"
	"stig/internal/process"
	"stig/internal/service"
	"stig/internal/store/bd"
	"stig/internal/store/jsonl"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// variables lists the environment variables that change what stig does.
var variables = []string{
	"STIG_ACTOR", "BD_ACTOR", "BEADS_DIR", "STIG_DB_USER", "STIG_TRUST", "NO_COLOR", "CLICOLOR_FORCE", "VISUAL", "EDITOR", "STIG_NOW",
}

func (e *examination) environment() {
	var set []string
	for _, name := range variables {
		if value := e.app.Getenv(name); value != "" {
			set = append(set, name+"="+value)
		}
	}
	if len(set) == 0 {
		set = []string{"no variable that stig reads is set"}
	}
	e.ok("environment", "%s", strings.Join(set, ", "))
	if fixed := e.app.Getenv("STIG_NOW"); fixed != "" {
		if _, err := e.app.Clock(); err != nil {
			e.failed("clock", err)
			return
		}
		e.todo("clock", "STIG_NOW fixes the time at "+fixed+": every write gets that date", "unset STIG_NOW, unless this is a test")
	}
}

func (e *examination) actor() {
	name, err := e.app.ActorName(e.ctx)
	switch {
	case err != nil:
		e.failed("actor", err)
	case name == "":
		e.todo("actor", "no actor set", "export STIG_ACTOR=NAME")
	default:
		e.ok("actor", "%s", name)
	}
}

// findStore finds the store without the configuration, which may be broken.
func (e *examination) findStore() bool {
	where := e.app.Where()
	store, err := jsonl.Discover(where)
	if err != nil && where.File == "" && where.BeadsDir == "" {
		if err = e.app.Vacant(e.ctx, where.Dir); err == nil {
			e.todo("store", "no .beads directory with issues between here and the root of the repository", "stig init")
			return false
		}
	}
	if err != nil {
		e.failed("store", err)
		return false
	}
	store.Path = workspace.Shortest(store.Path)
	e.store = store
	file, err := e.app.At(store).Snapshot()
	if err != nil {
		e.failed("store", err)
		return false
	}
	defer file.Close()
	if problems := file.Problems(); len(problems) > 0 {
		e.broken("store", fmt.Sprintf("%s: problems in %s, the first in line %d: %s", store.Name(),
			visible.Counted(len(problems), "line"), problems[0].Line, problems[0].Message), "stig vet")
		return true
	}
	if refused := service.ReadOnly(store); refused != nil {
		said := workspace.Classify(refused)
		e.todo("store", said.Message+": stig reads it but does not write to it", said.Hint)
		return true
	}
	if n := e.ahead(file); n > 0 {
		e.todo("clock", fmt.Sprintf("%s dated more than a day ahead: every merge prefers them", visible.Counted(n, "issue")), "stig vet --fix")
	}
	e.ok("store", "%s: %s", store.Name(), visible.Counted(file.Len(), "issue"))
	return true
}

// ahead counts the issues whose last change is more than a day ahead.
func (e *examination) ahead(file *beads.Snapshot) (n int) {
	now, err := e.app.Clock()
	if err != nil {
		return 0
	}
	for _, issue := range file.All() {
		if issue.UpdatedAt.Sub(now) > 24*time.Hour {
			n++
		}
	}
	return n
}

// trackers reports which tracker owns the store, and which tracker programs are installed.
func (e *examination) trackers() {
	switch e.store.Mode {
	case beads.BD:
		e.byBD()
	case beads.Export:
		refused := workspace.Classify(bd.Refuse(e.store))
		e.todo("mode", strings.TrimPrefix(refused.Message, e.store.Path+": ")+"; stig reads it but does not write to it", refused.Hint)
	case beads.Server:
		e.ok("mode", "a server holds the issues")
		e.server()
	default:
		if e.store.NoDB {
			e.ok("mode", "the file is the store; bd works on it too (no-db in config.yaml)")
			break
		}
		e.ok("mode", "the file is the store")
	}
	for _, program := range []string{"bd", "br"} {
		if e.have(program) {
			e.program(program, "version")
		}
	}
}

// byBD reports whether bd serves the issues.
func (e *examination) byBD() {
	if err := e.app.BD().Check(e.ctx, e.store); err != nil {
		e.failed("mode", err)
		return
	}
	e.ok("mode", "bd keeps the issues in a database; stig reads bd's export and writes through bd")
}

// patience is the timeout for a program to print its version.
const patience = 5 * time.Second

func (e *examination) program(name string, argv ...string) {
	ctx, done := context.WithTimeout(e.ctx, patience)
	defer done()
	result, err := process.Run(ctx, process.Command{Argv: append([]string{name}, argv...), Dir: e.store.Dir, Env: e.app.Environ()})
	if err == nil && result.Exit != 0 {
		err = fmt.Errorf("exit %d", result.Exit)
	}
	if err != nil {
		e.todo(name, fmt.Sprintf("is on PATH but does not print its version: %v", err), "see what "+name+" "+strings.Join(argv, " ")+" says")
		return
	}
	said, _, _ := strings.Cut(strings.TrimSpace(string(result.Stdout)), "\n")
	if against := bd.Withdrawn(said); name == "bd" && against != "" {
		e.todo(name, strings.TrimSpace(said)+": "+against, "install a later bd, and check that bd doctor finds nothing")
		return
	}
	e.ok(name, "%s", strings.TrimSpace(said))
}
