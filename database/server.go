package database

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"stig/mysql"
)

// Server is what is known of the server of a store.
type Server struct {
	Kind     string // mariadb, mysql, tidb or dolt
	Version  string
	Schema   int // the version of stig's tables
	Writable bool
	Latency  time.Duration // of one round trip
}

// Version is the number of edits that the store has had; it only grows.
func (s *Store) Version(ctx context.Context) (int64, error) {
	db := s.DB()
	var version int64
	err := db.QueryRowContext(ctx, "SELECT version FROM stig_meta WHERE one = 1").Scan(&version)
	if errors.Is(err, sql.ErrNoRows) || mysql.Unknown(err) {
		return 0, absent(s.url)
	}
	return version, s.explain(err)
}

// Server asks what server it is. Whether it can be written is asked by a statement that
// changes no row.
func (s *Store) Server(ctx context.Context) (Server, error) {
	db := s.DB()
	var v Server
	err := db.QueryRowContext(ctx, "SELECT VERSION(), schema_version FROM stig_meta WHERE one = 1").Scan(&v.Version, &v.Schema)
	if errors.Is(err, sql.ErrNoRows) || mysql.Unknown(err) {
		return v, absent(s.url)
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
	_, err = db.ExecContext(ctx, "UPDATE stig_meta SET version = version WHERE one = 0")
	v.Writable = err == nil
	if err != nil && !mysql.Denied(err) {
		return v, s.explain(err)
	}
	var one int
	start := s.now()
	err = db.QueryRowContext(ctx, "SELECT 1").Scan(&one)
	v.Latency = s.now().Sub(start)
	return v, s.explain(err)
}

func (s *Store) now() time.Time {
	if s.options.Now == nil {
		return time.Time{}
	}
	return s.options.Now()
}
