package store

import (
	"database/sql"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
)

// start is the wall time of every run of these tests.
func start() time.Time {
	return time.Date(2026, 11, 20, 14, 2, 11, 123456789, time.FixedZone("JST", 9*3600))
}

func sampleRun() kasoku.Run {
	return kasoku.Run{
		ID: "20261120-050211-before", Project: "userapi", Label: "before", Started: start(),
		State: kasoku.Running, Version: "0.1.0", Revision: "main@4f2c91e", Load: "POST /users, open loop",
		Hosts: []kasoku.Host{{Name: "lab1", Cores: 4, MemoryBytes: 8 << 30, OS: "Debian GNU/Linux 12 (bookworm)", BootID: "b"}},
	}
}

// simulated fills one tick of the sources that a small machine has: about n
// series in four frames, of which two in five never change, as most of a
// server's status does not.
type simulated struct {
	frames []*kasoku.Frame
	random *rand.Rand
}

func simulate(n int) *simulated {
	s := &simulated{random: rand.New(rand.NewPCG(1, 2))}
	for i, share := range []int{20, 50, 28, 2} {
		f := &kasoku.Frame{Host: "lab1", Source: []string{"host", "process", "mysql", "self"}[i]}
		for k := range max(1, n*share/100) {
			name := fmt.Sprintf("value.%d", k)
			switch {
			case k%5 == 0:
				f.Gauge(name, "", "bytes", 0)
			case i == 1:
				f.Counter("cpu.user", fmt.Sprintf("%d worker", 1000+k), "s", 0)
			default:
				f.Counter(name, "", "count", 0)
			}
		}
		s.frames = append(s.frames, f)
	}
	return s
}

// tick moves the frames on to second n of the run.
func (s *simulated) tick(n int) []*kasoku.Frame {
	for i, f := range s.frames {
		f.At = time.Duration(n)*time.Second + time.Duration(i)*time.Millisecond + time.Duration(s.random.IntN(2e6))
		for k := range f.Samples {
			s.move(&f.Samples[k], k)
		}
	}
	return s.frames
}

func (s *simulated) move(v *kasoku.Sample, k int) {
	switch {
	case k%5 < 2 && k > 0:
	case v.Kind == kasoku.Gauge:
		v.Value = float64(4096 * (10_000 + s.random.IntN(500)))
	case v.Unit == "s" && k%3 == 0: // clock ticks
		v.Value = math.Round(v.Value*100+float64(s.random.IntN(30))) / 100
	case v.Unit == "s": // nanoseconds
		v.Value = time.Duration(math.Round(v.Value*1e9) + float64(s.random.IntN(3e8))).Seconds()
	default:
		v.Value += float64(s.random.IntN(k * 10))
	}
}

func mustCreate(tb testing.TB, path string) *Writer {
	tb.Helper()
	w, err := Create(path, sampleRun())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { w.Close() })
	return w
}

func mustOpen(tb testing.TB, path string) *kasoku.Recording {
	tb.Helper()
	rec, err := Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	return rec
}

func mustFrames(tb testing.TB, w *Writer, frames []*kasoku.Frame) {
	tb.Helper()
	for _, f := range frames {
		if err := w.Frame(f); err != nil {
			tb.Fatal(err)
		}
	}
}

// record makes a finished run of some seconds.
func record(tb testing.TB, path string, series, seconds int) {
	tb.Helper()
	w := mustCreate(tb, path)
	sim := simulate(series)
	for n := range seconds {
		mustFrames(tb, w, sim.tick(n+1))
	}
	run := sampleRun()
	run.Length = time.Duration(seconds) * time.Second
	if err := w.Finish(run); err != nil {
		tb.Fatal(err)
	}
}

func tempRun(tb testing.TB) string { return filepath.Join(tb.TempDir(), "before"+Extension) }

// query runs SQL on a file and returns the first column of the first row.
func query[T any](tb testing.TB, path, q string, args ...any) T {
	tb.Helper()
	db, err := connect(path, editing)
	if err != nil {
		tb.Fatal(err)
	}
	defer db.Close()
	var v T
	if err := db.QueryRow(q, args...).Scan(&v); err != nil && err != sql.ErrNoRows {
		tb.Fatalf("%s: %v", q, err)
	}
	return v
}

// execute changes a file without kasoku's knowledge.
func execute(tb testing.TB, path, q string, args ...any) {
	tb.Helper()
	db, err := connect(path, editing)
	if err != nil {
		tb.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(q, args...); err != nil {
		tb.Fatalf("%s: %v", q, err)
	}
}

func mustRead(tb testing.TB, path string) []byte {
	tb.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func mustWrite(tb testing.TB, path string, b []byte) {
	tb.Helper()
	if err := os.WriteFile(path, b, 0o644); err != nil {
		tb.Fatal(err)
	}
}

// files lists a directory.
func files(tb testing.TB, dir string) []string {
	tb.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		tb.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func histogramOf(ds ...time.Duration) *histogram.Histogram {
	h := histogram.New()
	for _, d := range ds {
		h.Record(d)
	}
	return h
}

// timesOf returns one duration a second.
func timesOf(of map[int64]time.Duration) *histogram.BySecond {
	var b histogram.BySecond
	for second, d := range of {
		b.Record(second, d)
	}
	return b.Clone()
}

func sameFloat(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }
