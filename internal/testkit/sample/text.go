package sample

import "strconv"

// people and words are the vocabulary of all texts.
var (
	people = []string{"mara", "joren", "ilse", "tomas", "agent-4"}
	words  = []string{
		"anchor", "ballast", "berth", "bow", "bridge", "buoy", "cable", "cargo", "chart", "crane", "crew", "deck",
		"depth", "dock", "engine", "ferry", "fog", "freight", "galley", "gauge", "harbour", "hatch", "hull", "keel",
		"ladder", "lamp", "lantern", "ledger", "log", "mast", "mooring", "night", "pier", "pilot", "port", "quay",
		"radio", "rope", "rudder", "sail", "signal", "sluice", "stern", "storm", "tide", "tug", "valve", "watch",
		"was moved", "must hold", "is read twice", "waits for", "before the", "after each", "without a", "under the",
	}
)

// words writes between least and most words.
func (g *generator) words(least, most int) {
	for i := range least + g.random.IntN(most-least+1) {
		if i > 0 {
			g.add(" ")
		}
		g.add(g.pick(words...))
	}
}

// prose writes this many lines of text, as Markdown with lists and code.
func (g *generator) prose(least, most int) {
	for i := range least + g.random.IntN(most-least+1) {
		if i > 0 {
			g.add(`\n`)
		}
		switch at := g.random.IntN(100); {
		case at < 12:
			g.add(`\n`)
		case at < 16:
			g.add("## ")
		case at < 40:
			g.add("- ")
		case at < 45:
			g.add("See `go test ./quay/...` and ", `\"`)
			g.words(1, 2)
			g.add(`\": `)
		case at < 46:
			g.add(`\t→ `)
		}
		g.words(5, 16)
	}
}

func (g *generator) criteria() {
	switch g.random.IntN(3) {
	case 0:
		g.add("- `go test ./quay/...` passes", `\n- `)
		g.words(4, 9)
	case 1:
		g.add("```verify", `\ngo vet ./...\n`, "```")
	default:
		g.words(8, 20)
	}
}

// notes writes prose, and for half of the issues a signal table and a state estimate.
func (g *generator) notes(closed bool) {
	if g.chance(50) {
		g.prose(4, 12)
		return
	}
	g.table(closed)
	if g.chance(70) {
		g.estimate()
	}
	if g.chance(10) {
		g.add(`\n\n`)
		g.prose(1, 6)
	}
	if g.chance(5) {
		g.add(`\n\n`, "```sh", `\n<!-- stigmergic-signals -->\n`, "```")
	}
}

func (g *generator) table(closed bool) {
	progress := g.pick("exploring", "implementing", "verifying")
	if closed {
		progress = "verifying"
	}
	surprise := strconv.Itoa(g.random.IntN(10))
	cynefin := g.pick("clear", "complicated", "complicated", "complex")
	depth := map[string]string{"clear": "shallow", "complicated": "standard", "complex": "deep"}[cynefin]
	if g.random.IntN(300) == 0 {
		cynefin = g.pick("medium", "simple", "unknown")
	}
	g.add(`<!-- stigmergic-signals -->\n\n| Signal | Value | Updated |\n|---|---|---|`)
	g.row("schema-version", "1")
	g.row("cynefin", cynefin)
	g.row("surprise", "0."+surprise)
	g.row("progress", progress)
	g.row("escalation", "none")
	g.row("planning-depth", depth)
	if g.chance(20) {
		g.row("confidence", g.pick("undemonstrated", "prototype", "locally-verified"))
		g.row("evidence-freshness", "2026-09-12")
		g.row("regression-guard", "none")
	}
	g.add(`\n\n<!-- /stigmergic-signals -->`)
}

func (g *generator) row(name, value string) {
	g.add(`\n| `, name, " | ", value, " | 2026-09-", strconv.Itoa(10+g.random.IntN(18)), " |")
}

func (g *generator) estimate() {
	g.add(`\n\n<!-- checkpoint-context -->\n`)
	for _, part := range []string{"What was done", "What was learned", "What remains", "Downstream impact"} {
		g.add(`\n\n`, part, ": ")
		g.words(8, 30)
	}
	g.add(`\n<!-- /checkpoint-context -->`)
}
