package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stig/app"
	"stig/cmd/stig/cli"
	"stig/draw"
)

func GraphCommand(a *cli.App) *cobra.Command {
	formats := []string{"text", "dot", "mermaid", "svg"}
	format := formats[0]
	cmd := &cobra.Command{
		Use:   "graph [ID]",
		Short: "draw what waits for what, of all issues or around one",
		Long: "graph draws the issues that are not closed, with the closed ones that they were\n" +
			"waiting for; with an ID what bears on that issue. Colours are cynefin domains,\n" +
			"frames are states, epics go round what they hold.",
		GroupID: "graph",
		Args:    cli.Takes(0, 1, "one issue at most"),
		Example: "  stig graph\n  stig graph demo-1 --format mermaid\n  stig graph --format svg > graph.svg",
		RunE: func(_ *cobra.Command, args []string) error {
			if !slices.Contains(formats, format) {
				return app.Usage(fmt.Sprintf("--format: must be one of %s; found %q", strings.Join(formats, ", "), format), "")
			}
			picture, err := a.Picture(args)
			if err != nil {
				return err
			}
			switch {
			case a.JSON:
				return a.PrintJSON("graph", graphOf(picture))
			case format == "dot":
				return a.Print(picture.DOT())
			case format == "mermaid":
				return a.Print(picture.Mermaid())
			case format == "svg":
				return a.Print(picture.SVG())
			}
			return a.Print(picture.Text())
		},
	}
	cmd.Flags().StringVar(&format, "format", format, cli.Either(formats))
	return cmd
}

// graphView is a picture as data, in which issues go by their ids.
type graphView struct {
	Nodes []graphNode `json:"nodes"`
	Edges []graphEdge `json:"edges"`
}

type graphNode struct {
	draw.Node
	Epic string `json:"epic,omitempty"` // in place of its index
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
