package mysql

import (
	"context"
	"database/sql/driver"

	mysql "github.com/go-sql-driver/mysql"
)

// cluster makes connections to the first of several servers that can be used: one that is cut
// off from most of its cluster takes connections and answers nothing.
type cluster []driver.Connector

// Connect implements driver.Connector. The error is that of the first server.
func (c cluster) Connect(ctx context.Context) (driver.Conn, error) {
	var failed error
	for _, node := range c {
		made, err := node.Connect(ctx)
		if err == nil {
			one := &connection{conn: made.(conn)}
			if len(c) == 1 {
				return one, nil
			}
			if err = one.ready(ctx); err == nil {
				return one, nil
			}
			_ = one.Close() // it is of no use
		}
		if failed == nil {
			failed = err
		}
	}
	return nil, failed
}

// Driver implements driver.Connector.
func (c cluster) Driver() driver.Driver { return c[0].Driver() }

// conn is what a connection of the driver can do.
type conn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.NamedValueChecker
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// connection is one that is not used again after its server said that it has no quorum:
// the next is made to a server that has it.
type connection struct {
	conn
	lost bool
}

// QueryContext implements driver.QueryerContext.
func (c *connection) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	rows, err := c.conn.QueryContext(ctx, query, args)
	c.lost = c.lost || NoQuorum(err)
	return rows, err
}

// ExecContext implements driver.ExecerContext.
func (c *connection) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	result, err := c.conn.ExecContext(ctx, query, args)
	c.lost = c.lost || NoQuorum(err)
	return result, err
}

// IsValid implements driver.Validator.
func (c *connection) IsValid() bool { return !c.lost && c.conn.IsValid() }

// ready asks whether the server answers questions. Those that make no clusters know no such
// status.
func (c *connection) ready(ctx context.Context) error {
	rows, err := c.conn.QueryContext(ctx, "SHOW STATUS LIKE 'wsrep_ready'", nil)
	if err != nil {
		return nil // whoever asks next is told why
	}
	defer rows.Close()
	status := make([]driver.Value, 2)
	if err := rows.Next(status); err != nil {
		return nil
	}
	if value, ok := status[1].([]byte); ok && string(value) == "OFF" {
		return &mysql.MySQLError{Number: notReady, Message: "the node is not ready"}
	}
	return nil
}
