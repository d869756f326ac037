package main

import (
	"cmp"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// scenes are the commands that README's animated terminal types, each on a cleared screen. The
// gate refuses first.
var scenes = []struct {
	command string
	fails   bool
}{
	{`stig close harbor-4ke.4 --reason "December's tides are in"`, true},
	{"cp ~/Downloads/2026-12.csv tides", false},
	{`stig checkpoint harbor-4ke.4 --surprise 0.1 --learned "the office publishes a month at a time"`, false},
	{`stig close harbor-4ke.4 --reason "December's tides are in"`, false},
}

const (
	columns     = 88
	lineHeight  = 18
	typingTime  = 0.03 // seconds for a character
	readingTime = 0.35 // seconds for a line
	mostBytes   = 300_000
)

// TestTerminal runs the scenes and compares docs/terminal.svg with their output; -update writes
// it.
func TestTerminal(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(fromHere("..", "..", "examples", "harbor"))); err != nil {
		t.Fatal(err)
	}
	november := readFile(t, dir, "tides", "2026-11.csv")
	downloads := filepath.Join(dir, "Downloads")
	if err := cmp.Or(os.Mkdir(downloads, 0o755),
		os.WriteFile(filepath.Join(downloads, "2026-12.csv"), []byte(strings.ReplaceAll(november, "2026-11", "2026-12")), 0o644)); err != nil {
		t.Fatal(err)
	}
	var pictures []scene
	for _, s := range scenes {
		printed, err := shell(dir, program(t), s.command, "STIG_TRUST=1", "STIG_ACTOR=mara")
		if (err != nil) != s.fails {
			t.Fatalf("%s: %v\n%s", s.command, err, printed)
		}
		pictures = append(pictures, scene{s.command, screen(string(steady(printed)))})
	}
	picture := animate(pictures)
	if len(picture) > mostBytes {
		t.Errorf("%d bytes, at most %d", len(picture), mostBytes)
	}
	path := fromHere("..", "..", "docs", "terminal.svg")
	if *update {
		if err := os.WriteFile(path, []byte(picture), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if readFile(t, path) != picture {
		t.Errorf("%s is not what stig prints now: run go test ./cmd/stig -run TestTerminal -update and look at it", path)
	}
}

type scene struct {
	command string
	printed []string
}

// screen cuts output to the width of the terminal.
func screen(printed string) (lines []string) {
	for line := range strings.Lines(strings.TrimRight(printed, "\n") + "\n") {
		line = strings.TrimRight(line, "\n")
		if runes := []rune(line); len(runes) > columns {
			line = string(runes[:columns-1]) + "…"
		}
		lines = append(lines, line)
	}
	return lines
}

// animate draws a terminal that types each command and then shows its output. The SVG contains
// style rules only; if reduced motion is set it shows the first scene. It starts when the first
// command has printed, so that a still picture shows output.
func animate(all []scene) string {
	lines, total := 0, 0.0
	for _, s := range all {
		lines = max(lines, len(s.printed)+1)
		total += s.seconds()
	}
	width, height := columns*8+32, (lines+1)*lineHeight+40
	var style, body strings.Builder
	began := 0.0
	for i, s := range all {
		percent := func(seconds float64) string { return fmt.Sprintf("%.2f%%", 100*seconds/total) }
		typed, ended := began+s.typing(), began+s.seconds()
		fmt.Fprintf(&style, "@keyframes s%d{0%%,%s{visibility:hidden}%s,%s{visibility:visible}%s,100%%{visibility:hidden}}\n",
			i, percent(began), percent(began+0.01), percent(ended-0.02), percent(ended-0.01))
		fmt.Fprintf(&style, "@keyframes o%d{0%%,%s{opacity:0}%s,100%%{opacity:1}}\n", i, percent(typed), percent(typed+0.01))
		fmt.Fprintf(&style, "@keyframes t%d{0%%,%s{clip-path:inset(0 100%% 0 0);animation-timing-function:steps(%d)}%s,100%%{clip-path:inset(0)}}\n",
			i, percent(began), len([]rune(s.command)), percent(typed))
		fmt.Fprintf(&style, "#s%d{animation-name:s%d}#o%d{animation-name:o%d}#t%d{animation-name:t%d}\n", i, i, i, i, i, i)
		fmt.Fprintf(&body, "<g id=\"s%d\" class=\"scene\"><text x=\"16\" y=\"52\" class=\"prompt\">$</text><text id=\"t%d\" x=\"32\" y=\"52\" class=\"typed\">%s</text><g id=\"o%d\">\n",
			i, i, html.EscapeString(screen(s.command)[0]), i)
		for n, line := range s.printed {
			if line != "" {
				fmt.Fprintf(&body, "<text x=\"16\" y=\"%d\">%s</text>\n", 52+(n+1)*lineHeight, html.EscapeString(line))
			}
		}
		body.WriteString("</g></g>\n")
		began = ended
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="stig close refuses an issue in a terminal; after the work and a checkpoint it closes it">
<style>
text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d8dee4;white-space:pre}
.prompt{fill:#7ee787}.typed{fill:#fff}
.scene{visibility:hidden}
.scene,.scene g,.typed{animation-duration:%.2fs;animation-delay:-%.2fs;animation-iteration-count:infinite;animation-timing-function:linear}
%s@media (prefers-reduced-motion:reduce){.scene,.scene g,.typed{animation:none}#s0{visibility:visible}}
</style>
<rect width="100%%" height="100%%" rx="8" fill="#161b22"/><circle cx="20" cy="18" r="5" fill="#ff5f57"/><circle cx="38" cy="18" r="5" fill="#febc2e"/><circle cx="56" cy="18" r="5" fill="#28c840"/>
%s</svg>
`, width, height, width, height, total, all[0].typing()+0.1, style.String(), body.String())
}

func (s scene) typing() float64  { return typingTime * float64(len([]rune(s.command))) }
func (s scene) seconds() float64 { return s.typing() + 2 + readingTime*float64(len(s.printed)) }
