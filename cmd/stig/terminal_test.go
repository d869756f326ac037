package main

import (
	"fmt"
	"html"
	"os"
	"strings"
	"testing"
)

// scenes are the commands that the animated terminal of README types, each on a cleared
// screen: those of its samples.
var scenes = []string{
	"stig ready",
	"stig orient harbor-4ke.4 | head -n 16",
	`stig checkpoint harbor-4ke.4 --surprise 0.1 --learned "the office publishes a month at a time"`,
	"sed s/2026-11/2026-12/ tides/2026-11.csv >tides/2026-12.csv",
	`stig close harbor-4ke.4 --reason "December's tides are in"`,
}

const (
	columns     = 88
	lineHeight  = 18
	typingTime  = 0.03 // seconds for a character
	readingTime = 0.35 // seconds for a line
	headStart   = 0.6  // seconds by which it has begun when it is shown: a picture that stands still has output
	mostBytes   = 300_000
)

// TestTerminal runs the scenes and keeps docs/terminal.svg what they print; -update writes it.
func TestTerminal(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(fromHere("..", "..", "examples", "harbor"))); err != nil {
		t.Fatal(err)
	}
	var pictures []scene
	for _, command := range scenes {
		printed, err := shell(dir, program(t), command, "STIG_NOW=2026-11-20T09:00:00Z", "STIG_TRUST=1", "STIG_ACTOR=mara")
		if err != nil {
			t.Fatalf("%s: %v\n%s", command, err, printed)
		}
		pictures = append(pictures, scene{command, screen(string(printed))})
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

// screen cuts what was printed as wide as the terminal is, and takes out the times of checks.
func screen(printed string) (lines []string) {
	for line := range strings.Lines(strings.TrimRight(printed, "\n") + "\n") {
		if line = strings.TrimRight(line, "\n"); strings.HasPrefix(line, "  Verified: ") {
			line, _, _ = strings.Cut(line, " [")
		}
		if runes := []rune(line); len(runes) > columns {
			line = string(runes[:columns-1]) + "…"
		}
		lines = append(lines, line)
	}
	return lines
}

// animate draws a terminal that types each command and then shows what it printed. It is
// an SVG with style rules alone; where motion is not wanted it shows the last scene.
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
	last := len(all) - 1
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="stig ready, orient, checkpoint and close in a terminal">
<style>
text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d8dee4;white-space:pre}
.prompt{fill:#7ee787}.typed{fill:#fff}
.scene{visibility:hidden}
.scene,.scene g,.typed{animation-duration:%.2fs;animation-delay:-%.2fs;animation-iteration-count:infinite;animation-timing-function:linear}
%s@media (prefers-reduced-motion:reduce){.scene,.scene g,.typed{animation:none}#s%d{visibility:visible}}
</style>
<rect width="100%%" height="100%%" rx="8" fill="#161b22"/><circle cx="20" cy="18" r="5" fill="#ff5f57"/><circle cx="38" cy="18" r="5" fill="#febc2e"/><circle cx="56" cy="18" r="5" fill="#28c840"/>
%s</svg>
`, width, height, width, height, total, headStart, style.String(), last, body.String())
}

func (s scene) typing() float64  { return typingTime * float64(len([]rune(s.command))) }
func (s scene) seconds() float64 { return s.typing() + 2 + readingTime*float64(len(s.printed)) }
