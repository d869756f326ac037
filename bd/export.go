package bd

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"stig/beads"
	"stig/fault"
)

// fingerprint names the state of an embedded database: the manifest of its storage,
// which holds the hash of the root, and the sizes of the files, of which the journal
// grows with every write. It takes no program, and times do not count: bd touches the
// files when it reads, too.
func (d Database) fingerprint() (string, error) {
	dir := filepath.Join(d.Files, ".dolt", "noms")
	manifest, err := os.ReadFile(filepath.Join(dir, "manifest"))
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	sum.Write(manifest)
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() == "LOCK" || e.Name() == "journal.idx" { // the index is made anew by readers
			return ifThere(err)
		}
		info, err := e.Info()
		if err == nil && e.Name() != "manifest" {
			fmt.Fprintf(sum, "%s %d\n", path, info.Size())
		}
		return ifThere(err)
	})
	return hex.EncodeToString(sum.Sum(nil)), err
}

// ifThere leaves out that a file is gone: bd makes and removes some while it works.
func ifThere(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// reads is how often an embedded database is read in the hope that nobody writes it
// meanwhile: bd export reads it in several transactions.
const reads = 4

// embedded is a database that each bd opens for itself.
type embedded struct{ *dolt }

func (embedded) close() {}

func (s embedded) version(context.Context) (string, error) {
	version, err := s.where.fingerprint()
	if err != nil {
		return "", s.where.unopened(s.place, err)
	}
	return version, nil
}

// read has bd export the database. version is "" where it changed during each of several
// exports: then an issue may be as it was a moment before its labels.
func (s embedded) read(ctx context.Context) (lines []byte, version string, err error) {
	before, err := s.version(ctx)
	if err != nil {
		return nil, "", err
	}
	if lines, ok := s.bd.kept().get(s.place.Dir, before); ok {
		return lines, before, nil
	}
	return s.exportUnchanged(ctx, before, s.version)
}

// exportUnchanged has bd export the database until it did not change meanwhile.
func (s *dolt) exportUnchanged(ctx context.Context, before string, version func(context.Context) (string, error)) (lines []byte, at string, err error) {
	for range reads {
		if lines, err = s.export(ctx); err != nil {
			return nil, "", err
		}
		after, err := version(ctx)
		if err != nil {
			return nil, "", err
		}
		if after == before {
			s.bd.kept().put(s.place.Dir, after, lines)
			return lines, after, nil
		}
		before = after
	}
	return lines, "", nil
}

// export is what bd export prints.
func (s *dolt) export(ctx context.Context) ([]byte, error) {
	if !s.bd.OnPath {
		return nil, &fault.Error{Code: fault.Store, Path: s.place.Dir, Reason: "bd keeps the issues in Dolt (" + s.where.Where() + "), and no bd is on PATH to read them",
			Hint: "install bd 1.0 or later, and run the command again"}
	}
	result, err := s.bd.Run(ctx, s.place, "export")
	if err == nil && result.Exit != 0 {
		err = errors.New(strings.TrimSpace(said(result)))
	}
	if err != nil {
		return nil, &fault.Error{Code: fault.Store, Path: s.place.Dir, Reason: "bd export does not give the issues", Cause: err, Hint: "type bd export to see what it says; it takes bd 1.0 or later, and bd doctor looks at the database"}
	}
	return result.Stdout, nil
}

// through is a database that bd alone reaches. What bd exports is read each time, and
// its sum is the version.
type through struct{ embedded }

func (s through) read(ctx context.Context) (lines []byte, version string, err error) {
	if lines, err = s.export(ctx); err != nil {
		return nil, "", err
	}
	sum := sha256.Sum256(lines)
	return lines, hex.EncodeToString(sum[:]), nil
}

func (s through) version(ctx context.Context) (string, error) {
	_, version, err := s.read(ctx)
	return version, err
}

// unopened is the error of an embedded database that is not as bd leaves it.
func (d Database) unopened(p beads.Place, err error) *fault.Error {
	return &fault.Error{Code: fault.Store, Path: p.Dir, Reason: "bd's database " + d.Files + " cannot be read", Cause: err, Hint: "see what bd doctor says; bd bootstrap --yes makes a database from the export where there is none"}
}
