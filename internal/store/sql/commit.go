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

// idle is how many seconds a server waits for the next statement of a transaction. A machine
// that is cut off in the middle of a transaction holds the row lock that all other writers
// need. The default of servers is eight hours.
const idle = 20

// write runs a transaction on a connection that the server closes when it is idle. do sends the
// statements. token is that of the event that do inserts into stig_events. Any error other than
// that of Store.unknown means that nothing was written.
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

// execer is a connection or a pool of them.
type execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// transact runs do in a transaction. sent reports whether COMMIT was sent: if it was, an error
// leaves the outcome unknown.
//
// If COMMIT or ROLLBACK fails, transact closes the connection. A node without quorum refuses
// both and keeps the transaction open: later queries on that connection would read its
// uncommitted rows, and a later COMMIT would include them.
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

// discard closes a connection to the server; the pool does not reuse it.
func discard(conn *sql.Conn) {
	_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // Raw returns this error
}

// alone waits on Dolt until no other edit is being written, and returns a function that ends
// this. Dolt rolls back one of two concurrent transactions, whatever they change, which causes
// many retries. Other servers make the second one wait. alone only saves time: edits are as
// safe without it.
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

// broken marks the error of a connection that was lost before COMMIT was sent.
func broken(err error) error {
	if err != nil && mysql.Gone(err) {
		return fmt.Errorf("%w: %w", errBroken, err)
	}
	return err
}

// writer returns a connection for a transaction.
func (s *Store) writer(ctx context.Context) (*sql.Conn, error) {
	conn, err := s.DB().Conn(ctx)
	if err != nil {
		return nil, err
	}
	var own any
	_ = conn.Raw(func(driver any) error { own = driver; return nil }) // Raw returns the error of the function
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

// outcome finds out what became of a transaction whose COMMIT failed with err. It returns nil
// if the transaction was committed. It also asks if the server reported a rollback: a node that
// loses quorum during COMMIT cannot know whether the other nodes committed.
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

// written reports whether the edit with that token is in the store. The answer is final: the
// UPDATE before the question waits until a transaction that is still open ends. Where it does
// not wait (Dolt, other nodes of a cluster) it prevents the COMMIT, because both change turn. A
// node outside the Primary component refuses the UPDATE; a node inside it waits until it has
// applied everything committed before.
func (s *Store) written(ctx context.Context, token []byte) (bool, error) {
	conn, err := s.DB().Conn(ctx)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	defer discard(conn) // later queries must not wait as this one does
	// Servers without clusters do not have this variable.
	_, _ = conn.ExecContext(ctx, "SET SESSION wsrep_sync_wait = 1")
	if _, err := conn.ExecContext(ctx, "UPDATE stig_meta SET turn = ? WHERE one = 1", newToken()); err != nil {
		return false, err
	}
	var n int
	err = conn.QueryRowContext(ctx, "SELECT COUNT(*) FROM stig_events WHERE token = ?", token).Scan(&n)
	return n > 0, err
}

// unknown returns the error for an edit whose outcome cannot be found out.
func (s *Store) unknown(err error) error {
	return &fault.Error{Code: fault.Store, Path: s.url, Cause: err,
		Reason: fmt.Sprintf("the connection was lost during COMMIT, and the server did not say within %v whether the edit was written", s.patience),
		Hint:   "before you retry, look with stig show ID whether the edit is there"}
}

// connections are the driver's connections that are prepared for writing.
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
	if c.made == nil || len(c.made) > 100 { // most of them are closed by then
		c.made = map[any]bool{}
	}
	c.made[own] = true
}
