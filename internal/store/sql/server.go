package sql

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"strconv"
	"strings"
	"time"

	"stig/internal/fault"
	"stig/internal/store/mysql"
)

// Server describes the server of a store.
type Server struct {
	Kind    string // mariadb, mysql, tidb or dolt
	Version string
	Schema  int           // the version of stig's tables
	Denied  []string      // the tables that this user may not write
	Refusal *fault.Error  // why the first of them may not be written
	Latency time.Duration // of one round trip
	Cluster Cluster
}

// Cluster is the status of a node in its cluster.
type Cluster struct {
	Nodes int    // the number of nodes with the quorum; 0 if the server is in no cluster
	State string // the state of the node: Synced if it has all edits of the cluster
	Queue int    // edits that it received and has not applied
}

// Version is the number of edits that the store has had; it only grows.
func (s *Store) Version(ctx context.Context) (int64, error) {
	db := s.DB()
	var version int64
	var found int
	err := db.QueryRowContext(ctx, "SELECT version, schema_version FROM stig_meta WHERE one = 1").Scan(&version, &found)
	switch {
	case errors.Is(err, sql.ErrNoRows) || mysql.Unknown(err):
		return 0, absent(s.url)
	case err == nil && found == unfilled:
		return 0, filling(ctx, db, s.url)
	}
	return version, s.explain(err)
}

// Writable reports whether this user may write all tables.
func (s Server) Writable() bool { return len(s.Denied) == 0 }

// ReadOnly reports whether this user may write none of them.
func (s Server) ReadOnly() bool { return len(s.Denied) == len(tables) }

// Server asks the server what it is. To find out what the user may write, it sends statements
// that change no row.
func (s *Store) Server(ctx context.Context) (Server, error) {
	db := s.DB()
	var v Server
	err := db.QueryRowContext(ctx, "SELECT VERSION(), schema_version FROM stig_meta WHERE one = 1").Scan(&v.Version, &v.Schema)
	if errors.Is(err, sql.ErrNoRows) || mysql.Unknown(err) {
		return v, absent(s.url)
	}
	if err == nil && v.Schema == unfilled {
		err = filling(ctx, db, s.url)
	}
	if err != nil {
		return v, s.explain(err)
	}
	lower := strings.ToLower(v.Version)
	switch {
	case strings.Contains(lower, "mariadb"):
		v.Kind = "mariadb"
	case strings.Contains(lower, "tidb"):
		v.Kind = "tidb"
	default:
		v.Kind = "mysql"
		var dolt string
		if db.QueryRowContext(ctx, "SELECT DOLT_VERSION()").Scan(&dolt) == nil {
			v.Kind, v.Version = "dolt", dolt
		}
	}
	if v.Kind == "mariadb" || v.Kind == "mysql" {
		if v.Cluster, err = clusterOf(ctx, db); err != nil {
			return v, s.explain(err)
		}
	}
	var refusal error
	if v.Denied, refusal, err = denied(ctx, db); err != nil {
		return v, s.explain(err)
	}
	v.Refusal, _ = errors.AsType[*fault.Error](s.explain(refusal))
	var one int
	start := s.now()
	err = db.QueryRowContext(ctx, "SELECT 1").Scan(&one)
	v.Latency = s.now().Sub(start)
	return v, s.explain(err)
}

// clusterOf asks a node about its cluster.
func clusterOf(ctx context.Context, db *sql.DB) (c Cluster, err error) {
	var name, value string
	err = each(ctx, db, "SHOW STATUS LIKE 'wsrep_%'", nil, func() {
		switch name {
		case "wsrep_cluster_size":
			c.Nodes, _ = strconv.Atoi(value)
		case "wsrep_local_state_comment":
			c.State = value
		case "wsrep_local_recv_queue":
			c.Queue, _ = strconv.Atoi(value)
		}
	}, &name, &value)
	return c, err
}

// denied returns the tables that this user may not write, and the server's error for the first.
func denied(ctx context.Context, db *sql.DB) (list []string, refusal, err error) {
	for _, column := range []string{"stig_lines.pos", "stig_comments.n", "stig_edges.n", "stig_others.pos", "stig_events.n", "stig_live.version", "stig_meta.version"} {
		table, _, _ := strings.Cut(column, ".")
		_, err := db.ExecContext(ctx, "UPDATE "+table+" SET "+column+" = "+column+" WHERE 1 = 0")
		if mysql.Denied(err) {
			list, refusal = append(list, table), cmp.Or(refusal, err)
		} else if err != nil {
			return nil, nil, err
		}
	}
	return list, refusal, nil
}

// Denied returns why this user may not write issues; nil if the user may, or if it cannot be
// found out.
func (s *Store) Denied(ctx context.Context) error {
	if _, err := s.DB().ExecContext(ctx, "UPDATE stig_lines SET pos = pos WHERE 1 = 0"); mysql.Denied(err) {
		return s.explain(err)
	}
	return nil
}

func (s *Store) now() time.Time {
	if s.options.Now == nil {
		return time.Time{}
	}
	return s.options.Now()
}
