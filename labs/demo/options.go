package demo

import (
	"context"
	"errors"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/record"
)

// Options configure how the story runs. Zero values take the defaults named.
type Options struct {
	Dir      string          // where the run files, the report and the summary go
	Work     string          // a temporary directory for the database and the logs
	Program  string          // the kasoku binary, which runs the service
	Version  string          // of kasoku, for the run files
	Database string          // mariadb (default) or mysql
	Ladder   []float64       // requests per second; 10, 100, 1000
	Most     float64         // how far the ladder goes on by doubling; 16,000
	Each     time.Duration   // a step; 10 s
	Pause    time.Duration   // between steps; 1 s
	Hard     context.Context // its end aborts at once; may be nil
	Story    Listener
}

func (o *Options) defaults() {
	if o.Database == "" {
		o.Database = "mariadb"
	}
	if len(o.Ladder) == 0 {
		o.Ladder = []float64{10, 100, 1000}
	}
	if o.Most == 0 {
		o.Most = 16_000
	}
	if o.Each == 0 {
		o.Each = 10 * time.Second
	}
	if o.Pause == 0 {
		o.Pause = time.Second
	}
}

// A Listener receives the story as it happens. Its methods are called from one
// goroutine, Progress from another.
type Listener interface {
	Chapter(n, of int, title string)
	Progress(p record.Progress)
	Run(rec *kasoku.Recording)        // the ladder's table of a finished run
	Diagnosis(rec *kasoku.Recording)  // findings of the run before
	Try(t Try)                        // one fix alone
	Comparison(c *compare.Comparison) // before against after
}

// A Try is one fix tried alone at the breaking step.
type Try struct {
	ID      string // of the finding that the fix is for
	What    string // "keep 1,000 idle connections"
	Effect  *compare.EffectResult
	Control bool // a change that must do nothing
	File    string
}

// ErrNotReproducible means that nothing broke on this machine.
var ErrNotReproducible = errors.New("not reproducible on this machine: no step broke")

// What the fixed run must reach at the step that broke.
const (
	fixedSuccess  = 0.999 // the fixed run succeeds at least so often
	fixedP99Ratio = 1. / 3
)
