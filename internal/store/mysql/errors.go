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

// Again reports whether an error means that the transaction was undone because others
// wrote at the same time, and is to be started over.
func Again(err error) bool {
	return is(err, deadlock, lockTimeout, changedSince, tidbRetry, tidbConflict, tidbSchemaChanged)
}

// NoQuorum reports whether an error means that a node of a cluster answers nobody: it is cut
// off from most of the others, or has not caught up with them.
func NoQuorum(err error) bool { return is(err, notReady) }

// Uncommitted reports whether an error means that the server began to commit and failed: it may
// have been cut off from its cluster, or have no room left.
func Uncommitted(err error) bool { return is(err, commitFailed) }

// Repeated reports whether an error means that a row with that key is there already.
func Repeated(err error) bool { return is(err, duplicate) }

// Denied reports whether an error means that the user, or anybody at present, may not
// do that.
func Denied(err error) bool {
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok && e.Number == doltError {
		return strings.HasPrefix(e.Message, "command denied to user") || strings.HasPrefix(e.Message, noRightOnTable) // Dolt has no number for it
	}
	return frozen(err) || is(err, tableDenied, columnDenied, specificDenied, tidbDenied)
}

// frozen reports whether an error means that the server takes no writes from anybody.
func frozen(err error) bool { return is(err, readOnlyOption, readOnlyMode, readOnlyTransaction) }

// noRightOnTable begins what Dolt says where the user has no right at all on a table.
const noRightOnTable = "Access denied for user"

// Unmerged reports whether an error means that Dolt undid the transaction because a merge
// left conflicts in the branch. It has no number of its own.
func Unmerged(err error) bool {
	return is(err, doltError) && strings.Contains(err.Error(), "Merge conflict detected")
}

// Unknown reports whether an error means that a table or column is not there.
func Unknown(err error) bool { return is(err, noTable, noColumn) }

// Gone reports whether an error means that the connection died, or that there was none:
// whether the server did what was asked last is then unknown.
func Gone(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false // of the caller: it has timeouts as the network does, and is none
	}
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, mysql.ErrInvalidConn) || errors.Is(err, mysql.ErrMalformPkt) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.As(err, new(net.Error)) || unready(err) ||
		is(err, shutdown, killedQuery, killed, tooMany, aborted, restarting, notReady, tidbPlacement, tidbStore, tidbBusy, tidbLocks, tidbRegion)
}

// unready reports whether Dolt made no session because another database of the server is
// being made or dropped at the moment.
func unready(err error) bool {
	e, ok := errors.AsType[*mysql.MySQLError](err)
	return ok && e.Number == doltError && strings.HasPrefix(e.Message, "could not resolve initial root for database")
}

// Unreached reports whether an error means that no connection could be made.
func Unreached(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}

// What servers say, by number.
const (
	doltError           = 1105 // whatever has no other number
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

// What TiDB says by numbers of its own (https://docs.pingcap.com/tidb/stable/error-codes).
const (
	tidbTooMuch       = 8004 // a transaction
	tidbRetry         = 8022
	tidbTooLarge      = 8025 // a row
	tidbSchemaChanged = 8028
	tidbDenied        = 8121 // INSERT, UPDATE and DELETE
	tidbPlacement     = 9001 // a part of the cluster, as those below
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

// The rights that working takes, and those that making and changing tables takes.
const (
	working = "SELECT, INSERT, UPDATE, DELETE"
	making  = working + ", CREATE, ALTER, INDEX"
)

// deniedTo says of an error for which Denied holds what the user may not do, and which
// rights that takes. Servers begin their messages with what was denied.
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

// quoted is the name of a database as SQL takes it.
func quoted(name string) string {
	plain := func(r rune) bool {
		return r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	}
	if strings.ContainsFunc(name, func(r rune) bool { return !plain(r) }) {
		return "`" + strings.ReplaceAll(name, "`", "``") + "`"
	}
	return name
}

// Explain says of an error of a server where it happened and what is to be done about
// it. The error is a *fault.Error with the code fault.Store, whose ID is the URL.
func Explain(c Config, err error) error {
	e := &fault.Error{Code: fault.Store, ID: c.URL(), Reason: err.Error(), Hint: "look into the log of the server", Err: err}
	database, branch, _ := strings.Cut(c.Database, "/")
	certificate, isCertificate := errors.AsType[*tls.CertificateVerificationError](err)
	var unknownHost *net.DNSError
	switch {
	case Unmerged(err):
		e.Reason, e.Hint = "a merge left conflicts in the database, and nothing can be written until they are resolved", "resolve them with CALL DOLT_CONFLICTS_RESOLVE, or undo the merge: CALL DOLT_MERGE('--abort')"
	case is(err, wrongPassword):
		e.Reason, e.Hint = "the server refused the user or the password", "correct the password in the credentials file or in STIG_DB_PASSWORD, or the user in the URL"
	case is(err, noRight):
		e.Reason, e.Hint = "the user may not use this database", "ask for the right on the server: GRANT "+working+" ON "+quoted(database)+".* TO the user"
	case is(err, noDatabase) && branch != "":
		e.Reason, e.Hint = "there is no database "+database+", or Dolt has no branch "+branch+" in it", "make the branch in the database: CALL DOLT_BRANCH('"+branch+"')"
	case is(err, noDatabase):
		e.Reason, e.Hint = "there is no database "+c.Database, "make it on the server: CREATE DATABASE "+quoted(c.Database)
	case frozen(err):
		e.Reason, e.Hint = "the server is read-only", "name the server that it is a copy of, or have read_only turned off on it"
	case Denied(err):
		denied, rights := deniedTo(err)
		e.Reason, e.Hint = denied, "ask for the right on the server: GRANT "+rights+" ON "+quoted(database)+".* TO the user"
	case Again(err):
		e.Reason, e.Hint = "others were writing at the same time", "run the command again"
	case is(err, tidbTooLarge, tidbTooMuch):
		e.Hint = "raise txn-entry-size-limit and txn-total-size-limit in the configuration of the server, or shorten the text"
	case Unknown(err):
		e.Hint = "see that nobody changed the tables, or put them back from a backup"
	case NoQuorum(err):
		e.Reason, e.Hint = "the server has no quorum: it is cut off from most of its cluster, or has just started", "wait until most of the cluster is together again, or name another node of it"
	case Uncommitted(err):
		e.Reason, e.Hint = "the server could not commit: "+err.Error(), "see that it is together with its cluster and has room, and run the command again"
	case is(err, tooMany):
		e.Reason, e.Hint = "the server has too many connections", "raise max_connections on the server, or let other programs end"
	case errors.As(err, new(x509.HostnameError)):
		e.Reason, e.Hint = "TLS: "+certificate.Err.Error(), "use the host name of the server's certificate in the URL"
	case errors.As(err, new(x509.CertificateInvalidError)):
		e.Reason, e.Hint = "TLS: "+certificate.Err.Error(), "renew the server's certificate"
	case isCertificate:
		e.Reason, e.Hint = "TLS: "+certificate.Err.Error(), "name the file of the authority that signed the server's certificate: as ca in .beads/stig.json, or with stig init --ca"
	case errors.Is(err, mysql.ErrNoTLS):
		e.Reason, e.Hint = "the server has no TLS, and a password would be sent openly", "set up TLS on the server"
	case errors.As(err, &unknownHost):
		e.Reason, e.Hint = "there is no host "+unknownHost.Name, "correct the host in the URL"
	case errors.As(err, new(*fs.PathError)):
		e.Reason, e.Hint = "the certificates of the authority: "+err.Error(), "correct the path that ca names in .beads/stig.json"
	case Gone(err) || errors.Is(err, context.DeadlineExceeded):
		e.Reason, e.Hint = "the server does not answer: "+err.Error(), "see that the server runs and that the port is right"
	}
	return e
}
