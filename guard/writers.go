package guard

import (
	"path"
	"slices"
	"strings"
)

// writer says which of its words a program writes.
type writer struct {
	needs  string // writes only with one of these options, without hyphens, separated by blanks
	valued string // its options with a value
	target target
}

// target says where the files stand that a program writes.
type target int

const (
	operands target = iota // all words that are no options
	last                   // the last of them, or what is in it under the names of the others
	moved                  // those of last, and the others, which go away
	below                  // all, and what is below them
	output                 // the values of the options that it needs
)

// writers are the programs that write files.
var writers = map[string]writer{
	"tee": {}, "sponge": {}, "truncate": {valued: "s size r reference"}, "shred": {}, "unlink": {},
	"rm": {target: below}, "dos2unix": {}, "unix2dos": {}, "sd": {},
	"ed": {}, "ex": {}, "vi": {valued: "c"}, "vim": {valued: "c"}, "nvim": {valued: "c"}, "nano": {}, "emacs": {},
	"sed":  {needs: "i in-place", valued: "e f l expression file"},
	"gsed": {needs: "i in-place", valued: "e f l expression file"},
	"perl": {needs: "i", valued: "e E I M m F"}, "ruby": {needs: "i", valued: "e I r C E F"},
	"awk": {needs: "i", valued: "v F f"}, "gawk": {needs: "i", valued: "v F f"},
	"yq": {needs: "i inplace", valued: "o p"}, "jaq": {needs: "i in-place"}, "prettier": {needs: "write w"},
	"cp": {target: last, valued: "t target-directory S suffix"}, "mv": {target: moved, valued: "t target-directory S suffix"},
	"install": {target: last, valued: "t target-directory m mode o owner g group"}, "ln": {target: last, valued: "t target-directory"},
	"rsync": {target: last, valued: "e rsh f filter exclude include"}, "scp": {target: last, valued: "P i F o"},
	"sort": {needs: "o output", valued: "o output k t S T", target: output}, "shuf": {needs: "o output", valued: "o output n", target: output},
	"curl":        {needs: "o output", valued: "o output X d H data header request u user", target: output},
	"wget":        {needs: "O output-document", valued: "O output-document", target: output},
	"set-content": {}, "add-content": {}, "clear-content": {}, "out-file": {}, "remove-item": {target: below}, "move-item": {target: moved},
}

// writes lists the files that a command would write, and how it says so.
func writes(program string, words []string, input func() string) (verb string, files []string) {
	if program == "apply_patch" || program == "applypatch" {
		return program, patched(strings.Join(words, "\n") + "\n" + input())
	}
	w, ok := writers[strings.ToLower(program)]
	l := takeApart(words, w.valued)
	needs := strings.Fields(w.needs)
	switch {
	case !ok || len(needs) > 0 && !l.has(needs...):
		return "", nil
	case len(needs) == 0:
		return program, w.files(l)
	case len(needs[0]) > 1:
		return program + " --" + needs[0], w.files(l)
	}
	return program + " -" + needs[0], w.files(l)
}

func (w writer) files(l commandLine) []string {
	switch w.target {
	case output:
		return l.values(strings.Fields(w.needs)...)
	case below:
		return withBelow(l.operands)
	case last, moved:
		return copied(l, w.target == moved)
	}
	return l.operands
}

// copied lists what a command such as cp writes: its target, or the files in it
// that have the names of the sources; of one that moves them the sources too.
func copied(l commandLine, moves bool) []string {
	targets, sources := l.values("t", "target-directory"), l.operands
	if len(targets) == 0 && len(sources) > 1 {
		targets, sources = sources[len(sources)-1:], sources[:len(sources)-1]
	}
	files := slices.Clone(targets)
	for _, target := range targets {
		for _, source := range sources {
			files = append(files, target+"/"+path.Base(source))
			if strings.HasSuffix(source, "/") || path.Base(source) == "." || path.Base(source) == ".beads" {
				files = append(files, target+"/**")
			}
		}
	}
	if moves {
		files = append(files, withBelow(sources)...)
	}
	return files
}

// withBelow adds what stands in directories of these names.
func withBelow(files []string) []string {
	all := slices.Clone(files)
	for _, file := range files {
		if clean := path.Clean(file); clean != "." && clean != "/" { // nobody means these
			all = append(all, file+"/**")
		}
	}
	return all
}

// patched lists the files that a patch as assistants write it writes:
// "*** Update File: PATH" begins what it does to one.
func patched(patch string) (files []string) {
	for line := range strings.Lines(patch) {
		if _, file, ok := strings.Cut(line, " File: "); ok && strings.HasPrefix(line, "*** ") {
			files = append(files, strings.TrimSpace(file))
		}
	}
	return files
}
