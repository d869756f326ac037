package sql

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"stig/internal/fault"
	"stig/internal/store/mysql"
)

// idle is how long, in seconds, a server waits for the next statement of a transaction.
// A machine that is cut off in the middle of one holds the counter of versions, for which
// all others wait; without this, servers wait for eight hours.
const idle = 20

// write runs a transaction on a connection that the server ends when it is left idle. do
// sends the statements; token is that of the event which they put into stig_events. An
// error other than that of Store.unknown means that nothing was written.
func (s *Store) write(ctx context.Context, token []byte, do func(execer) error) error {
	conn, err := s.writer(ctx)
	if err != nil {
		return broken(err)
	}
	defer conn.Close()
	defer s.alone(ctx, conn)()
	sent, err := transact(ctx, conn, do)
	switch {
	case err == nil, mysql.Unmerged(err):
		return err
	case !sent:
		return broken(err)
	}
	return s.outcome(ctx, token, err)
}

// execer is a connection, or what has many.
type execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// transact runs do in a transaction. sent reports whether COMMIT was sent: of an error it is
// then unknown what became of the transaction.
//
// A connection on which COMMIT or ROLLBACK did not succeed is closed. A node without quorum
// refuses both and keeps the transaction: what was asked next on that connection would see
// its rows, and what was written next would be committed with them.
func transact(ctx context.Context, conn *sql.Conn, do func(execer) error) (sent bool, err error) {
	if _, err = conn.ExecContext(ctx, "START TRANSACTION"); err == nil {
		err = do(conn)
	}
	end := "COMMIT"
	if err = cmp.Or(err, ctx.Err()); err != nil {
		end = "ROLLBACK"
	}
	_, failed := conn.ExecContext(context.WithoutCancel(ctx), end)
	if failed != nil {
		discard(conn)
	}
	return end == "COMMIT", cmp.Or(err, failed)
}

// discard closes a connection to the server, which another use of the pool does not get.
func discard(conn *sql.Conn) {
	_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // gives that error
}

// alone waits on Dolt until no other edit is being written, and gives what ends that. Of
// two transactions at the same time Dolt undoes one, whatever they change, so that many
// would start over again and again; other servers let the second wait by themselves. It
// only saves time: without it edits are as safe, and slower.
func (s *Store) alone(ctx context.Context, conn *sql.Conn) (end func()) {
	if !s.isDolt() {
		return func() {}
	}
	var got sql.NullInt64
	err := conn.QueryRowContext(ctx, "SELECT GET_LOCK(CONCAT('stig ', DATABASE()), 10)").Scan(&got)
	if err != nil || got.Int64 != 1 {
		return func() {}
	}
	return func() {
		_ = conn.QueryRowContext(context.WithoutCancel(ctx), "SELECT RELEASE_LOCK(CONCAT('stig ', DATABASE()))").Scan(&got)
	}
}

// isDolt reports whether the store that was read is on Dolt.
func (s *Store) isDolt() bool {
	s.reaching.Lock()
	defer s.reaching.Unlock()
	return s.latest.dolt
}

// broken marks an error of a connection that died before COMMIT was sent.
func broken(err error) error {
	if err != nil && mysql.Gone(err) {
		return fmt.Errorf("%w: %w", errBroken, err)
	}
	return err
}

// writer gives a connection for a transaction.
func (s *Store) writer(ctx context.Context) (*sql.Conn, error) {
	conn, err := s.DB().Conn(ctx)
	if err != nil {
		return nil, err
	}
	var own any
	_ = conn.Raw(func(driver any) error { own = driver; return nil }) // gives the error of the function
	if s.writers.has(own) {
		return conn, nil
	}
	if _, err := conn.ExecContext(ctx, fmt.Sprintf("SET SESSION wait_timeout = %d", idle)); err != nil {
		_ = conn.Close()
		return nil, err
	}
	s.writers.add(own)
	return conn, nil
}

// outcome finds out what became of a transaction whose COMMIT failed with err: nil where it
// was committed. A server that says that it was undone is asked as well: a node that loses
// the quorum while it commits cannot know what the others made of it.
func (s *Store) outcome(ctx context.Context, token []byte, err error) error {
	asked, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.patience)
	defer cancel()
	for {
		written, askErr := s.written(asked, token)
		switch {
		case askErr == nil && written:
			return nil
		case askErr == nil:
			return fmt.Errorf("%w: %w", errBroken, err)
		}
		select {
		case <-asked.Done():
			return s.unknown(err)
		case <-time.After(leastWait*4 + rand.N(leastWait)):
		}
	}
}

// written reports whether the edit with that token is in the store. The answer is final:
// the statement before the question waits until a transaction that is still open ends, and
// where nobody waits (Dolt, other nodes of a cluster) keeps it from being committed, for
// both change turn. A node outside the Primary component of its cluster refuses the
// statement; one inside is told to wait for all that was committed before.
func (s *Store) written(ctx context.Context, token []byte) (bool, error) {
	conn, err := s.DB().Conn(ctx)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	defer discard(conn) // so that nothing else waits as this question does
	// Servers that make no clusters do not know the variable.
	_, _ = conn.ExecContext(ctx, "SET SESSION wsrep_sync_wait = 1")
	if _, err := conn.ExecContext(ctx, "UPDATE stig_meta SET turn = ? WHERE one = 1", newToken()); err != nil {
		return false, err
	}
	var n int
	err = conn.QueryRowContext(ctx, "SELECT COUNT(*) FROM stig_events WHERE token = ?", token).Scan(&n)
	return n > 0, err
}

// unknown says that nobody can say whether an edit was written.
func (s *Store) unknown(err error) error {
	return &fault.Error{Code: fault.Store, Path: s.url, Cause: err,
		Reason: fmt.Sprintf("the connection died while the edit was being committed, and the server did not answer for %v whether it was written", s.patience),
		Hint:   "when the server answers again, look with stig show ID whether the edit is there before you run the command again"}
}

// connections are those of the driver that were prepared for writing.
type connections struct {
	mu   sync.Mutex
	made map[any]bool
}

func (c *connections) has(own any) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.made[own]
}

func (c *connections) add(own any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.made == nil || len(c.made) > 100 { // most of them died
		c.made = map[any]bool{}
	}
	c.made[own] = true
}
