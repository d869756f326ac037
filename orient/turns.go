package orient

import (
	"bytes"
	"hash/maphash"
	"slices"
	"strings"

	"stig/beads"
	"stig/git"
	"stig/notes"
	"stig/signals"
)

// Turn is something that the history of a store holds and the store itself
// does not: how an issue was before a commit, and after it.
type Turn struct {
	ID       string
	Kind     TurnKind
	From, To string
}

// TurnKind says what turned.
type TurnKind int

const (
	Reopened TurnKind = iota // status, from closed to something else
	Shifted                  // cynefin, of an issue that had a signal table before
	WentBack                 // progress, from verifying to something before it
)

// Turns reads the turns of all issues out of the commits that changed the
// store, the oldest first. read gives the texts of blobs in their order, as
// git.Client.Blobs does. A merge counts for what it left different from every
// parent. Lines that cannot be read are passed over: a past version cannot be
// fixed.
func Turns(changes []git.Change, read func(blobs []string, take func(blob string, text []byte)) error, schema *signals.Schema) ([]Turn, error) {
	p := past{schema: schema, seed: maphash.MakeSeed(), known: map[uint64]int{}, versions: map[string][]int{}}
	var blobs []string
	for _, c := range changes {
		for _, blob := range append([]string{c.After}, c.Before...) {
			if _, named := p.versions[blob]; !named && blob != "" {
				p.versions[blob] = nil
				blobs = append(blobs, blob)
			}
		}
	}
	if err := read(blobs, p.take); err != nil {
		return nil, err
	}
	var turns []Turn
	for _, c := range changes {
		if c.After != "" {
			turns = append(turns, p.turns(c)...)
		}
	}
	return turns, nil
}

// past holds the versions of a store as lists of lines, each line once: a
// commit changes few of them.
type past struct {
	schema   *signals.Schema
	seed     maphash.Seed
	known    map[uint64]int // hash of a line → index in lines
	lines    []standing
	versions map[string][]int // blob → indices in lines
}

// standing is what a line says of its issue.
type standing struct {
	id, status string // "" where it cannot be read
	signalled  bool
	cynefin    string
	progress   string
}

func (p *past) take(blob string, text []byte) {
	var version []int
	for line := range bytes.Lines(text) {
		if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 {
			continue
		}
		hash := maphash.Bytes(p.seed, line)
		at, known := p.known[hash]
		if !known {
			at = len(p.lines)
			p.known[hash] = at
			p.lines = append(p.lines, p.standing(line))
		}
		version = append(version, at)
	}
	p.versions[blob] = version
}

func (p *past) standing(line []byte) standing {
	record, err := beads.ParseRecord(slices.Clone(line)) // the text does not last
	if err != nil {
		return standing{}
	}
	table := signals.Read(notes.Parse(record.Text(beads.Notes)), p.schema)
	return standing{
		id: record.Text(beads.ID), status: record.Text(beads.Status), signalled: table.Present(),
		cynefin: strings.Clone(table.Value(signals.Cynefin)), progress: strings.Clone(table.Value(signals.Progress)),
	}
}

// turns compares a version with those before it.
func (p *past) turns(c git.Change) (turns []Turn) {
	stays := map[int]bool{}
	for _, blob := range c.Before {
		for _, at := range p.versions[blob] {
			stays[at] = true
		}
	}
	now := map[string]standing{}
	for _, at := range p.versions[c.After] {
		if s := p.lines[at]; !stays[at] && s.id != "" {
			now[s.id] = s
		}
	}
	if len(now) == 0 {
		return nil
	}
	for _, blob := range c.Before {
		for _, at := range p.versions[blob] {
			was := p.lines[at]
			if is, changed := now[was.id]; changed {
				turns = append(turns, was.turn(is)...)
				delete(now, was.id) // the first parent that has it counts
			}
		}
	}
	return turns
}

// turn lists what turned from one version of an issue to the next.
func (s standing) turn(is standing) (turns []Turn) {
	if s.status == "closed" && !beads.Over(is.status) {
		turns = append(turns, Turn{is.id, Reopened, s.status, is.status})
	}
	if s.signalled && is.signalled && s.cynefin != is.cynefin {
		turns = append(turns, Turn{is.id, Shifted, s.cynefin, is.cynefin})
	}
	if s.progress == signals.ProgressVerifying && is.progress != s.progress && is.signalled {
		turns = append(turns, Turn{is.id, WentBack, s.progress, is.progress})
	}
	return turns
}
