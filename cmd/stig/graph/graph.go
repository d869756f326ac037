package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/dag"
	"stig/internal/draw"
	"stig/internal/service"
	"stig/internal/visible"
	"stig/internal/workspace"
)

func GraphCommand(a *cli.App) *cobra.Command {
	formats := []string{"text", "dot", "mermaid", "svg"}
	format, to := formats[0], ""
	cmd := &cobra.Command{
		Use:   "graph [ID]",
		Short: "draw dependencies: of all issues, or around one",
		Long: "Draw the unclosed issues, and the closed ones that they depended on; with an ID, the issues\n" +
			"around that one. Colours are Cynefin domains; frames are states, dashed or dotted if an issue\n" +
			"waits. Epics enclose their children. DOT, Mermaid and SVG of up to 300 linked issues leave\n" +
			"out arrows that longer paths imply.\n\n" +
			"With an ID and --to, list the ways in which the first issue waits for the second, shortest\n" +
			"first: through blockers, epics and children of epics. stig says so if there are too many to\n" +
			"list. If there is no way, the exit code is 1.",
		Args: cli.Takes(0, 1, "one issue at most"),
		Example: "  stig graph\n  stig graph demo-1 --format mermaid\n  stig graph --format svg > graph.svg\n" +
			"  stig graph demo-1 --to demo-4",
		RunE: func(_ *cobra.Command, args []string) error {
			if !slices.Contains(formats, format) {
				return workspace.Usage(fmt.Sprintf("--format: must be one of %s; found %q", strings.Join(formats, ", "), format), "")
			}
			if to != "" {
				return ways(a, args, to, format)
			}
			picture, err := service.Picture(a.Run, args)
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON("graph", graphOf(picture))
			}
			return a.Print(drawn(picture, format))
		},
	}
	cmd.Flags().StringVar(&format, "format", format, cli.Either(formats))
	cmd.Flags().StringVar(&to, "to", "", "list the ways in which the issue waits for `OTHER`")
	return cmd
}

// drawn returns a picture in a format.
func drawn(picture *draw.Picture, format string) string {
	switch format {
	case "dot":
		return picture.DOT()
	case "mermaid":
		return picture.Mermaid()
	case "svg":
		return picture.SVG()
	}
	return picture.Text()
}

// ways prints why one issue waits for another.
func ways(a *cli.App, args []string, to, format string) error {
	if len(args) == 0 {
		return workspace.Usage("--to: needs the ID of the waiting issue", "type stig graph ID --to "+to)
	}
	w, err := service.WaysBetween(a.Run, args[0], to)
	switch {
	case err != nil:
		return err
	case a.JSON:
		err = a.PrintJSON("ways", w, graphOf(w.Picture))
	case format != "text":
		err = a.Print(drawn(w.Picture, format))
	default:
		err = a.Print(waysText(w))
	}
	if err == nil && len(w.Ways) == 0 {
		return workspace.Found()
	}
	return err
}

// waysText formats the paths as text.
func waysText(w *service.Ways) string {
	if len(w.Ways) == 0 {
		return fmt.Sprintf("%s does not wait for %s\n", w.From, w.To)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s waits for %s in %s\n", w.From, w.To, visible.Counted(len(w.Ways), "way"))
	for _, way := range w.Ways {
		fmt.Fprintf(&b, "\n%s\n", strings.Join(dag.Ends(way.Issues), " → "))
		for _, step := range dag.Ends(way.Steps) {
			fmt.Fprintf(&b, "  %s\n", step)
		}
	}
	if w.More {
		b.WriteString("\nthere may be more: stig lists only some of very many ways, and only the shortest past a dependency cycle\n")
	}
	return b.String()
}

// graphView is a picture as JSON, with issues named by id.
type graphView struct {
	Nodes []graphNode `json:"nodes"`
	Edges []graphEdge `json:"edges"`
}

type graphNode struct {
	draw.Node
	Cynefin *string `json:"cynefin"`        // nil if there is no signal table
	Epic    string  `json:"epic,omitempty"` // id of the epic
}

type graphEdge struct {
	From string `json:"from"`
	To   string `json:"to"`
	Ring bool   `json:"ring"`
}

func graphOf(p *draw.Picture) graphView {
	view := graphView{Nodes: []graphNode{}, Edges: []graphEdge{}}
	for _, node := range p.Nodes {
		shown := graphNode{Node: node}
		if node.Cynefin != "" {
			shown.Cynefin = &node.Cynefin
		}
		if node.Epic >= 0 {
			shown.Epic = p.Nodes[node.Epic].ID
		}
		view.Nodes = append(view.Nodes, shown)
	}
	for _, e := range p.Edges {
		view.Edges = append(view.Edges, graphEdge{From: p.Nodes[e.From].ID, To: p.Nodes[e.To].ID, Ring: e.Ring})
	}
	return view
}
