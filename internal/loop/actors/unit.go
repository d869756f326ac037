// Package unit writes what makes a service manager start a worker: units of systemd,
// and property lists of launchd. It gives texts and their file names, and installs
// nothing.
//
//	files, err := actors.Unit{Actor: "tide", Repo: "/home/ann/harbor", Program: "/usr/bin/stig"}.Systemd()
package actors

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Unit is what units are for: the loop of one actor on one repository, and what it
// learns from time to time.
type Unit struct {
	Actor   string        // its name
	Repo    string        // absolute; the directory that stig is started in
	Store   string        // as --store gives it, absolute; "" where stig finds it from Repo
	Program string        // stig, absolute
	Env     []string      // NAME=value: a service manager passes on next to nothing
	EnvFile string        // of more variables, absolute, such as keys; it need not be there
	User    string        // of a unit of the whole machine; "" for a unit of the user who installs it
	Writes  []string      // directories that a unit of the whole machine may write; others may write all that their user may
	Dream   time.Duration // how often it dreams; 0 for never
}

// UnitFile is a file of a service manager.
type UnitFile struct {
	Name string // in the directory of the manager's units
	Text string
}

// Service is the name of the systemd unit that runs the loop.
func (w Unit) Service() string { return "stig-worker-" + w.id() + ".service" }

// Daily is the name of the systemd unit that starts a loop again a day after it ended.
func (w Unit) Daily() string { return "stig-worker-" + w.id() + ".timer" }

// Timer is the name of the systemd unit that starts Dreams.
func (w Unit) Timer() string { return "stig-dream-" + w.id() + ".timer" }

// Dreams is the name of the systemd unit that has the worker dream once.
func (w Unit) Dreams() string { return "stig-dream-" + w.id() + ".service" }

// Names lists the files of systemd that there may be for the worker, whether it
// dreams or not.
func (w Unit) Names() []string { return []string{w.Service(), w.Daily(), w.Dreams(), w.Timer()} }

// The sizes in bytes of what stands in a name, before it is escaped: a name may be 255
// long, and each byte may take four.
const (
	actorSize = 32
	repoSize  = 16
	hashSize  = 8
)

// id names the worker and its repository for people, and by the hash like no other.
func (w Unit) id() string {
	sum := sha256.Sum256([]byte(w.Actor + "\x00" + w.Repo + "\x00" + w.Store))
	return strings.Join([]string{EscapeUnit(cut(w.Actor, actorSize)), EscapeUnit(cut(filepath.Base(w.Repo), repoSize)), hex.EncodeToString(sum[:])[:hashSize]}, "-")
}

func cut(text string, size int) string { return text[:min(len(text), size)] }

// EscapeUnit writes a text in the characters that names of units have, as systemd-escape
// does: a slash as a hyphen, other bytes as \x2f. A hyphen stays, so that names can be
// read: the hash distinguishes them.
func EscapeUnit(text string) string {
	var b strings.Builder
	for i := range len(text) {
		switch c := text[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == ':', c == '_', c == '-', c == '.' && i > 0:
			b.WriteByte(c)
		case c == '/':
			b.WriteByte('-')
		default:
			fmt.Fprintf(&b, `\x%02x`, c)
		}
	}
	return b.String()
}

// check refuses what the files of no service manager can hold.
func (w Unit) check() error {
	for _, dir := range append([]string{w.Repo, w.Program}, w.Writes...) {
		if !filepath.IsAbs(dir) {
			return fmt.Errorf("%q: must be an absolute path", dir)
		}
	}
	for _, text := range slices.Concat([]string{w.Actor, w.Repo, w.Store, w.Program, w.User, w.EnvFile}, w.Env, w.Writes) {
		if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
			return fmt.Errorf("%q: has a character that a unit cannot hold", text)
		}
	}
	return nil
}

// work is the command line of the loop; dream is that of one dream.
func (w Unit) work() []string  { return append(w.stig(), "work", "--actor="+w.Actor) }
func (w Unit) dream() []string { return append(w.stig(), "dream", w.Actor) }

func (w Unit) stig() []string {
	argv := []string{w.Program, "--directory=" + w.Repo}
	if w.Store != "" {
		argv = append(argv, "--store="+w.Store)
	}
	return append(argv, "--no-input")
}
