package attackcmd

import (
	"context"
	"fmt"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/load/vegeta"
)

// serve lets the exporter be scraped; nil when that was not asked for.
func (f *attackFlags) serve(exporter *vegeta.Exporter) (*vegeta.ExporterServer, error) {
	if f.export == "" {
		return nil, nil
	}
	return vegeta.ServeExporter(f.export, exporter)
}

// awaitLastScrape waits for the scrape that has all of the attack, when there have been
// scrapes before.
func awaitLastScrape(e *cli.Env, ctx context.Context, s *vegeta.ExporterServer) {
	if s == nil || !s.Scraped() || ctx.Err() != nil {
		return
	}
	if e.StderrTTY {
		fmt.Fprintf(e.Stderr, "waiting for the last scrape, at most %s (^C: now)\n", unit.Exact(vegeta.LastScrape))
	}
	s.Last(ctx)
}
