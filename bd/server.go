package bd

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"stig/beads"
	"stig/fault"
	"stig/mysql"
)

// served is a database on a running dolt sql-server, which is read alone.
type served struct {
	*dolt
	db *sql.DB
}

// patience is how long a server may take to let us in.
const patience = 5 * time.Second

// connect gives the database; nothing is asked of the server yet.
func (d Database) connect() (*sql.DB, error) {
	c := d.Server
	if c.Port == 0 && c.Socket == "" {
		return nil, errors.New("no variable and no file of bd names its port")
	}
	c.Timeout = patience
	return mysql.Open(c)
}

func (s *served) close() { _ = s.db.Close() } // it was read alone

// version names the state of the whole database, what is not committed included, in
// one round trip.
func (s *served) version(ctx context.Context) (hash string, err error) {
	if err = s.db.QueryRowContext(ctx, "SELECT DOLT_HASHOF_DB()").Scan(&hash); err != nil {
		err = s.where.unreachable(s.place, err)
	}
	return hash, err
}

// read gives what the cache holds of this version, else what the tables hold. A
// database without the columns of bd 1.0.5 is exported by bd.
func (s *served) read(ctx context.Context) (lines []byte, version string, err error) {
	if version, err = s.version(ctx); err != nil {
		return nil, "", err
	}
	if lines, ok := s.bd.kept().get(s.place.Dir, version); ok {
		return lines, version, nil
	}
	lines, at, err := s.query(ctx, !s.bd.OnPath)
	if other, differs := errors.AsType[*schemaError](err); differs && s.bd.OnPath {
		return s.exportUnchanged(ctx, version, s.version)
	} else if differs {
		return nil, "", &fault.Error{Code: fault.Refused, Path: s.place.Dir, Reason: "bd's " + s.where.Where() + ": " + other.Error() + ", and no bd is on PATH to export it",
			Hint: "install the bd that made the database, and run the command again"}
	}
	if fault.Is(err, fault.Refused) {
		return nil, "", err
	}
	if err != nil {
		return nil, "", s.where.unreachable(s.place, err)
	}
	s.bd.kept().put(s.place.Dir, at, lines)
	return lines, at, nil
}

// schemaError names what a database lacks of what is read from it, and what it has that
// the export of a later bd may show.
type schemaError struct{ missing, unknown []string }

func (e *schemaError) Error() string {
	if len(e.missing) > 0 {
		return "its tables lack " + strings.Join(e.missing, ", ")
	}
	return "its tables have columns that bd 1.0 does not know: " + strings.Join(e.unknown, ", ")
}

// unshown are columns of bd 1.0 that its export does not show.
var unshown = []string{"content_hash", "closed_by_session", "source_repo", "hook_bead", "role_bead", "agent_state", "last_activity", "role_type", "rig", "is_blocked"}

// tables are those that are read, with their columns.
func tables() map[string][]string {
	var names []string
	for _, c := range new(issueRow).columns() {
		names = append(names, c.name)
	}
	depends := []string{"id", "issue_id", "depends_on_issue_id", "depends_on_wisp_id", "depends_on_external", "type", "created_at", "created_by", "metadata", "thread_id"}
	comments := []string{"id", "issue_id", "author", "text", "created_at"}
	all := map[string][]string{"config": {"key", "value"}, "metadata": {"key", "value"}}
	for prefix, main := range map[string]string{"": "issues", "wisp_": "wisps"} {
		all[main], all[prefix+"labels"], all[prefix+"dependencies"], all[prefix+"comments"] = names, []string{"issue_id", "label"}, depends, comments
	}
	return all
}

// query gives the lines of the database and the version that they are of, from one
// read-only transaction, in six round trips. The error is a *schemaError where columns
// are missing, or where there are others than those of bd 1.0 and lax is false.
func (s *served) query(ctx context.Context, lax bool) (lines []byte, version string, err error) {
	tx, err := s.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = tx.Rollback() }() // it wrote nothing
	var c contents
	version, err = c.about(ctx, tx, s.where.Name, lax)
	if err != nil {
		return nil, "", err
	}
	for _, read := range []func(context.Context, *sql.Tx) error{c.readIssues, c.readDependencies, c.readTexts} {
		if err := read(ctx, tx); err != nil {
			return nil, "", err
		}
	}
	if own := s.where.Project; own != "" && c.project != "" && c.project != own {
		return nil, "", &fault.Error{Code: fault.Refused, Path: s.place.Dir, Reason: fmt.Sprintf("bd's %s is of another project (%s, and not %s)", s.where.Where(), c.project, own),
			Hint: "type bd dolt show to see which server bd takes, and bd dolt start for that of this project"}
	}
	lines, err = c.lines()
	return lines, version, err
}

// about reads what is asked first: the version, and which columns there are.
func (c *contents) about(ctx context.Context, tx *sql.Tx, database string, lax bool) (version string, err error) {
	const query = `SELECT 'version' AS kind, DOLT_HASHOF_DB() AS a, '' AS b
UNION ALL SELECT 'column' AS kind, TABLE_NAME AS a, COLUMN_NAME AS b FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ?`
	there := map[string][]string{}
	err = mysql.Each(ctx, tx, query, []any{database}, func(rows *sql.Rows) error {
		var kind, a, b string
		if err := rows.Scan(&kind, &a, &b); err != nil {
			return err
		}
		if kind == "version" {
			version = a
		} else {
			there[a] = append(there[a], b)
		}
		return nil
	})
	if err == nil {
		err = compared(there, lax)
	}
	return version, err
}

// compared is the *schemaError of tables with these columns; nil for those of bd 1.0.
func compared(there map[string][]string, lax bool) error {
	var e schemaError
	for table, names := range tables() {
		for _, name := range names {
			if !slices.Contains(there[table], name) {
				e.missing = append(e.missing, table+"."+name)
			}
		}
		for _, name := range there[table] {
			if !slices.Contains(names, name) && !slices.Contains(unshown, name) {
				e.unknown = append(e.unknown, table+"."+name)
			}
		}
	}
	if slices.Sort(e.missing); len(e.missing) > 0 || len(e.unknown) > 0 && !lax {
		slices.Sort(e.unknown)
		return &e
	}
	return nil
}

// both is a query of a table of issues and of its twin of wisps.
func both(columns, table, twin string) string {
	return fmt.Sprintf("SELECT %s FROM %s UNION ALL SELECT %s FROM %s", strings.ReplaceAll(columns, "$wisp", "0"), table, strings.ReplaceAll(columns, "$wisp", "1"), twin)
}

func (c *contents) readIssues(ctx context.Context, tx *sql.Tx) error {
	names := []string{"$wisp AS is_wisp"}
	for _, column := range new(issueRow).columns() {
		names = append(names, "`"+column.name+"`")
	}
	return mysql.Each(ctx, tx, both(strings.Join(names, ", "), "issues", "wisps"), nil, func(rows *sql.Rows) error {
		i := &issueRow{RecordType: "issue"}
		places := []any{&i.wisp}
		for _, column := range i.columns() {
			places = append(places, column.into)
		}
		c.issues = append(c.issues, i)
		return scanInto(rows, places...)
	})
}

func (c *contents) readDependencies(ctx context.Context, tx *sql.Tx) error {
	const columns = "id, issue_id, COALESCE(depends_on_issue_id, depends_on_wisp_id) AS target, depends_on_external, type, created_at, created_by, metadata, thread_id"
	err := mysql.Each(ctx, tx, both(columns, "dependencies", "wisp_dependencies"), nil, func(rows *sql.Rows) error {
		var d dependencyRow
		if err := scanInto(rows, &d.id, &d.IssueID, &d.DependsOnID, &d.external, &d.Type, &d.CreatedAt, &d.CreatedBy, &d.Metadata, &d.ThreadID); err != nil {
			return err
		}
		d.DependsOnID = cmp.Or(d.DependsOnID, d.external)
		c.depends = append(c.depends, d)
		return nil
	})
	slices.SortStableFunc(c.depends, func(a, b dependencyRow) int { // as the index is ordered that bd's query reads
		return cmp.Or(strings.Compare(a.external, b.external), strings.Compare(a.id, b.id))
	})
	return err
}

// readTexts reads the labels, the comments, the types that the export leaves out, and
// whose database it is.
func (c *contents) readTexts(ctx context.Context, tx *sql.Tx) error {
	c.labels, c.comments, c.infra = map[string][]string{}, map[string][]commentRow{}, infraTypes
	// Without a name of its own for each column Dolt mixes them up.
	query := both("'label' AS kind, issue_id AS issue, label AS words, '' AS number, '' AS who, NULL AS at", "labels", "wisp_labels") + " UNION ALL " +
		both("'comment' AS kind, issue_id AS issue, text AS words, id AS number, author AS who, created_at AS at", "comments", "wisp_comments") +
		" UNION ALL SELECT 'infra' AS kind, '' AS issue, `value` AS words, '' AS number, '' AS who, NULL AS at FROM config WHERE `key` = 'types.infra'" +
		" UNION ALL SELECT 'project' AS kind, '' AS issue, `value` AS words, '' AS number, '' AS who, NULL AS at FROM metadata WHERE `key` = '_project_id'"
	err := mysql.Each(ctx, tx, query, nil, func(rows *sql.Rows) error {
		var kind, issue, text, id, author string
		var at time.Time
		if err := scanInto(rows, &kind, &issue, &text, &id, &author, &at); err != nil {
			return err
		}
		switch kind {
		case "label":
			c.labels[issue] = append(c.labels[issue], text)
		case "comment":
			c.comments[issue] = append(c.comments[issue], commentRow{id, issue, author, text, at})
		case "project":
			c.project = text
		case "infra":
			if list := listed(text); len(list) > 0 {
				c.infra = list
			}
		}
		return nil
	})
	for _, list := range c.labels {
		slices.Sort(list)
	}
	for _, list := range c.comments {
		slices.SortFunc(list, func(a, b commentRow) int {
			return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
		})
	}
	return err
}

// listed reads a list with commas between its words.
func listed(text string) (list []string) {
	for word := range strings.SplitSeq(text, ",") {
		if word = strings.TrimSpace(word); word != "" {
			list = append(list, word)
		}
	}
	return list
}

// unreachable is the error of a server that does not let us in, or that ends while it
// is asked.
func (d Database) unreachable(p beads.Place, err error) *fault.Error {
	hint := "start it with bd dolt start"
	if d.Server.Port != 0 && !d.Shared {
		hint += ", or see what bd dolt test says"
	}
	return &fault.Error{Code: fault.Store, Path: p.Dir, Reason: "bd's " + d.Where() + " does not answer", Cause: err, Hint: hint}
}
