package sources_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/observe"
	"github.com/kasoku/kasoku/observe/cgroup"
	"github.com/kasoku/kasoku/observe/host"
	"github.com/kasoku/kasoku/observe/mysql"
	"github.com/kasoku/kasoku/observe/process"
	"github.com/kasoku/kasoku/observe/sockets"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/recording"
	"github.com/kasoku/kasoku/report/terminal"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
	"github.com/kasoku/kasoku/store"
)

// mostBytes is how large the file of six hours may be.
const mostBytes = 60 << 20

// TestLongRecording records for hours of a simulated clock what real sources said
// of a busy MariaDB for a while, with its counters growing on: no tick may be lost,
// and the file must stay small.
//
// KASOKU_LONG=1 makes it six hours; KASOKU_KEEP names where to keep the file.
func TestLongRecording(t *testing.T) {
	turn.Wait(t)
	if testing.Short() {
		t.Skip("starts MariaDB")
	}
	length, model := 20*time.Minute, 6*time.Second
	if os.Getenv("KASOKU_LONG") != "" {
		length, model = 6*time.Hour, time.Minute
	}
	frames := busy(t, model)
	path := os.Getenv("KASOKU_KEEP")
	if path == "" {
		path = filepath.Join(t.TempDir(), "long.kasoku")
	}
	synctest.Test(t, func(t *testing.T) { replay(t, path, frames, length) })

	began := time.Now()
	rec, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	opened := time.Since(began)
	doc := recording.Show(rec, report.Options{})
	if err := terminal.Write(io.Discard, doc, terminal.Options{Width: 80}); err != nil {
		t.Fatal(err)
	}
	shown := time.Since(began)
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	ticks := int(length / time.Second)
	for source, name := range map[string]string{"host": "cpu.user", "mysql": "Questions", "process": "count"} {
		s := rec.Find(kasoku.Key{Source: source, Name: name})
		if s == nil || len(s.Points) < ticks-1 {
			t.Errorf("%s %s has not all of %d ticks", source, name, ticks)
		}
	}
	if len(rec.Gaps) > 0 || len(rec.Damage) > 0 {
		t.Errorf("gaps %v, damage %v", rec.Gaps, rec.Damage)
	}
	if want := int64(mostBytes * length.Hours() / 6); st.Size() > want {
		t.Errorf("the file of %v takes %d bytes, %d are allowed", length, st.Size(), want)
	}
	t.Logf("%v, %d series: %.1f MB, %.0f bytes a second; read in %v, shown in %v",
		length, len(rec.Series), float64(st.Size())/1e6, float64(st.Size())/length.Seconds(), opened.Round(time.Millisecond), shown.Round(time.Millisecond))
}

// leastFile is what any run file may take, whatever its length: tables, the first
// chunk of each series, what is kept of the servers.
const leastFile = 1 << 20

// mostHalfHour is how large the file of 30 minutes may be.
const mostHalfHour = 10 << 20

// TestRecording records this host and a MariaDB that has work, as they are and on
// their own clock: no tick may be lost, and the file must stay small.
//
// KASOKU_RECORD says for how long, such as 30m; without it the test is left out.
func TestRecording(t *testing.T) {
	text := os.Getenv("KASOKU_RECORD")
	if text == "" {
		t.Skip("KASOKU_RECORD is not set; make test-long sets it")
	}
	length, err := time.ParseDuration(text)
	if err != nil || length < 5*time.Second {
		t.Fatalf("KASOKU_RECORD=%q: want 5s or more", text)
	}
	path := os.Getenv("KASOKU_KEEP")
	if path == "" {
		path = filepath.Join(t.TempDir(), "recording.kasoku")
	}
	l := newLab(t)
	run := kasoku.Run{Label: "recording", Started: time.Now(), Hosts: []kasoku.Host{{Name: "lab1", Cores: runtime.NumCPU()}}}
	w, err := store.Create(path, run)
	if err != nil {
		t.Fatal(err)
	}
	l.watch(t, length, observe.Options{Start: run.Started, Sink: w}, "host", "process", "cgroup", "sockets", "mysql")
	run.Length, run.State = length, kasoku.Finished
	if err := errors.Join(w.Finish(run), w.Close()); err != nil {
		t.Fatal(err)
	}
	rec, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	whole(t, rec, int(length/time.Second))
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if most := leastFile + int64(mostHalfHour*length.Minutes()/30); st.Size() > most || length >= 30*time.Minute && st.Size() > int64(mostHalfHour*length.Minutes()/30) {
		t.Errorf("the file of %v takes %d bytes, %d are allowed", length, st.Size(), most)
	}
	own := 0.0
	for _, name := range []string{"cpu.user", "cpu.system"} {
		d, _ := rec.Find(kasoku.Key{Source: "self", Name: name}).Delta(kasoku.Interval{To: length})
		own += d
	}
	late, _ := rec.Find(kasoku.Key{Source: "self", Name: "tick.late"}).Max(kasoku.Interval{To: length + time.Second})
	t.Logf("%v, %d series: %.1f MB, %.0f bytes a second; the latest tick was %.1f ms late; this test took %.2f %% of one core, its load with it",
		length, len(rec.Series), float64(st.Size())/1e6, float64(st.Size())/length.Seconds(), 1e3*late, 100*own/length.Seconds())
}

// whole checks that a recording has every tick of the sources that are read each
// second, and no gap.
func whole(t *testing.T, rec *kasoku.Recording, ticks int) {
	t.Helper()
	for source, name := range map[string]string{"host": "cpu.user", "mysql": "Questions", "process": "count", "self": "tick.late"} {
		s := rec.Find(kasoku.Key{Source: source, Name: name})
		if s == nil {
			t.Errorf("no %s %s", source, name)
			continue
		}
		seen := map[int]bool{}
		for _, p := range s.Points {
			seen[int(p.At/time.Second)] = true
		}
		for tick := range ticks {
			if !seen[tick] {
				t.Errorf("%s %s has no tick of second %d", source, name, tick)
			}
		}
	}
	if len(rec.Gaps) > 0 || len(rec.Damage) > 0 {
		t.Errorf("gaps %v, damage %v", rec.Gaps, rec.Damage)
	}
}

// A keeper keeps the frames that a sampler hands on.
type keeper struct {
	mu     sync.Mutex
	frames map[string][]*kasoku.Frame // by source
}

func (k *keeper) Frame(f *kasoku.Frame) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	c := *f
	c.Samples = append([]kasoku.Sample(nil), f.Samples...)
	k.frames[f.Source] = append(k.frames[f.Source], &c)
	return nil
}

func (k *keeper) Gap(kasoku.Gap) error     { return nil }
func (k *keeper) Event(kasoku.Event) error { return nil }

// busy samples this host and a MariaDB that has work for a time.
func busy(t *testing.T, length time.Duration) map[string][]*kasoku.Frame {
	k := &keeper{frames: map[string][]*kasoku.Frame{}}
	newLab(t).watch(t, length, observe.Options{Sink: k}, "host", "process", "mysql")
	return k.frames
}

// A lab is a MariaDB with a table.
type lab struct {
	server *sandbox.Server
	db     *sql.DB
}

func newLab(t *testing.T) lab {
	s := sandboxtest.MariaDB(t, sandbox.Options{})
	db := sandboxtest.DB(t, s, "")
	sandboxtest.Exec(t, db, "CREATE DATABASE shop", "CREATE TABLE shop.items (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(99))")
	return lab{s, db}
}

// watch gives the database work for a time and samples it and this host by the named
// sources.
func (l lab) watch(t *testing.T, length time.Duration, o observe.Options, names ...string) {
	db := l.db
	ctx, cancel := context.WithTimeout(t.Context(), length+500*time.Millisecond)
	defer cancel()
	var work sync.WaitGroup
	for w := range 2 {
		work.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(w), 5))
			pause := time.NewTicker(time.Millisecond) // the disk is not what is measured
			defer pause.Stop()
			for ctx.Err() == nil { // a statement that the end of the time breaks off is none that counts
				_, _ = db.ExecContext(ctx, "INSERT INTO shop.items (name) VALUES (?)", fmt.Sprint("item ", rng.IntN(1e6)))
				_ = db.QueryRowContext(ctx, "SELECT name FROM shop.items WHERE id = ?", 1+rng.IntN(1000)).Scan(new(string))
				<-pause.C
			}
		})
	}
	machine, err := host.New(host.Options{})
	if err != nil {
		t.Fatal(err)
	}
	procs, err := process.New(process.Options{PIDs: []int{os.Getpid(), l.server.Pid()}})
	if err != nil {
		t.Fatal(err)
	}
	all := []observe.Source{machine, procs, mysql.New(db), cgroup.New(cgroup.Options{PIDs: procs.Watched}), sockets.New(sockets.Options{})}
	o.Host = "lab1"
	for _, src := range all {
		if slices.Contains(names, src.Name()) {
			o.Sources = append(o.Sources, src)
		}
	}
	if err := observe.New(o).Run(ctx); err != nil {
		t.Fatal(err)
	}
	work.Wait()
}

// replay records for a time what the frames said, over and over, in a file.
func replay(t *testing.T, path string, frames map[string][]*kasoku.Frame, length time.Duration) {
	run := kasoku.Run{Label: "long", Started: time.Now(), Hosts: []kasoku.Host{{Name: "lab1", Cores: 2}}}
	w, err := store.Create(path, run)
	if err != nil {
		t.Fatal(err)
	}
	var sources []observe.Source
	for i, name := range []string{"host", "process", "mysql"} {
		if len(frames[name]) < 3 {
			t.Fatalf("source %s gave %d frames", name, len(frames[name]))
		}
		sources = append(sources, newEcho(name, frames[name], uint64(i)))
	}
	ctx, cancel := context.WithTimeout(t.Context(), length+time.Millisecond)
	defer cancel()
	if err := observe.New(observe.Options{Host: "lab1", Start: run.Started, Sources: sources, Sink: w}).Run(ctx); err != nil {
		t.Fatal(err)
	}
	run.Length, run.State = length, kasoku.Finished
	if err := w.Finish(run); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// An echo is a source that says again what another said, a little louder or
// softer each time, so that it compresses no better than the real one. Counters
// grow on from where they were.
type echo struct {
	name   string
	frames []*kasoku.Frame
	at     int
	rng    *rand.Rand
	totals map[string]float64
}

func newEcho(name string, frames []*kasoku.Frame, seed uint64) *echo {
	return &echo{name: name, frames: frames, rng: rand.New(rand.NewPCG(seed, 9)), totals: map[string]float64{}}
}

func (e *echo) Name() string { return e.name }

func (e *echo) Collect(_ context.Context, f *kasoku.Frame) error {
	before, now := e.frames[e.at%(len(e.frames)-1)], e.frames[e.at%(len(e.frames)-1)+1]
	e.at++
	last := map[string]float64{}
	for _, s := range before.Samples {
		last[s.Name+"\x00"+s.Instance] = s.Value
	}
	for _, s := range now.Samples {
		key := s.Name + "\x00" + s.Instance
		if s.Kind == kasoku.Gauge {
			s.Value = e.vary(s.Value, s.Value)
		} else {
			was, known := last[key]
			if _, begun := e.totals[key]; !begun {
				e.totals[key] = s.Value
			} else if known {
				e.totals[key] += e.vary(math.Max(0, s.Value-was), s.Value)
			}
			s.Value = e.totals[key]
		}
		f.Samples = append(f.Samples, s)
	}
	return nil
}

// vary changes a value by up to a tenth. It stays a whole number, or one with two
// digits, as the kernel's ticks are, when like is one.
func (e *echo) vary(v, like float64) float64 {
	v *= 0.9 + 0.2*e.rng.Float64()
	for _, digits := range []float64{1, 100, 1e6} {
		if math.Round(like*digits) == like*digits {
			return math.Round(v*digits) / digits
		}
	}
	return v
}
