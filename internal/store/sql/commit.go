package sql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
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
func (s *Store) write(ctx context.Context, token []byte, do func(*sql.Tx) error) error {
	conn, err := s.writer(ctx)
	if err != nil {
		return broken(err)
	}
	defer conn.Close()
	defer s.alone(ctx, conn)()
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return broken(err)
	}
	if err := do(tx); err != nil {
		_ = tx.Rollback() // so does the server, whatever comes of this
		return broken(err)
	}
	return s.commit(ctx, tx, token)
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
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held != nil && s.held.Shape&onDolt != 0
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

// commit ends a transaction. When the answer is lost it finds out what became of it.
func (s *Store) commit(ctx context.Context, tx *sql.Tx, token []byte) error {
	err := tx.Commit()
	switch {
	case err == nil:
		return nil
	case mysql.Again(err), mysql.Unmerged(err):
		return err
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, sql.ErrTxDone):
		return err // COMMIT was not sent
	}
	asked, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.patience)
	defer cancel()
	for {
		written, askErr := s.written(asked, token)
		switch {
		case askErr == nil && written:
			return nil
		case askErr == nil:
			return broken(err)
		}
		select {
		case <-asked.Done():
			return s.unknown(err)
		case <-time.After(leastWait * 4):
		}
	}
}

// written reports whether the edit with that token is in the store. The answer is final:
// the statement before the question waits until a transaction that is still open ends,
// and where nobody waits (Dolt) keeps it from being committed, for both change turn.
func (s *Store) written(ctx context.Context, token []byte) (bool, error) {
	if _, err := s.DB().ExecContext(ctx, "UPDATE stig_meta SET turn = ? WHERE one = 1", newToken()); err != nil {
		return false, err
	}
	var n int
	err := s.DB().QueryRowContext(ctx, "SELECT COUNT(*) FROM stig_events WHERE token = ?", token).Scan(&n)
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
