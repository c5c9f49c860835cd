package terminal

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/kasoku/kasoku/internal/unit"
)

// ProgressOptions configure how progress is shown.
type ProgressOptions struct {
	Live  bool // redraw one line; else write one line a step, as for the log of a build
	Width int  // cells; 0 is 80
	Color bool
	ASCII bool
}

// A Progress shows how far a run is: on a terminal one line that is redrawn, else
// one line for each step that ended. It is for stderr; results go to stdout.
//
// Methods may be called from several goroutines. Write errors are ignored: a run
// does not end because no one watches it.
type Progress struct {
	o ProgressOptions

	mu    sync.Mutex // guards drawn and the order of writes
	w     io.Writer
	drawn bool // the line on the terminal is not empty
}

// NewProgress returns a progress that writes to w. Nothing is shown yet.
func NewProgress(w io.Writer, o ProgressOptions) *Progress {
	if o.Width <= 0 {
		o.Width = standardWidth
	}
	return &Progress{w: w, o: o}
}

// A StepProgress is how far a step of the load is.
type StepProgress struct {
	Number, Of int     // Of is 0 when it is not known how many there will be
	PerSec     float64 // asked; 0 without a rate
	Elapsed    time.Duration
	Planned    time.Duration
	OK, Errors uint64
	P99        time.Duration // 0 when nothing was answered yet
}

// railCells is how wide the bar is.
const railCells = 20

// leastRail is how narrow large counts can make it.
const leastRail = 8

// Step redraws the line of a step:
//
//	step 1/3     10/s  ━━━━━━━━────────────  4 of 10 s   10 ok  0 err    p99 15.6 ms
//
// Off a terminal it writes nothing.
func (p *Progress) Step(s StepProgress) {
	if !p.o.Live {
		return
	}
	head := s.head()
	times := fmt.Sprintf("%s of %s", unit.Count(int64(s.Elapsed/time.Second)), unit.Exact(s.Planned))
	oks, errs := unit.Count(s.OK)+" ok", unit.Count(s.Errors)+" err"
	p99 := s.p99()
	// Columns stay in place while there is room; large counts take it from the gap
	// and from the bar.
	gap := strings.Repeat(" ", max(2, 9-len(errs)))
	over := len(head) + 2 + railCells + 2 + len(times) + 2 + max(6, len(oks)) + 2 + len(errs) + len(gap) +
		len(p99) - p.o.Width
	if over > 0 {
		over -= len(gap) - 2
		gap = "  "
	}
	full, empty := rail(share(s.Elapsed, s.Planned), max(railCells-max(over, 0), leastRail))
	p.redraw([]piece{
		{head + "  ", plain}, {full, cyan}, {empty, dim}, {fmt.Sprintf("  %s  %6s  ", times, oks), plain},
		{errs, errStyle(s.Errors)}, {gap, plain}, {p99, plain},
	})
}

// StepDone prints that a step ended, off a terminal:
//
//	step 3/3  1,000/s  10 s  3,050 ok  6,950 err  p99 1,116 ms
func (p *Progress) StepDone(s StepProgress) {
	if p.o.Live {
		return
	}
	parts := []string{s.head(), unit.Exact(s.Elapsed.Round(time.Second)), unit.Count(s.OK) + " ok",
		unit.Count(s.Errors) + " err"}
	if s.P99 > 0 {
		parts = append(parts, "p99 "+unit.Duration(s.P99))
	}
	p.Say(strings.Join(parts, "  "))
}

// head is "step 3/3  1,000/s".
func (s StepProgress) head() string {
	name := fmt.Sprintf("step %d", s.Number)
	if s.Of > 0 {
		name += fmt.Sprintf("/%d", s.Of)
	}
	rate := ""
	if s.PerSec > 0 {
		rate = unit.Plain(s.PerSec) + "/s"
	}
	return fmt.Sprintf("%s  %7s", name, rate)
}

func (s StepProgress) p99() string {
	if s.P99 <= 0 {
		return ""
	}
	return "p99 " + glance(s.P99)
}

// glance prints seconds from one second on: a line that moves is read at a glance.
func glance(d time.Duration) string {
	if d >= time.Second {
		return unit.DurationIn(d, time.Second) + " s"
	}
	return unit.Duration(d)
}

// Work redraws the line of something else that takes time, done of 0..1:
//
//	analyse            ━━━━━━━━━━──────────  slow.log 3.1 of 6.2 MB, 610 MB/s
//
// Off a terminal it writes nothing.
func (p *Progress) Work(name string, done float64, text string) {
	if !p.o.Live {
		return
	}
	full, empty := rail(done, railCells)
	p.redraw([]piece{{fmt.Sprintf("%-17s  ", clean(name)), plain}, {full, cyan}, {empty, dim},
		{"  " + clean(text), plain}})
}

// Say writes a line that stays, in the place of the moving one.
func (p *Progress) Say(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wipe()
	fmt.Fprintln(p.w, p.ascii(clean(text)))
}

// Clear takes the moving line away; what is written next begins at its start.
func (p *Progress) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wipe()
}

func (p *Progress) wipe() {
	if p.drawn {
		io.WriteString(p.w, "\r\x1b[K")
		p.drawn = false
	}
}

// redraw replaces the line. The old one is wiped first: a terminal whose last cell
// is filled would wipe that cell afterwards.
func (p *Progress) redraw(line []piece) {
	p.mu.Lock()
	defer p.mu.Unlock()
	styles := sheet{o: Options{Color: p.o.Color}}
	var b strings.Builder
	room := p.o.Width
	for _, x := range line {
		x.text = cut(p.ascii(x.text), room, "")
		room -= width(x.text)
		b.WriteString(styles.styled(x))
	}
	io.WriteString(p.w, "\r\x1b[K"+strings.TrimRight(b.String(), " "))
	p.drawn = true
}

func (p *Progress) ascii(s string) string {
	if p.o.ASCII {
		return plainText.Replace(s)
	}
	return s
}

func errStyle(n uint64) style {
	if n > 0 {
		return red
	}
	return plain
}

// share is a of b, 0 when b is not known.
func share(a, b time.Duration) float64 {
	if b <= 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// rail returns the done and the open part of the bar.
func rail(done float64, long int) (full, empty string) {
	n := min(max(int(done*float64(long)+0.5), 0), long)
	return strings.Repeat("━", n), strings.Repeat("─", long-n)
}
