package clone

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"stig/internal/process"
)

// Lease is the right of one actor to work on one issue: a claim that ends with its holder. The
// store says who has an issue, the lease whether they still do. Judge decides on it.
type Lease struct {
	Issue    string        `json:"issue"`
	Actor    string        `json:"actor"`
	Person   bool          `json:"person,omitempty"` // it ends only when another actor takes it
	Process  process.ID    `json:"process,omitzero"` // the one that supervises the work; the zero value if none stays
	Host     string        `json:"host,omitempty"`   // the machine; "" if unknown
	Worktree string        `json:"worktree"`         // where the work is done
	Tree     string        `json:"tree"`             // the work tree whose store shows the claim
	Named    string        `json:"named,omitempty"`  // git's name of Tree, which survives moves; "" without git
	Run      string        `json:"run,omitempty"`    // of a worker loop
	Since    time.Time     `json:"since"`            // by the holder's clock, as are the times below
	Until    time.Time     `json:"until"`            // unless it is renewed
	Lasts    time.Duration `json:"lasts"`            // from each renewal
	Cap      time.Time     `json:"cap,omitzero"`     // no renewal after it; zero for no limit
	Renewals int           `json:"renewals,omitzero"`
	Took     string        `json:"took,omitempty"` // the holder of the ended claim that this one replaces, which the store may still show until it is written
	Age      time.Duration `json:"-"`              // since it was written, by the server's clock; 0 without a server
}

// Covers reports whether a lease decides on the claim that the store shows for holder.
func (l Lease) Covers(holder string) bool {
	return holder != "" && (l.Actor == holder || l.Took == holder)
}

// Done marks a closed issue, for work trees whose store does not show the close yet.
type Done struct {
	Issue  string    `json:"issue"`
	Actor  string    `json:"actor"`
	Branch string    `json:"branch"` // on which it was closed
	Commit string    `json:"commit"`
	At     time.Time `json:"at"`
}

// Claims is the leases and marks of one store, from the clone or the server. An issue has at
// most one of each.
type Claims struct {
	Leases []Lease
	Done   []Done
}

// Lease returns the lease on an issue.
func (c *Claims) Lease(issue string) (Lease, bool) {
	if i := slices.IndexFunc(c.Leases, func(l Lease) bool { return l.Issue == issue }); i >= 0 {
		return c.Leases[i], true
	}
	return Lease{}, false
}

// Mark returns the mark that an issue was closed.
func (c *Claims) Mark(issue string) (Done, bool) {
	if i := slices.IndexFunc(c.Done, func(d Done) bool { return d.Issue == issue }); i >= 0 {
		return c.Done[i], true
	}
	return Done{}, false
}

// End removes the lease on an issue.
func (c *Claims) End(issue string) {
	c.Leases = slices.DeleteFunc(c.Leases, func(l Lease) bool { return l.Issue == issue })
}

// Forget removes the mark of an issue.
func (c *Claims) Forget(issue string) {
	c.Done = slices.DeleteFunc(c.Done, func(d Done) bool { return d.Issue == issue })
}

// Hold replaces the lease of an issue.
func (c *Claims) Hold(l Lease) {
	c.End(l.Issue)
	c.Leases = append(c.Leases, l)
}

// Close replaces the mark of an issue.
func (c *Claims) Close(d Done) {
	c.Forget(d.Issue)
	c.Done = append(c.Done, d)
}

// claim is the entry of one issue in leases.json. Without a lease and a mark it overrides the
// entry in git's directory, which cannot be written now.
type claim struct {
	Issue string `json:"issue"`
	Turn  int    `json:"turn"` // increases with each change; the greater one wins
	Lease *Lease `json:"lease,omitempty"`
	Done  *Done  `json:"done,omitempty"`
}

const leasesFile = "leases.json" // for all stores of the clone, by path

// Claims reads the leases and marks of issues, or without issues all of the store. The error
// names what cannot be read, which is set aside in files; the rest is still returned.
func (p Place) Claims(issues ...string) (Claims, error) {
	return p.readClaims(p.documents().Load, claimsOfIssues(issues))
}

// EndedClaims reads the leases that have expired by the server's clock, and the leases and
// marks of issues. In files it reads all, as Claims does.
func (p Place) EndedClaims(issues ...string) (Claims, error) {
	return p.readClaims(p.documents().Ended, claimNames(issues))
}

func (p Place) readClaims(read func(context.Context, ...string) ([]Entry, error), names []string) (Claims, error) {
	ctx, cancel := context.WithTimeout(context.Background(), stateWait)
	defer cancel()
	entries, err := read(ctx, names...)
	known, trouble := p.knownClaims(entries)
	return claimsOf(known), errors.Join(err, trouble)
}

// knownClaims parses documents of claims. It converts the times of other machines to this
// machine's clock.
func (p Place) knownClaims(entries []Entry) (known map[string]claim, err error) {
	known = map[string]claim{}
	for _, e := range entries {
		var one claim
		if e := e.decode(&one); e != nil {
			err = errors.Join(err, e)
			continue
		}
		if l := one.Lease; l != nil && e.Age > 0 {
			l.Age = e.Age
			if l.Host != p.Host {
				l.Until = p.Now().Add(l.Lasts - e.Age)
			}
		}
		known[one.Issue] = one
	}
	return known, err
}

// mostNamed limits the claims that are read by name; for more issues all claims are read.
const mostNamed = 500

// claimsOfIssues returns the document names of the claims of issues, or of all claims.
func claimsOfIssues(issues []string) []string {
	if len(issues) == 0 || len(issues) > mostNamed {
		return []string{claimEntries}
	}
	return claimNames(issues)
}

func claimNames(issues []string) (names []string) {
	for _, issue := range issues {
		names = append(names, entryName(claimEntries, issue))
	}
	return names
}

// claims reads and merges the claims of the store from files, and also returns the files by
// directory.
func (p Place) claims() (known map[string]claim, files map[string]map[string][]claim, err error) {
	known, files = map[string]claim{}, map[string]map[string][]claim{}
	for _, dir := range p.dirs() {
		all := map[string][]claim{}
		err = errors.Join(err, readJSON(filepath.Join(dir, leasesFile), &all))
		for _, one := range all[p.Store] {
			if other, there := known[one.Issue]; !there || one.Turn > other.Turn {
				p.followLease(one.Lease)
				known[one.Issue] = one
			}
		}
		files[dir] = all
	}
	return known, files, err
}

// followLease sets the current directory of this work tree in its lease, as followRecords does.
func (p Place) followLease(l *Lease) {
	if l == nil || l.Named == "" || l.Named != p.TreeName() {
		return
	}
	if l.Worktree == l.Tree {
		l.Worktree = p.Worktree
	}
	l.Tree = p.Worktree
}

func claimsOf(known map[string]claim) (c Claims) {
	for _, one := range known {
		if one.Lease != nil {
			c.Leases = append(c.Leases, *one.Lease)
		}
		if one.Done != nil {
			c.Done = append(c.Done, *one.Done)
		}
	}
	slices.SortFunc(c.Leases, func(a, b Lease) int { return cmp.Compare(a.Issue, b.Issue) })
	slices.SortFunc(c.Done, func(a, b Done) int { return cmp.Compare(a.Issue, b.Issue) })
	return c
}

// ChangeClaims edits the leases and marks of the store. change may be called more than once; if
// it returns false or an error, nothing is written, and ChangeClaims returns the error as it
// is. beside reports that git's directory cannot be written: other work trees do not see the
// change. With issues given, change gets and edits only theirs.
func (p Place) ChangeClaims(change func(*Claims) (bool, error), issues ...string) (beside bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), stateWait)
	defer cancel()
	in := p.documents()
	err = in.Change(ctx, claimsOfIssues(issues), func(entries []Entry) ([]Entry, bool, error) {
		known, trouble := p.knownClaims(entries)
		c := claimsOf(known)
		if changed, err := change(&c); err != nil || !changed {
			return nil, false, err
		}
		now := changedClaims(entries, known, c)
		if trouble != nil {
			now = append(now, unreadEntries(entries, now)...)
		}
		return now, true, nil
	})
	f, inFiles := in.(*files)
	return inFiles && f.beside, err
}

// changedClaims returns the documents with the changes of c. Those of unchanged issues stay the
// same.
func changedClaims(entries []Entry, known map[string]claim, c Claims) (all []Entry) {
	now := map[string]claim{}
	for _, l := range c.Leases {
		now[l.Issue] = claim{Issue: l.Issue, Lease: &l}
	}
	for _, d := range c.Done {
		one := now[d.Issue]
		one.Issue, one.Done = d.Issue, &d
		now[d.Issue] = one
	}
	for _, issue := range slices.Sorted(maps.Keys(now)) {
		one, was := now[issue], known[issue]
		e := Entry{Name: entryName(claimEntries, issue)}
		if i := slices.IndexFunc(entries, func(was Entry) bool { return was.Name == e.Name }); i >= 0 {
			e = entries[i]
		}
		if one.Turn = was.Turn; !reflect.DeepEqual(one, was) {
			one.Turn++
			e = e.with(one)
		}
		all = append(all, e)
	}
	return all
}

// unreadEntries returns the unreadable documents that were not replaced: a newer stig may have
// written them.
func unreadEntries(entries, now []Entry) (list []Entry) {
	replaced := map[string]bool{}
	for _, e := range now {
		replaced[e.Name] = true
	}
	for _, e := range entries {
		if !replaced[e.Name] && e.decode(new(claim)) != nil {
			list = append(list, e)
		}
	}
	return list
}
