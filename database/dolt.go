package database

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"stig/beads"
)

// Dolt keeps commits besides transactions. stig makes one of its own tables after its
// edits, with who made them as the author. An edit is durable before: a process that dies
// in between leaves its changes to the next commit.

// versioned are the tables whose past Dolt keeps. What holds for a moment, stig_live, is in
// dolt_ignore.
var versioned = []any{"stig_lines", "stig_comments", "stig_others", "stig_events", "stig_meta"}

// isDolt reports whether a server is Dolt; false where it does not answer.
func isDolt(ctx context.Context, db *sql.DB) bool {
	var dolt bool
	err := db.QueryRowContext(ctx, "SELECT @@version_comment = 'Dolt'").Scan(&dolt)
	return err == nil && dolt
}

// ignoreLive keeps the table of live state out of all commits. Dolt forgets the row of an
// INSERT IGNORE where dolt_ignore was empty.
func ignoreLive(ctx context.Context, db *sql.DB) error {
	if _, err := db.ExecContext(ctx, "REPLACE INTO dolt_ignore VALUES ('stig_live', true)"); err != nil {
		return err
	}
	_, err := db.ExecContext(ctx, "CALL DOLT_ADD('dolt_ignore')")
	return err
}

// commit makes a commit of stig's tables, unless somebody else has made one of all that is
// in them. It is made in transactions of its own: DOLT_ADD takes a table as the
// transaction sees it, without what others committed since that began.
func commit(ctx context.Context, db *sql.DB, message, actor string) error {
	if _, err := db.ExecContext(ctx, "CALL DOLT_ADD(?"+strings.Repeat(", ?", len(versioned)-1)+")", versioned...); err != nil {
		return err
	}
	query, args := "CALL DOLT_COMMIT('-m', ?)", []any{message}
	if author := authorOf(actor); author != "" {
		query, args = "CALL DOLT_COMMIT('-m', ?, '--author', ?)", append(args, author)
	}
	_, err := db.ExecContext(ctx, query, args...)
	if err != nil && strings.Contains(err.Error(), "nothing to commit") {
		return nil
	}
	return err
}

// odd is what may not be in the name of an author.
var odd = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[<>\pC]+`) })

// authorOf is an actor as the author of a commit, who needs an address: the name again.
func authorOf(actor string) string {
	name := strings.TrimSpace(odd().ReplaceAllString(actor, " "))
	if name == "" {
		return ""
	}
	return fmt.Sprintf("%s <%s>", name, strings.ReplaceAll(name, " ", "."))
}

// interval is how far apart the commits of a process are at least.
const interval = time.Second

// commits makes commits of the edits of a process: after an edit at once, or an interval
// after the commit before. What fails is tried again with the next.
type commits struct {
	make func(message, author string) error

	mu      sync.Mutex
	pending []string    // edits that no commit has
	actors  []string    // who made them
	more    int         // of those, how many are not listed
	next    *time.Timer // runs until the next commit may be made; nil where it may be now
	closed  bool
}

// mostListed bounds the edits that a message lists.
const mostListed = 20

// add has an edit of an actor committed.
func (c *commits) add(edit, actor string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if actor != "" && !slices.Contains(c.actors, actor) {
		c.actors = append(c.actors, actor)
	}
	if len(c.pending) < mostListed {
		c.pending = append(c.pending, edit)
	} else {
		c.more++
	}
	if c.next == nil {
		c.commit()
	}
}

// commit commits what is pending. The caller holds c.mu, so that others wait who would
// make one commit more.
func (c *commits) commit() {
	message := strings.Join(c.pending, "; ")
	if c.more > 0 {
		message += fmt.Sprintf("; and %d more", c.more)
	}
	if c.make(message, strings.Join(c.actors, ", ")) == nil {
		c.pending, c.actors, c.more = nil, nil, 0
	}
	if !c.closed {
		c.next = time.AfterFunc(interval, c.tick)
	}
}

// tick is the end of an interval.
func (c *commits) tick() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next = nil
	if len(c.pending) > 0 && !c.closed {
		c.commit()
	}
}

// close commits what is pending; what is added later is committed at once.
func (c *commits) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next != nil {
		c.next.Stop()
		c.next = nil
	}
	c.closed = true
	if len(c.pending) > 0 {
		c.commit()
	}
}

// noted names an edit for the message of a commit: "stig checkpoint demo-1".
func noted(command string, changes []beads.Change) string {
	const most = 200
	text := "stig " + command
	for i, c := range changes {
		if len(text) > most {
			return text + fmt.Sprintf(" and %d more", len(changes)-i)
		}
		text += " " + c.ID
	}
	return text
}

// commitEdits makes a commit of what was edited. It goes on where the command that edited was
// interrupted: the edit is written.
func (s *Store) commitEdits(message, author string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*interval)
	defer cancel()
	return commit(ctx, s.DB(), message, author)
}
