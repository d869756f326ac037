package board

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"stig/internal/visible"
	"stig/internal/workspace"
)

// diff is a patch as a page shows it.
type diff struct {
	Head  string // new files, of which there is no patch yet
	Files []fileDiff
	Rest  string // says what is left out; "" for nothing
	Whole string // address of a page that leaves out less
}

// fileDiff is the patch of one file.
type fileDiff struct {
	Name           string
	Added, Deleted int // lines, shown or not
	Chunks         []chunk
}

// chunk is consecutive lines of one kind.
type chunk struct {
	Class string // added, deleted, or "" for other lines
	Text  string
}

// beginOfFile begins the patch of a file.
const beginOfFile = "diff --git "

// Diff returns the work on an issue by file: the beginning of a long patch, unless IsWhole.
func (v *view) Diff(id, patch string) diff {
	d := diff{Whole: "/issues/" + url.PathEscape(id) + "?whole=yes"}
	pieces := strings.Split("\n"+patch, "\n"+beginOfFile)
	d.Head = workspace.Visible(strings.TrimSpace(pieces[0]))
	room := v.roomFor()
	for i, piece := range pieces[1:] {
		if room <= 0 {
			d.Rest = visible.Counted(len(pieces)-1-i, "more file") + ": the whole diff"
			break
		}
		file, lines := readFile(piece)
		if len(lines) > room {
			lines, d.Rest = strings.ToValidUTF8(lines[:room], "")+"…", "the whole diff"
		}
		file.Chunks = chunksOf(lines)
		d.Files = append(d.Files, file)
		room -= len(lines)
		v.room -= len(lines)
	}
	return d
}

// readFile reads the patch of a file, without beginOfFile, and returns its lines to show.
func readFile(patch string) (file fileDiff, lines string) {
	names, rest, _ := strings.Cut(patch, "\n")
	if _, after, ok := strings.Cut(names, " b/"); ok {
		file.Name = after
	}
	var shown strings.Builder
	hunks := false
	for line := range strings.Lines(rest) {
		hunks = hunks || strings.HasPrefix(line, "@@")
		name, of := strings.CutPrefix(strings.TrimRight(line, "\t\n"), "+++ ")
		switch {
		case hunks && line[0] == '+':
			file.Added++
		case hunks && line[0] == '-':
			file.Deleted++
		case hunks:
		case of && name != "/dev/null":
			if plain, err := strconv.Unquote(name); err == nil {
				name = plain
			}
			file.Name = strings.TrimPrefix(name, "b/")
		}
		if hunks || !strings.HasPrefix(line, "index ") && !strings.HasPrefix(line, "--- ") && !of {
			shown.WriteString(line)
		}
	}
	return file, shown.String()
}

// namesIn names the first files of a patch.
func namesIn(patch string) string {
	var names []string
	for _, piece := range strings.Split("\n"+patch, "\n"+beginOfFile)[1:] {
		if file, _ := readFile(piece); !slices.Contains(names, file.Name) {
			names = append(names, file.Name)
		}
	}
	return visible.Some(names, 3)
}

// chunksOf groups the lines of a patch by kind.
func chunksOf(lines string) (list []chunk) {
	for line := range strings.Lines(lines) {
		class := map[byte]string{'+': "added", '-': "deleted"}[line[0]]
		if last := len(list) - 1; last >= 0 && list[last].Class == class {
			list[last].Text += line
		} else {
			list = append(list, chunk{class, line})
		}
	}
	for i := range list {
		list[i].Text = workspace.Visible(list[i].Text)
	}
	return list
}
