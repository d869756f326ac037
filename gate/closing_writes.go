package gate

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// writes lists the files that a command would write, and how it says so.
func (w *watch) writes(program string, words []string) (verb string, files []string) {
	switch program {
	case "sed", "gsed", "perl", "ruby", "yq", "jaq", "mlr":
		if inPlace(program, words) {
			return program + " -i", fileWords(words)
		}
		if strings.HasSuffix(program, "sed") {
			return program + " w", editorWrites(words)
		}
	case "awk", "gawk":
		if slices.Contains(words, "inplace") {
			return program + " -i inplace", fileWords(words)
		}
	case "tee", "sponge", "truncate", "shred", "nano", "emacs", "unlink", "dos2unix", "unix2dos", "rw":
		return program, fileWords(words)
	case "ed", "ex", "vi", "vim", "nvim":
		return program, append(fileWords(words), editorWrites(append(slices.Clone(words), w.input))...)
	case "patch":
		return program, append(fileWords(words), patched(w.input)...)
	case "sd":
		if !takeApart(words, valued("")).has("p", "preview") {
			return program, fileWords(words)
		}
	case "prettier":
		if slices.Contains(words, "--write") || slices.Contains(words, "-w") {
			return program + " --write", fileWords(words)
		}
	case "uniq":
		if files := fileWords(words); len(files) > 1 {
			return program, files[1:]
		}
	case "tar", "bsdtar", "unzip":
		return program, unpacked(program, words)
	case "rm":
		return program, withBelow(fileWords(words))
	case "cp", "mv", "install", "ln", "rsync", "scp", "gcp", "gmv":
		return program, copyTargets(program, words)
	case "dd":
		for _, word := range words {
			if file, ok := strings.CutPrefix(word, "of="); ok {
				files = append(files, file)
			}
		}
		return "dd", files
	case "sort", "curl", "shuf", "iconv":
		l := takeApart(words, valued("o output k t S T d H X u A e b c F data header request user"))
		return program + " -o", append(l.given["o"], l.given["output"]...)
	case "wget":
		return "wget -O", takeApart(words, valued("O output-document")).given["O"]
	case "apply_patch", "applypatch":
		for line := range strings.Lines(strings.Join(words, "\n") + "\n" + w.input) {
			if _, file, ok := strings.Cut(line, " File: "); ok && strings.HasPrefix(line, "*** ") {
				files = append(files, strings.TrimSpace(file))
			}
		}
		return program, files
	}
	return "", nil
}

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
	extracts := program == "unzip" || l.has("x", "extract", "get") || len(words) > 0 && words[0][0] != '-' && strings.Contains(words[0], "x")
	if !extracts {
		return nil
	}
	dirs := append(slices.Concat(l.given["C"], l.given["directory"], l.given["d"]), ".")
	for _, member := range l.operands {
		files = append(files, dirs[0]+"/"+member)
	}
	return files
}

// inPlace tells whether an editor of streams writes the files that it reads.
func inPlace(program string, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool {
		if strings.HasPrefix(word, "--") {
			return strings.HasPrefix(word, "--in-place") || strings.HasPrefix(word, "--inplace")
		}
		if !strings.HasPrefix(word, "-") {
			return false
		}
		// Letters before the i are other options without a value; perl's -e
		// and -I, and sed's -e and -f, take the rest of the word.
		before, _, found := strings.Cut(word[1:], "i")
		return found && !strings.ContainsAny(before, "eEfIMm") || found && program != "perl" && program != "ruby" && strings.Trim(before, "Enrsuz") == ""
	})
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
	targets := append(l.given["t"], l.given["target-directory"]...)
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
