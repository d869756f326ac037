package mysql_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"strings"
	"testing"

	driver "github.com/go-sql-driver/mysql"

	"stig/internal/fault"
	"stig/internal/store/mysql"
)

// TestExplainDenied: errors name the missing privileges, and other errors what to check.
func TestExplainDenied(t *testing.T) {
	for _, c := range []struct {
		database string
		number   uint16
		message  string
		reason   string
		hint     string
	}{
		{"harbor", 1142, "INSERT command denied to user 'bo'@'%' for table `harbor`.`stig_lines`", "may only be read by this user", "GRANT SELECT, INSERT, UPDATE, DELETE ON harbor.* TO the user"},
		{"harbor", 1142, "SELECT command denied to user 'bo'@'%'", "may not be read by this user", "GRANT SELECT, "},
		{"harbor", 1142, "CREATE command denied to user 'bo'@'%'", "this user may not make or change tables", "DELETE, CREATE, ALTER, INDEX ON harbor.*"},
		{"harbor", 1105, "Access denied for user 'bo'@'%' to table 'stig_live'", "may not be read by this user", "GRANT SELECT, "}, // Dolt
		{"harbor", 1105, "command denied to user 'bo'@'%'", "may only be read by this user", "GRANT SELECT, "},                     // Dolt
		{"a b/side", 1142, "UPDATE command denied to user 'bo'@'%'", "may only be read by this user", "ON `a b`.* TO"},
		{"harbor", 1290, "The MariaDB server is running with the --read-only option so it cannot execute this statement", "the server is read-only", "have read_only turned off"},
		{"harbor", 1836, "Running in read-only mode", "the server is read-only", "have read_only turned off"},
		{"harbor", 1045, "Access denied for user 'bo'@'localhost' (using password: YES)", "the server refused the user or the password", "in the credentials file or in STIG_DB_PASSWORD"},
		{"harbor", 1146, "Table 'harbor.stig_lines' doesn't exist", "Error 1146: Table 'harbor.stig_lines' doesn't exist", "from a backup"},
		{"harbor", 1213, "serialization failure: try restarting transaction", "others were writing at the same time", "run the command again"},
		{"harbor", 8121, "privilege check for 'Update' fail", "may only be read by this user", "GRANT SELECT, "}, // TiDB, as the next
		{"harbor", 9007, "Write conflict, txnStartTS=1, conflictStartTS=2", "others were writing at the same time", "run the command again"},
		{"harbor", 9002, "TiKV server timeout", "the server does not answer: Error 9002: TiKV server timeout", "see that the server runs"},
		{"harbor", 8025, "entry too large, the max entry size is 6291456", "Error 8025: entry too large, the max entry size is 6291456", "raise txn-entry-size-limit"},
		{"harbor", 1047, "WSREP has not yet prepared node for application use", "the server has no quorum: it is cut off from most of its cluster, or has just started", "name another node of it"},
		{"harbor", 1180, "Got error 6 \"No such device or address\" during COMMIT", "the server could not commit: Error 1180: Got error 6 \"No such device or address\" during COMMIT", "check its cluster and its disk space"},
		{"harbor", 1021, "Disk full", "Error 1021: Disk full", "check the server's log"},
		{"a-b", 1049, "Unknown database 'a-b'", "database a-b not found", "CREATE DATABASE `a-b`"},
	} {
		err := mysql.Explain(mysql.Config{Host: "db.example", Database: c.database}, &driver.MySQLError{Number: c.number, Message: c.message})
		e, ok := errors.AsType[*fault.Error](err)
		if !ok || e.Reason != c.reason || !strings.Contains(e.Hint, c.hint) {
			t.Errorf("%s:\n got %+v", c.message, e)
		}
	}
}

// TestExplainCertificate: only a certificate of an unknown authority needs ca, not one of another
// host or an expired one.
func TestExplainCertificate(t *testing.T) {
	for _, c := range []struct {
		err  error
		hint string
	}{
		{x509.HostnameError{Certificate: new(x509.Certificate), Host: "192.0.2.1"}, "use the host name of the server's certificate in the URL"},
		{x509.CertificateInvalidError{Cert: new(x509.Certificate), Reason: x509.Expired}, "renew the server's certificate"},
		{x509.UnknownAuthorityError{}, "name the file of the authority that signed the server's certificate: as ca in .beads/stig.json, or with stig init --ca"},
	} {
		e, ok := errors.AsType[*fault.Error](mysql.Explain(mysql.Config{Host: "192.0.2.1"}, &tls.CertificateVerificationError{Err: c.err}))
		if !ok || e.Hint != c.hint {
			t.Errorf("%v:\n got %+v", c.err, e)
		}
	}
}
