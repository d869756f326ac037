package mysql_test

import (
	"errors"
	"strings"
	"testing"

	driver "github.com/go-sql-driver/mysql"

	"stig/fault"
	"stig/mysql"
)

// TestExplainDenied names what may not be done, and the rights that it takes.
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
		{"harbor", 1105, "command denied to user 'bo'@'%'", "may only be read by this user", "GRANT SELECT, "}, // Dolt
		{"a b/side", 1836, "Running in read-only mode", "may only be read by this user", "ON `a b`.* TO"},
		{"a-b", 1049, "Unknown database 'a-b'", "there is no database a-b", "CREATE DATABASE `a-b`"},
	} {
		err := mysql.Explain(mysql.Config{Host: "db.example", Database: c.database}, &driver.MySQLError{Number: c.number, Message: c.message})
		e, ok := errors.AsType[*fault.Error](err)
		if !ok || e.Reason != c.reason || !strings.Contains(e.Hint, c.hint) {
			t.Errorf("%s:\n got %+v", c.message, e)
		}
	}
}
