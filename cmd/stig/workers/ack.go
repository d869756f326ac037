package workers

import (
	"context"

	"stig/cmd/stig/cli"
	"stig/internal/service/traces"
	"stig/internal/visible"
)

func acknowledge(ctx context.Context, a *cli.App, r traces.AckRequest) error {
	acked, err := traces.Ack(ctx, a.Run, r)
	return a.Result("acked", acked, err, func() error { return printAcked(a, acked, r.DryRun) })
}

func printAcked(a *cli.App, acked *traces.Acked, dryRun bool) error {
	did := "acknowledged "
	if dryRun {
		did = "would acknowledge "
	}
	if len(acked.Acked)+len(acked.There) == 0 {
		return a.Printf("nothing to acknowledge\n")
	}
	s := a.Sheet()
	for _, id := range acked.Acked {
		s.Line(cli.Plain, did+id)
	}
	for _, id := range acked.There {
		s.Line(cli.Plain, visible.OneLine(id)+" was acknowledged before")
	}
	return a.Show(s)
}
