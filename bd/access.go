package bd

import (
	"context"
	"errors"
	"strings"

	"stig/beads"
)

// Access is how a store in a Dolt database is reached, for people to read.
type Access struct {
	Database
	Dolt string // version of the server; "" for an embedded database
	By   string // what reads it: "SQL" or "bd export"
	Why  string // in the place of the other one
}

// Look asks how the database of a store is reached; it starts nothing but bd export.
func (b Program) Look(ctx context.Context, p beads.Place) (Access, error) {
	ctx, done := b.limited(ctx)
	defer done()
	s := &dolt{bd: b, place: p}
	s.where, s.wrong = b.locate(p)
	a := Access{Database: s.where, By: "bd export", Why: "each bd opens the files for itself, and no server runs"}
	if s.where.topology == topologyThrough {
		a.Why = "bd alone knows how to reach it"
	}
	db, err := s.open()
	if err != nil {
		return a, err
	}
	defer db.close()
	if _, err := db.version(ctx); err != nil {
		return a, err
	}
	onServer, ok := db.(*served)
	if !ok {
		return a, nil
	}
	if err := onServer.db.QueryRowContext(ctx, "SELECT DOLT_VERSION()").Scan(&a.Dolt); err != nil {
		return a, s.where.unreachable(p, err)
	}
	_, _, err = onServer.query(ctx, false)
	if other, differs := errors.AsType[*schemaError](err); differs {
		a.Why = other.Error()
		return a, nil
	}
	a.By, a.Why = "SQL", "a server runs, and its tables are those of bd 1.0"
	return a, err
}

// Withdrawn is what is known against a version of bd, as bd version prints it; "" for
// nothing.
func Withdrawn(version string) string {
	if strings.Contains(version, "1.0.5") {
		return "its authors withdrew 1.0.5, for it can damage data: see its releases"
	}
	return ""
}
