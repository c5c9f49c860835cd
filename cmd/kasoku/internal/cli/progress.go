package cli

import (
	"strings"
	"time"

	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/record"
	"github.com/kasoku/kasoku/report/terminal"
)

// Progress returns a line on stderr that is redrawn when that is a terminal.
func (e *Env) Progress() *terminal.Progress {
	return terminal.NewProgress(terminal.Raw(e.Stderr), terminal.ProgressOptions{
		Live: e.StderrTTY, Color: e.StderrTTY && e.Colored(), ASCII: e.ASCII, Width: e.Columns(),
	})
}

// ShowProgress words what a run is doing; planned is how long it shall record, 0
// when that is not known.
func ShowProgress(p *terminal.Progress, now record.Progress, planned time.Duration) {
	switch now.Phase {
	case record.PhaseLoad:
		s := terminal.StepProgress{
			Number: now.Step.Number, PerSec: now.Step.PerSec, Elapsed: now.Elapsed, Planned: now.Step.Planned,
			OK: now.OK, Errors: now.Failed, P99: now.P99,
		}
		if now.Over {
			p.StepDone(s)
			return
		}
		p.Step(s)
	case record.PhaseWait:
		p.Work("wait", 0, unit.Elapsed(now.Elapsed.Round(time.Second))+" for "+now.Text)
	case record.PhaseRecord:
		share := 0.0
		text := unit.Elapsed(now.Elapsed.Round(time.Second))
		if planned > 0 {
			share = now.Elapsed.Seconds() / planned.Seconds()
			text += " of " + unit.Exact(planned)
		}
		if now.Text != "" {
			text += "; " + now.Text
		}
		p.Work("record", share, text)
	default:
		p.Work(strings.TrimSpace(now.Label+" "+now.Phase), 0, now.Text)
	}
}
