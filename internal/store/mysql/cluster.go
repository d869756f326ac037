package mysql

import (
	"context"
	"database/sql/driver"

	mysql "github.com/go-sql-driver/mysql"
)

// cluster connects to the first usable server of several. A node without quorum accepts
// connections but answers no query.
type cluster []driver.Connector

// Connect implements driver.Connector. If no server is usable, it returns the first server's error.
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
			_ = one.Close() // it is unusable anyway
		}
		if failed == nil {
			failed = err
		}
	}
	return nil, failed
}

// Driver implements driver.Connector.
func (c cluster) Driver() driver.Driver { return c[0].Driver() }

// conn has the methods of the driver's connections.
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

// connection is not used again after its server reported that it has no quorum: the next
// connection goes to a server with quorum.
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

// ready returns an error if the server is a node that answers no queries. Servers without
// clusters do not have this status.
func (c *connection) ready(ctx context.Context) error {
	rows, err := c.conn.QueryContext(ctx, "SHOW STATUS LIKE 'wsrep_ready'", nil)
	if err != nil {
		return nil // the next query returns the reason
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
