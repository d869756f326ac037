package guard

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// writes lists the files that a command would write, and how it says so.
func (w *analyzer) writes(program string, words []string) (verb string, files []string) {
	switch program {
	case "sponge", "truncate", "shred", "nano", "emacs", "unlink", "dos2unix", "unix2dos", "rw":
		return program, fileWords(words)
	case "sed", "gsed":
		if files := inPlace(words, "Enrsuz"); files != nil {
			return program + " -i", files
		}
		return program + " w", editorWrites(words)
	case "yq", "jaq":
		return program + " -i", inPlace(words, "Enrsuz")
	case "perl", "ruby":
		return program + " -i", inPlace(words, "")
	case "awk", "gawk":
		return program + " -i inplace", filesWith(words, "inplace")
	case "prettier":
		return program + " --write", filesWith(words, "--write", "-w")
	case "ed", "ex", "vi", "vim", "nvim":
		return program, slices.Concat(fileWords(words), editorWrites(words), editorWrites([]string{w.input}))
	case "patch":
		return program, append(fileWords(words), patched(w.input)...)
	case "apply_patch", "applypatch":
		return program, sectionsPatched(strings.Join(words, "\n") + "\n" + w.input)
	case "sd":
		if l := takeApart(words, valued("")); !l.has("p", "preview") {
			return program, fileWords(words)
		}
	case "uniq":
		files := fileWords(words)
		return program, files[min(1, len(files)):]
	case "tar", "bsdtar", "unzip":
		return program, unpacked(program, words)
	case "rm":
		return program, withBelow(fileWords(words))
	case "cp", "mv", "install", "ln", "rsync", "scp", "gcp", "gmv":
		return program, copyTargets(program, words)
	case "dd":
		return program, valuesOf("of", words)
	case "sort", "curl", "shuf", "iconv":
		return program + " -o", takeApart(words, valued(outputting)).values("o", "output")
	case "wget":
		return program + " -O", takeApart(words, valued("O output-document")).values("O")
	}
	return "", nil
}

// outputting are the options with a value of the programs that write to that of -o.
const outputting = "o output k t S T d H X u A e b c F data header request user"

// editorWrites lists what the commands of an editor write with "w FILE".
func editorWrites(texts []string) (files []string) {
	for _, text := range texts {
		for _, found := range editorWrite().FindAllStringSubmatch(text, maxVariants) {
			files = append(files, found[1])
		}
	}
	return files
}

var editorWrite = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`w!?[ \t]+([^\s;}'"|]+)`) })

// unpacked lists the members of an archive that a command names, where it puts
// them.
func unpacked(program string, words []string) (files []string) {
	l := takeApart(words, valued("C directory f file d"))
	letters := strings.Join(words[:min(1, len(words))], "") // of tar, with or without a hyphen
	if program != "unzip" && !l.has("x", "extract", "get") && (strings.HasPrefix(letters, "-") || !strings.Contains(letters, "x")) {
		return nil
	}
	dir := append(l.values("C", "directory", "d"), ".")[0]
	for _, member := range l.operands {
		files = append(files, dir+"/"+member)
	}
	return files
}

// inPlace lists the files that an editor of streams writes when -i tells it to.
// Before the i in a word may stand other options, but none that takes the rest
// of the word: perl's -e and -I, sed's -e and -f. Letters of free never do.
func inPlace(words []string, free string) []string {
	inPlace := func(word string) bool {
		if strings.HasPrefix(word, "--") {
			return strings.HasPrefix(word, "--in-place") || strings.HasPrefix(word, "--inplace")
		}
		before, _, found := strings.Cut(word, "i")
		options, isOption := strings.CutPrefix(before, "-")
		return isOption && found && (strings.Trim(options, free) == "" || !strings.ContainsAny(options, "eEfIMm"))
	}
	if !slices.ContainsFunc(words, inPlace) {
		return nil
	}
	return fileWords(words)
}

// filesWith are the words that are no options, where one word is among these.
func filesWith(words []string, among ...string) []string {
	if !slices.ContainsFunc(words, func(word string) bool { return slices.Contains(among, word) }) {
		return nil
	}
	return fileWords(words)
}

// valuesOf lists the values of words such as of=FILE.
func valuesOf(name string, words []string) (values []string) {
	for _, word := range words {
		if value, ok := strings.CutPrefix(word, name+"="); ok {
			values = append(values, value)
		}
	}
	return values
}

// withBelow adds what stands in directories of these names.
func withBelow(files []string) []string {
	for _, file := range slices.Clone(files) {
		if clean := path.Clean(file); clean != "." && clean != "/" { // nobody means these
			files = append(files, file+"/**")
		}
	}
	return files
}

// copyTargets lists what a command such as cp writes: its target, or the files in
// it that have the names of the sources; of mv the sources too.
func copyTargets(program string, words []string) []string {
	takes := "t target-directory S suffix"
	switch program {
	case "install":
		takes += " m mode o owner g group"
	case "rsync":
		takes = "e rsh f filter exclude include"
	}
	l := takeApart(words, valued(takes))
	targets := l.values("t", "target-directory")
	sources := l.operands
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
	if program == "mv" || program == "gmv" {
		files = append(files, withBelow(slices.Clone(sources))...)
	}
	return files
}

// patched lists the files that a patch writes.
func patched(patch string) (files []string) {
	for line := range strings.Lines(patch) {
		for _, side := range []string{"--- ", "+++ "} {
			if file, ok := strings.CutPrefix(line, side); ok {
				file, _, _ = strings.Cut(strings.TrimSpace(file), "\t")
				_, below, _ := strings.Cut(file, "/") // a/ and b/, with -p1
				files = append(files, file, below)
			}
		}
	}
	return files
}

// sectionsPatched lists the files that a patch as assistants write it writes:
// "*** Update File: PATH" begins what it does to one.
func sectionsPatched(patch string) (files []string) {
	for line := range strings.Lines(patch) {
		if _, file, ok := strings.Cut(line, " File: "); ok && strings.HasPrefix(line, "*** ") {
			files = append(files, strings.TrimSpace(file))
		}
	}
	return files
}
