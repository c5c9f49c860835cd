package watch

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/store"
)

// mostPerSecond bounds how often a screen is drawn: what moves, moves once a second.
const mostPerSecond = 12

// Run shows the screen on a terminal until it is quit or the context ends.
func Run(ctx context.Context, m *Model, in io.Reader, out io.Writer) error {
	profile := colorprofile.ASCII
	if m.o.Color {
		profile = colorprofile.ANSI
	}
	p := tea.NewProgram(m, tea.WithInput(in), tea.WithOutput(out), tea.WithFPS(mostPerSecond),
		tea.WithColorProfile(profile), tea.WithoutSignalHandler())
	stop := context.AfterFunc(ctx, p.Quit)
	defer stop()
	if _, err := p.Run(); err != nil && !errors.Is(err, tea.ErrInterrupted) {
		return err
	}
	return nil
}

// A Following is a run that another process records, read again and again until it has
// ended or Close is called.
type Following struct {
	path string
	last atomic.Pointer[reading]
	lost atomic.Pointer[string] // why the file is read no more, where that is a bug of kasoku
	stop context.CancelFunc
	done sync.WaitGroup
}

// A reading is what a file held. It is not changed once it can be seen.
type reading struct {
	rec   *kasoku.Recording
	load  Load
	grown time.Time // when there was something new
}

// Follow returns a run's file that is still written. It is to be closed.
func Follow(path string, rec *kasoku.Recording) *Following {
	f := &Following{path: path}
	grow(rec)
	grown := rec.Run.Started.Add(rec.Run.Length)
	if now := time.Now(); grown.After(now) {
		grown = now
	}
	f.last.Store(&reading{rec, LoadOf(rec), grown})
	var ctx context.Context
	ctx, f.stop = context.WithCancel(context.Background())
	f.done.Go(func() {
		if bug := contain.Run(panel("run"), func() { f.read(ctx) }); bug != nil {
			text := "the run is read no more: " + bug.Error()
			f.lost.Store(&text)
		}
	})
	return f
}

// read reads the file until the run has ended. A long run takes long to read, and is
// read the less often.
func (f *Following) read(ctx context.Context) {
	for rest := time.Second; f.last.Load().rec.Run.State == kasoku.Running && wait(ctx, rest); {
		began := time.Now()
		if rec, err := store.Open(f.path); err == nil { // else there is nothing new
			grow(rec)
			before := f.last.Load()
			grown := before.grown
			if rec.Run.Length > before.rec.Run.Length {
				grown = began
			}
			f.last.Store(&reading{rec, LoadOf(rec), grown})
		}
		rest = max(time.Second, runShare*time.Since(began))
	}
}

// grow lets a run whose end is not known yet reach to its last sample.
func grow(rec *kasoku.Recording) {
	for i := range rec.Series {
		if p := rec.Series[i].Points; len(p) > 0 {
			rec.Run.Length = max(rec.Run.Length, p[len(p)-1].At)
		}
	}
}

// Take returns the run as it was read last.
func (f *Following) Take() *Data {
	r := f.last.Load()
	d := &Data{seconds: seconds{Rec: r.rec}, Load: r.load, Live: r.rec.Run.State == kasoku.Running}
	if r.rec.Diagnosis != nil {
		d.Findings = r.rec.Diagnosis.Findings
	}
	if d.Live {
		d.Silent = time.Since(r.grown)
	}
	if lost := f.lost.Load(); lost != nil {
		d.Notes = append(d.Notes, *lost)
	}
	return d
}

// Close ends the reading.
func (f *Following) Close() {
	f.stop()
	f.done.Wait()
}

// errTheirs means that the file is another process's.
var errTheirs = errors.New("another kasoku writes this run's file")

// Mark refuses: the file is another process's.
func (f *Following) Mark(time.Duration, string) error { return errTheirs }

// Save refuses: there is a file.
func (f *Following) Save() (string, error) { return "", errTheirs }
