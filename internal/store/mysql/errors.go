package mysql

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql/driver"
	"errors"
	"io"
	"io/fs"
	"net"
	"slices"
	"strings"

	mysql "github.com/go-sql-driver/mysql"

	"stig/internal/fault"
)

// Again reports whether an error means that the transaction was rolled back because of
// concurrent writes, and has to be retried.
func Again(err error) bool {
	return is(err, deadlock, lockTimeout, changedSince, tidbRetry, tidbConflict, tidbSchemaChanged)
}

// NoQuorum reports whether an error means that a node of a cluster answers no queries: it lost
// the majority of the cluster, or has not caught up with it.
func NoQuorum(err error) bool { return is(err, notReady) }

// Uncommitted reports whether an error means that a COMMIT failed on the server: it may have
// lost its cluster, or its disk is full.
func Uncommitted(err error) bool { return is(err, commitFailed) }

// Repeated reports whether an error means that a row with that key exists.
func Repeated(err error) bool { return is(err, duplicate) }

// Denied reports whether an error means that the user lacks a privilege, or that the server is
// read-only.
func Denied(err error) bool {
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok && e.Number == doltError {
		return strings.HasPrefix(e.Message, "command denied to user") || strings.HasPrefix(e.Message, noRightOnTable) // Dolt has no number for it
	}
	return frozen(err) || is(err, tableDenied, columnDenied, specificDenied, tidbDenied)
}

// frozen reports whether an error means that the server is read-only.
func frozen(err error) bool { return is(err, readOnlyOption, readOnlyMode, readOnlyTransaction) }

// noRightOnTable begins Dolt's message for a user without any privilege on a table.
const noRightOnTable = "Access denied for user"

// Unmerged reports whether an error means that Dolt rolled the transaction back because a merge
// left conflicts in the branch. The error has no number of its own.
func Unmerged(err error) bool {
	return is(err, doltError) && strings.Contains(err.Error(), "Merge conflict detected")
}

// Unknown reports whether an error means that a table or column does not exist.
func Unknown(err error) bool { return is(err, noTable, noColumn) }

// Gone reports whether an error means that the connection was lost or could not be made. Whether
// the server executed the last statement is then unknown.
func Gone(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false // of the caller; DeadlineExceeded is a net.Error too
	}
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, mysql.ErrInvalidConn) || errors.Is(err, mysql.ErrMalformPkt) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.As(err, new(net.Error)) || unready(err) ||
		is(err, shutdown, killedQuery, killed, tooMany, aborted, restarting, notReady, tidbPlacement, tidbStore, tidbBusy, tidbLocks, tidbRegion)
}

// unready reports whether Dolt refused a session because another database of the server is
// being created or dropped.
func unready(err error) bool {
	e, ok := errors.AsType[*mysql.MySQLError](err)
	return ok && e.Number == doltError && strings.HasPrefix(e.Message, "could not resolve initial root for database")
}

// Unreached reports whether an error means that no connection could be made.
func Unreached(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}

// Error numbers of servers.
const (
	doltError           = 1105 // errors without a number of their own
	tooMany             = 1040
	noRight             = 1044
	wrongPassword       = 1045
	noDatabase          = 1049
	shutdown            = 1053
	duplicate           = 1062
	noTable             = 1146
	noColumn            = 1054
	tableDenied         = 1142
	columnDenied        = 1143
	lockTimeout         = 1205
	deadlock            = 1213
	specificDenied      = 1227
	changedSince        = 1020
	readOnlyOption      = 1290
	killedQuery         = 1317
	readOnlyTransaction = 1792
	readOnlyMode        = 1836
	killed              = 1927
	aborted             = 1152
	restarting          = 4031
	notReady            = 1047 // a node of a cluster
	commitFailed        = 1180
)

// Error numbers of TiDB (https://docs.pingcap.com/tidb/stable/error-codes).
const (
	tidbTooMuch       = 8004 // a transaction
	tidbRetry         = 8022
	tidbTooLarge      = 8025 // a row
	tidbSchemaChanged = 8028
	tidbDenied        = 8121 // INSERT, UPDATE and DELETE
	tidbPlacement     = 9001 // a part of the cluster failed, as those below
	tidbStore         = 9002
	tidbBusy          = 9003
	tidbLocks         = 9004
	tidbRegion        = 9005
	tidbConflict      = 9007
)

func is(err error, numbers ...uint16) bool {
	e, ok := errors.AsType[*mysql.MySQLError](err)
	if !ok {
		return false
	}
	return slices.Contains(numbers, e.Number)
}

// The privileges for reading and writing, and those for creating and altering tables.
const (
	working = "SELECT, INSERT, UPDATE, DELETE"
	making  = working + ", CREATE, ALTER, INDEX"
)

// deniedTo returns what was denied and the privileges that it needs, for an error for which
// Denied is true. Servers begin their messages with the denied command.
func deniedTo(err error) (denied, rights string) {
	e, _ := errors.AsType[*mysql.MySQLError](err)
	command, _, _ := strings.Cut(e.Message, " command denied")
	if strings.HasPrefix(command, noRightOnTable) {
		command = "SELECT"
	}
	switch command {
	case "SELECT":
		return "may not be read by this user", working
	case "CREATE", "ALTER", "INDEX", "DROP":
		return "this user may not make or change tables", making
	}
	return "may only be read by this user", working
}

// quoted returns the name of a database for SQL.
func quoted(name string) string {
	plain := func(r rune) bool {
		return r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	}
	if strings.ContainsFunc(name, func(r rune) bool { return !plain(r) }) {
		return "`" + strings.ReplaceAll(name, "`", "``") + "`"
	}
	return name
}

// Explain adds the server's URL and a hint to an error. It returns a *fault.Error with the code
// fault.Store, whose ID is the URL.
func Explain(c Config, err error) error {
	e := &fault.Error{Code: fault.Store, ID: c.URL(), Reason: err.Error(), Hint: "check the server's log", Err: err}
	database, branch, _ := strings.Cut(c.Database, "/")
	certificate, isCertificate := errors.AsType[*tls.CertificateVerificationError](err)
	var unknownHost *net.DNSError
	switch {
	case Unmerged(err):
		e.Reason, e.Hint = "a merge left conflicts in the database, which prevent writing", "resolve them with CALL DOLT_CONFLICTS_RESOLVE, or undo the merge: CALL DOLT_MERGE('--abort')"
	case is(err, wrongPassword):
		e.Reason, e.Hint = "the server refused the user or the password", "correct the password in the credentials file or in STIG_DB_PASSWORD, or the user in the URL"
	case is(err, noRight):
		e.Reason, e.Hint = "the user may not use this database", "ask for the right on the server: GRANT "+working+" ON "+quoted(database)+".* TO the user"
	case is(err, noDatabase) && branch != "":
		e.Reason, e.Hint = "database "+database+" or its branch "+branch+" not found", "create the branch in the database: CALL DOLT_BRANCH('"+branch+"')"
	case is(err, noDatabase):
		e.Reason, e.Hint = "database "+c.Database+" not found", "create it on the server: CREATE DATABASE "+quoted(c.Database)
	case frozen(err):
		e.Reason, e.Hint = "the server is read-only", "use the server that it replicates, or have read_only turned off on it"
	case Denied(err):
		denied, rights := deniedTo(err)
		e.Reason, e.Hint = denied, "ask for the right on the server: GRANT "+rights+" ON "+quoted(database)+".* TO the user"
	case Again(err):
		e.Reason, e.Hint = "others were writing at the same time", "run the command again"
	case is(err, tidbTooLarge, tidbTooMuch):
		e.Hint = "raise txn-entry-size-limit and txn-total-size-limit in the configuration of the server, or shorten the text"
	case Unknown(err):
		e.Hint = "check whether somebody changed the tables, or restore them from a backup"
	case NoQuorum(err):
		e.Reason, e.Hint = "the server has no quorum: it is cut off from most of its cluster, or has just started", "wait until the cluster has a majority again, or name another node of it"
	case Uncommitted(err):
		e.Reason, e.Hint = "the server could not commit: "+err.Error(), "check its cluster and its disk space, and run the command again"
	case is(err, tooMany):
		e.Reason, e.Hint = "the server has too many connections", "raise max_connections on the server, or stop other programs"
	case errors.As(err, new(x509.HostnameError)):
		e.Reason, e.Hint = "TLS: "+certificate.Err.Error(), "use the host name of the server's certificate in the URL"
	case errors.As(err, new(x509.CertificateInvalidError)):
		e.Reason, e.Hint = "TLS: "+certificate.Err.Error(), "renew the server's certificate"
	case isCertificate:
		e.Reason, e.Hint = "TLS: "+certificate.Err.Error(), "name the file of the authority that signed the server's certificate: as ca in .beads/stig.json, or with stig init --ca"
	case errors.Is(err, mysql.ErrNoTLS):
		e.Reason, e.Hint = "the server has no TLS, and the password would be sent unencrypted", "set up TLS on the server"
	case errors.As(err, &unknownHost):
		e.Reason, e.Hint = "host "+unknownHost.Name+" not found", "correct the host in the URL"
	case errors.As(err, new(*fs.PathError)):
		e.Reason, e.Hint = "CA certificates: "+err.Error(), "correct the path that ca names in .beads/stig.json"
	case Gone(err) || errors.Is(err, context.DeadlineExceeded):
		e.Reason, e.Hint = "the server does not answer: "+err.Error(), "see that the server runs and that the port is right"
	}
	return e
}
