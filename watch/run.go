package watch

import (
	"context"
	"errors"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/runstore"
)

// mostPerSecond bounds how often a screen is drawn: what moves, moves once a second.
const mostPerSecond = 12

// Run shows the screen on a terminal until it is quit or the context ends.
func Run(ctx context.Context, m *Model, in io.Reader, out io.Writer) error {
	profile := colorprofile.ASCII
	if m.o.Color {
		profile = colorprofile.ANSI
	}
	p := tea.NewProgram(m, tea.WithInput(in), tea.WithOutput(out), tea.WithFPS(mostPerSecond), tea.WithColorProfile(profile), tea.WithoutSignalHandler())
	stop := context.AfterFunc(ctx, p.Quit)
	defer stop()
	if _, err := p.Run(); err != nil && !errors.Is(err, tea.ErrInterrupted) {
		return err
	}
	return nil
}

// A Following is a run that another process records, read again and again.
type Following struct {
	path string
	data *Data
	next time.Time // not read again before
}

// Follow returns a run's file that is still written.
func Follow(path string, rec *kasoku.Recording) *Following {
	f := &Following{path: path, data: Replay(rec)}
	f.data.Live = true
	f.grow()
	return f
}

// grow lets a run whose end is not known yet reach to its last sample.
func (f *Following) grow() {
	for i := range f.data.Rec.Series {
		if p := f.data.Rec.Series[i].Points; len(p) > 0 {
			f.data.Rec.Run.Length = max(f.data.Rec.Run.Length, p[len(p)-1].At)
		}
	}
}

// Take returns the run as it is now. A long run takes long to read, and is read the
// less often.
func (f *Following) Take() *Data {
	if f.data.Rec.Run.State != kasoku.Running || time.Now().Before(f.next) {
		return f.data
	}
	began := time.Now()
	if rec, err := runstore.Open(f.path); err == nil {
		f.data = Replay(rec)
		f.data.Live = rec.Run.State == kasoku.Running
		f.grow()
	}
	f.next = time.Now().Add(runShare * time.Since(began))
	return f.data
}

// errTheirs says that the file is another process's.
var errTheirs = errors.New("another kasoku writes this run's file")

// Mark refuses: the file is another process's.
func (f *Following) Mark(time.Duration, string) error { return errTheirs }

// Save refuses: there is a file.
func (f *Following) Save() (string, error) { return "", errTheirs }
