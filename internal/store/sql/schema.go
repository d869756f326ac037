package sql

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/store/mysql"
)

// schema is the version of the tables that this program reads and writes. While a store is
// being filled, stig_meta has unfilled instead, which no program accepts. The transaction that
// inserts the lines sets the version. The event of version 0 records since when the store is
// being filled, and by whom.
const (
	schema   = 2
	unfilled = 0
)

// tables creates the tables of version 2. Ids are bytes, so no collation equates two of them.
// Times are UTC by the server's clock. The statements use no feature that some servers lack: no
// CHECK, generated column, foreign key or full text.
//
// stig_lines has one row per issue. line is its line without the elements of its comments,
// which were at byte cut; cut is NULL if they are still in the line. Issues are ordered by pos,
// then id. The columns from status on repeat values of the line; see columns.
//
// stig_edges contains the dependency rows of the lines, as package dag reads them.
//
// stig_comments contains the elements of the comments, each with the separator before it, in
// the order of version, token, n.
//
// stig_others contains the lines that are not issues: blank lines, headers, lines of other
// types.
var tables = []string{
	`CREATE TABLE IF NOT EXISTS stig_lines (
		id VARBINARY(255) NOT NULL PRIMARY KEY,
		pos BIGINT NOT NULL,
		version BIGINT NOT NULL,
		line LONGBLOB NOT NULL,
		hash BINARY(32) NOT NULL,
		cut INT NULL,
		ending VARBINARY(2) NOT NULL,
		status VARCHAR(64) NOT NULL,
		issue_type VARCHAR(64) NOT NULL,
		priority INT NOT NULL,
		assignee VARCHAR(255) NOT NULL,
		title VARCHAR(500) NOT NULL,
		updated_at DATETIME NULL,
		` + newColumns + `,
		KEY stig_lines_version (version),
		KEY stig_lines_title (title_hash)` + charset,
	edgesTable,
	`CREATE TABLE IF NOT EXISTS stig_comments (
		issue VARBINARY(255) NOT NULL,
		version BIGINT NOT NULL,
		token VARBINARY(32) NOT NULL,
		n INT NOT NULL,
		comment VARBINARY(255) NOT NULL,
		body LONGBLOB NOT NULL,
		PRIMARY KEY (issue, version, token, n)` + charset,
	`CREATE TABLE IF NOT EXISTS stig_others (
		pos BIGINT NOT NULL PRIMARY KEY,
		line LONGBLOB NOT NULL,
		ending VARBINARY(2) NOT NULL` + charset,
	`CREATE TABLE IF NOT EXISTS stig_events (
		version BIGINT NOT NULL,
		token VARBINARY(32) NOT NULL,
		n INT NOT NULL,
		at DATETIME(6) NOT NULL,
		actor VARCHAR(255) NOT NULL,
		command VARCHAR(255) NOT NULL,
		issue VARBINARY(255) NOT NULL,
		changed VARCHAR(1000) NOT NULL,
		hash_before BINARY(32) NULL,
		hash_after BINARY(32) NULL,
		PRIMARY KEY (version, token, n),
		KEY stig_events_token (token),
		KEY stig_events_issue (issue)` + charset,
	liveTable,
	`CREATE TABLE IF NOT EXISTS stig_meta (
		one TINYINT NOT NULL PRIMARY KEY,
		schema_version INT NOT NULL,
		store VARBINARY(32) NOT NULL,
		version BIGINT NOT NULL,
		turn VARBINARY(32) NOT NULL,
		prefix VARCHAR(255) NOT NULL,
		bom TINYINT NOT NULL,
		unended TINYINT NOT NULL` + charset,
}

// newColumns are the columns of stig_lines that version 1 did not have.
const newColumns = "title_hash BINARY(32) NULL, parent VARBINARY(255) NULL, defer_until DATETIME NULL, closed_at DATETIME NULL, " +
	"cynefin VARCHAR(32) NULL, surprise DOUBLE NULL, progress VARCHAR(32) NULL, escalation VARCHAR(32) NULL"

const edgesTable = `CREATE TABLE IF NOT EXISTS stig_edges (
	issue VARBINARY(255) NOT NULL,
	n INT NOT NULL,
	target VARBINARY(255) NOT NULL,
	type VARBINARY(64) NOT NULL,
	PRIMARY KEY (issue, n),
	KEY stig_edges_target (target, type)` + charset

// liveTable creates the table of live state. ends is when a claim expires unless it is renewed;
// NULL for other documents.
const liveTable = `CREATE TABLE IF NOT EXISTS stig_live (
	name VARBINARY(255) NOT NULL PRIMARY KEY,
	text LONGBLOB NOT NULL,
	version BIGINT NOT NULL,
	changed DATETIME(6) NOT NULL,
	ends DATETIME(6) NULL,
	KEY stig_live_ends (ends)` + charset

const charset = ") DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"

// newToken returns a random name for an edit or a store. It is text because Dolt returns NULL
// for a VARBINARY that is not UTF-8 if another part of the UNION has text.
func newToken() []byte {
	token := make([]byte, 16)
	_, _ = rand.Read(token) // never fails
	return hex.AppendEncode(nil, token)
}

// Create creates the tables of a store in an empty database. It refuses (fault.Refused) a
// database that contains anything else. It completes what an interrupted run left.
func Create(ctx context.Context, o Options, prefix string) error {
	db := dial(o.Config)
	defer db.Close()
	return explain(o.Config, create(ctx, db, o, prefix, schema))
}

// Vacant refuses (fault.Refused) a database in which Create would fail. It writes nothing.
func Vacant(ctx context.Context, o Options) error {
	db := dial(o.Config)
	defer db.Close()
	return explain(o.Config, vacant(ctx, db, o.Config.URL()))
}

func create(ctx context.Context, db *sql.DB, o Options, prefix string, version int) error {
	if err := vacant(ctx, db, o.Config.URL()); err != nil {
		return err
	}
	for _, table := range tables {
		if _, err := db.ExecContext(ctx, table); err != nil {
			return err
		}
	}
	_, err := db.ExecContext(ctx, `INSERT INTO stig_meta (one, schema_version, store, version, turn, prefix, bom, unended) VALUES (1, ?, ?, 0, ?, ?, 0, 0)`,
		version, newToken(), newToken(), prefix)
	if mysql.Repeated(err) {
		return beads.AlreadyThere(o.Config.URL())
	}
	return err
}

// vacant refuses a database with tables other than those that an interrupted run of Create
// left.
func vacant(ctx context.Context, db *sql.DB, url string) error {
	// without information_schema: for that Dolt looks at all databases, and fails while one is
	// being created
	var name string
	var names, foreign []string
	err := each(ctx, db, "SHOW TABLES", nil, func() {
		names = append(names, name)
		if !strings.HasPrefix(name, "stig_") {
			foreign = append(foreign, name)
		}
	}, &name)
	if err != nil {
		return err
	}
	if len(foreign) > 0 {
		return &fault.Error{Code: fault.Refused, Path: url, Reason: fmt.Sprintf("the database is not empty: it has the table %s", foreign[0]),
			Hint: "create a database for the store alone: CREATE DATABASE NAME"}
	}
	if !slices.Contains(names, "stig_meta") {
		return nil
	}
	var one int
	err = db.QueryRowContext(ctx, "SELECT one FROM stig_meta").Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err == nil {
		err = beads.AlreadyThere(url)
	}
	return err
}

// schemaError returns an error if the tables have another version, or if the store is being
// filled.
func schemaError(ctx context.Context, db querier, url string, found int) error {
	switch {
	case found == unfilled:
		return filling(ctx, db, url)
	case found > schema:
		return &fault.Error{Code: fault.Store, Path: url, Reason: fmt.Sprintf("the tables have version %d; this stig supports versions up to %d", found, schema),
			Hint: "install a newer stig"}
	case found < schema:
		return &fault.Error{Code: fault.Store, Path: url, Reason: fmt.Sprintf("the tables have version %d; this stig needs version %d", found, schema),
			Hint: "type stig doctor --migrate"}
	}
	return nil
}

// ErrFilling is wrapped by the error for a store that is being filled.
var ErrFilling = errors.New("is being filled")

// filling returns the error for a store that is being filled. It says since when, unless the
// filling has just begun.
func filling(ctx context.Context, db querier, url string) error {
	var since time.Time
	var actor string
	reason := "is being filled"
	if db.QueryRowContext(ctx, "SELECT at, actor FROM stig_events WHERE version = 0").Scan(&since, &actor) == nil {
		reason += since.Format(" since 2006-01-02 15:04:05 UTC")
		if actor != "" {
			reason += " by " + actor
		}
	}
	return &fault.Error{Code: fault.Store, Path: url, Reason: reason, Hint: "wait until it is complete; if the command that fills it was interrupted, run that again", Err: ErrFilling}
}

// absent returns the error for a database without a store.
func absent(url string) error {
	return &fault.Error{Code: fault.Store, Path: url, Reason: "has no store", Hint: "type stig init --store " + url, Err: beads.ErrAbsent}
}
