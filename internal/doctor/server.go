package doctor

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"stig/internal/service"
	"stig/internal/store/jsonl"
	"stig/internal/store/sql"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// server examines the server that holds the issues, the connection to it, and the copy in git.
func (e *examination) server() {
	s, err := service.ExamineServer(e.ctx, e.app, e.store)
	if err != nil {
		e.failed("server", err)
		return
	}
	writable := "writable by this user"
	switch {
	case s.ReadOnly():
		writable = "read-only for this user"
		e.todo("rights", s.Refusal.Reason+": stig reads the store but does not write to it", s.Refusal.Hint)
	case !s.Writable():
		writable = "partly writable by this user"
		e.todo("rights", "this user may not write "+strings.Join(s.Denied, ", ")+"; claims and edits are refused",
			"ask for the privileges on the server: GRANT SELECT, INSERT, UPDATE, DELETE on all its tables")
	}
	e.ok("server", "%s %s, tables of version %d, answers in %v, %s", s.Kind, s.Version, s.Schema, s.Latency.Round(10*time.Microsecond), writable)
	if len(s.Wrong) > 0 {
		e.todo("tables", "stig_edges differs from the lines of "+visible.Some(s.Wrong, 3)+": another program wrote the tables", "stig doctor --migrate")
	}
	e.cluster(s.Cluster)
	e.login(s)
	switch {
	case s.Cipher != "":
		e.ok("tls", "%s", s.Cipher)
	case s.Local:
		e.ok("tls", "none, and none is needed: the server is on this machine")
	default:
		e.todo("tls", "the connection is not encrypted", `set up TLS on the server, and remove "tls": "off" from `+e.store.Path)
	}
	e.copied()
}

// cluster looks at the cluster that the server is a node of. A node without quorum has
// refused what was asked before.
func (e *examination) cluster(c sql.Cluster) {
	switch {
	case c.Nodes == 0: // none
	case c.State != "Synced":
		e.todo("cluster", fmt.Sprintf("the node is %s, with %d edits to make: what is read here may be behind", c.State, c.Queue), "wait until it is Synced, or name another node")
	case c.Nodes < 3:
		e.todo("cluster", fmt.Sprintf("%d of its nodes are there; when one more is lost nothing can be read or written", c.Nodes), "run three nodes or more, on machines of their own")
	default:
		e.ok("cluster", "%d nodes have the quorum, and this one has all but %d edits", c.Nodes, c.Queue)
	}
}

func (e *examination) login(s service.ExaminedServer) {
	user := cmp.Or(s.User, "no name")
	if s.From == "" {
		e.todo("login", fmt.Sprintf("connects as %s without a password", user), "set a password for the user on the server")
		return
	}
	e.ok("login", "connects as %s with the password from %s", user, s.From)
}

// copied examines the file in git that is a copy of the store.
func (e *examination) copied() {
	if e.store.File() == "" {
		e.ok("copy", "no copy is kept in git; stig store sync creates one")
		return
	}
	name := workspace.Shortest(filepath.Join(e.store.Dir, jsonl.CopyFile))
	s, err := service.SyncCopy(e.ctx, e.app, true)
	switch {
	case err != nil:
		e.failed("copy", err)
	case s.Behind:
		e.todo("copy", name+" is behind the server", "stig store sync")
	default:
		e.ok("copy", "%s is current", name)
	}
}

// Migrate migrates stig's tables on a server to the version of this program, and examines
// nothing else. A dry run reports what it would do.
func Migrate(ctx context.Context, a *workspace.Run, dryRun bool) (*Report, error) {
	url, from, to, err := service.MigrateServer(ctx, a, dryRun)
	if err != nil {
		return nil, err
	}
	e := &examination{app: a, ctx: ctx}
	switch {
	case from == to:
		e.ok("tables", "%s: version %d, which this stig needs", url, to)
	case dryRun:
		e.todo("tables", fmt.Sprintf("%s: version %d; this stig needs version %d", url, from, to), "stig doctor --migrate")
	default:
		e.ok("tables", "%s: migrated from version %d to %d", url, from, to)
	}
	return e.report(), nil
}
