package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"stig/internal/beads"
)

// History lists the commits up to HEAD that changed a file, latest first, including those under
// its former names. It lists merges that left the file different from every parent. A since
// other than "" omits what that commit contains. path is as in FileAt; the error is a
// fault.NoRevision without a repository, a commit, or such a since.
func (g Client) History(ctx context.Context, path, since string) ([]beads.Version, error) {
	revisions := "HEAD"
	if since != "" {
		commit, err := g.Commit(ctx, since)
		if err != nil {
			return nil, err
		}
		revisions = commit + "..HEAD"
	}
	// git itself makes an absolute path relative to the root
	result, err := g.Run(ctx, "log", "--no-color", "--no-show-signature", "--follow", "-c", "--raw", "--no-abbrev", "-z", "--date-order",
		"--format=%x01%H%x00%cI%x00%an%x00%s%x00", revisions, "--", path)
	if err != nil {
		return nil, err
	}
	if result.Exit != 0 {
		if _, err := g.Commit(ctx, "HEAD"); err != nil {
			return nil, err
		}
		return nil, failure([]string{"log"}, result)
	}
	return readChanges(string(result.Stdout))
}

// readChanges reads NUL-terminated fields: four for each commit, the first marked by an SOH,
// then what it did to the file.
func readChanges(text string) (changes []beads.Version, err error) {
	fields := strings.Split(text, "\x00")
	for i := 0; i < len(fields); i++ {
		field := strings.TrimLeft(fields[i], "\n")
		if commit, ok := strings.CutPrefix(field, "\x01"); ok && i+3 < len(fields) {
			c := beads.Version{Commit: commit, Author: fields[i+2], Subject: fields[i+3]}
			if c.Time, err = time.Parse(time.RFC3339, fields[i+1]); err != nil {
				return nil, fmt.Errorf("git log: %w", err)
			}
			changes = append(changes, c)
			i += 3
			continue
		}
		what := strings.TrimLeft(field, ":")
		parents := len(field) - len(what)
		words := strings.Fields(what) // modes, blobs, status
		if parents == 0 || len(changes) == 0 || len(words) != 2*(parents+1)+1 {
			continue
		}
		c := &changes[len(changes)-1]
		c.Before = nil
		for _, blob := range words[parents+1 : 2*parents+1] {
			c.Before = append(c.Before, orNone(blob))
		}
		c.After = orNone(words[2*parents+1])
		if status := words[len(words)-1]; parents == 1 && (status[0] == 'R' || status[0] == 'C') {
			i++ // two names follow
		}
		i++
	}
	return changes, nil
}

// orNone turns git's name for no blob, zeros, into "".
func orNone(blob string) string {
	if strings.Trim(blob, "0") == "" {
		return ""
	}
	return blob
}

// Blobs passes the texts of blobs, in order, to take, which must not keep them. It starts git
// once.
func (g Client) Blobs(ctx context.Context, blobs []string, take func(blob string, text []byte)) error {
	return g.BlobsUpTo(ctx, blobs, math.MaxInt64, func(blob string, text []byte, _ int64) { take(blob, text) })
}

// BlobsUpTo is Blobs with sizes in bytes. A blob larger than most has no text.
func (g Client) BlobsUpTo(ctx context.Context, blobs []string, most int64, take func(blob string, text []byte, size int64)) error {
	if len(blobs) == 0 {
		return nil
	}
	var text bytes.Buffer
	return g.objects(ctx, blobs, func(o object) error {
		switch o.kind {
		case "blob":
		case "":
			return lacking(g.Dir, o.name)
		default:
			return fmt.Errorf("git cat-file: %s: expected a blob, found %q", o.name, strings.TrimSpace(o.head))
		}
		text.Reset()
		size := o.text.N
		if size > most {
			take(o.name, nil, size)
			return nil
		}
		text.Grow(int(o.text.N) + bytes.MinRead) // otherwise it is copied as it grows
		_, err := text.ReadFrom(o.text)
		if err == nil && o.text.N > 0 {
			err = io.ErrUnexpectedEOF
		}
		if err == nil {
			take(o.name, text.Bytes(), size)
		}
		return err
	})
}

// object is a git object; kind is "" if there is none.
type object struct {
	name, hash, kind string
	head             string // git's message about it
	text             *io.LimitedReader
}

// objects passes the named objects, in order, to take. It starts git once.
func (g Client) objects(ctx context.Context, names []string, take func(object) error) error {
	argv := []string{"cat-file", "--batch"}
	reader, writer := io.Pipe()
	read := make(chan error, 1)
	go func() {
		err := readObjects(bufio.NewReaderSize(reader, 1<<16), names, take)
		read <- err
		_ = reader.CloseWithError(err)
	}()
	_, err := g.mustRun(ctx, []byte(strings.Join(names, "\n")+"\n"), writer, argv...)
	_ = writer.Close()
	if readErr := <-read; readErr != nil && (err == nil || errors.Is(err, readErr)) {
		err = readErr
	}
	return err
}

func readObjects(r *bufio.Reader, names []string, take func(object) error) error {
	for _, name := range names {
		o := object{name: name, text: &io.LimitedReader{R: r}}
		head, err := r.ReadString('\n')
		if err != nil {
			return fmt.Errorf("git cat-file: %s: %w", name, err)
		}
		o.head = head
		words := strings.Fields(head)
		if len(words) == 3 && words[2] != "missing" && words[2] != "ambiguous" {
			o.hash, o.kind = words[0], words[1]
			if o.text.N, err = strconv.ParseInt(words[2], 10, 64); err != nil {
				return fmt.Errorf("git cat-file: %w", err)
			}
		}
		if err := take(o); err != nil {
			return err
		}
		if o.kind == "" {
			continue
		}
		if _, err := io.CopyN(io.Discard, r, o.text.N+1); err != nil { // the rest of the object, and the line's end
			return fmt.Errorf("git cat-file: %s: %w", name, err)
		}
	}
	return nil
}

// Node is a commit that changed a file, or that merged such commits.
type Node struct {
	Commit  string
	Time    time.Time
	Parents []string // among these commits, without older ones
	Blob    string   // of the file; "" if the commit has none
}

// Graph returns the history of a file behind revisions, as git rev-list takes them, back to a
// time: each commit before its parents, HEAD's represented by the first one that left the file
// as in HEAD. path is as in FileAt. Without a commit it is empty.
func (g Client) Graph(ctx context.Context, path string, since time.Time, revisions ...string) (list []Node, err error) {
	argv := []string{"rev-list", "--simplify-merges", "--parents", "--timestamp", "--topo-order", fmt.Sprintf("--since=@%d", since.Unix())}
	result, err := g.Run(ctx, append(append(argv, revisions...), "--", path)...)
	if err != nil || result.Exit != 0 {
		if _, unborn := g.Commit(ctx, "HEAD"); err == nil && unborn == nil {
			err = failure([]string{"rev-list"}, result)
		}
		return nil, err
	}
	name, err := g.fromHere(path)
	if err != nil {
		return nil, err
	}
	var asked []string
	for line := range strings.Lines(string(result.Stdout)) {
		words := strings.Fields(line)
		if len(words) < 2 {
			continue
		}
		seconds, err := strconv.ParseInt(words[0], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("git rev-list: %w", err)
		}
		list = append(list, Node{Commit: words[1], Time: time.Unix(seconds, 0).UTC(), Parents: slices.Clone(words[2:])})
		asked = append(asked, words[1]+":"+name)
	}
	if len(list) == 0 {
		return nil, nil
	}
	blobs, err := g.Names(ctx, asked...)
	for i := range blobs {
		list[i].Blob = blobs[i]
	}
	return list, err
}

// Merging lists the commits of an unfinished merge, cherry-pick, revert or rebase in the work
// tree.
func (g Client) Merging(ctx context.Context, path string) ([]Tip, error) {
	var listed strings.Builder
	for _, p := range inProgress {
		if p.head == "" {
			continue
		}
		result, err := g.Run(ctx, "rev-parse", "-q", "--verify", p.head)
		if err != nil {
			return nil, err
		}
		if commit := strings.TrimSpace(string(result.Stdout)); result.Exit == 0 && IsHash(commit) {
			fmt.Fprintf(&listed, "%s %s\n", p.head, commit)
		}
	}
	return g.withBlobs(ctx, path, listed.String())
}

// BranchOf names a branch that contains a commit, as a reference; "" for none.
func (g Client) BranchOf(ctx context.Context, commit string) (string, error) {
	return g.Must(ctx, "for-each-ref", "--count=1", "--format=%(refname)", "--contains="+commit, "refs/heads", "refs/remotes")
}
