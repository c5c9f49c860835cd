package store

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/test/turn"
)

// damageable makes a finished file with something in every table.
func damageable(tb testing.TB) (file []byte, want *kasoku.Recording) {
	tb.Helper()
	path := tempRun(tb)
	w := mustCreate(tb, path)
	sim := simulate(40)
	for n := 1; n <= 130; n++ {
		mustFrames(tb, w, sim.tick(n))
		s := kasoku.LoadSecond{Second: n, Step: 1, Target: "GET /", Asked: 100, Codes: map[int]uint64{200: 100},
			Latency: histogramOf(time.Millisecond, 20*time.Millisecond)}
		if err := w.AddSeconds([]kasoku.LoadSecond{s}); err != nil {
			tb.Fatal(err)
		}
	}
	rest := anyRecording(1)
	for _, err := range []error{Save(w, rest.Steps), w.SaveLoad(rest.Load), Save(w, rest.Endpoints),
		Save(w, rest.Queries), Save(w, rest.Logs), Save(w, rest.Messages), w.SaveDiagnosis(rest.Diagnosis),
		Save(w, rest.Settings), Save(w, rest.Phases), Save(w, rest.Configs), w.SaveSummary(rest.Summary),
		w.Finish(sampleRun())} {
		if err != nil {
			tb.Fatal(err)
		}
	}
	return mustRead(tb, path), mustOpen(tb, path)
}

// openBytes opens a file of these bytes, and takes care that it takes neither
// much memory nor changes the file.
func openBytes(tb testing.TB, dir string, file []byte) (*kasoku.Recording, error) {
	tb.Helper()
	path := filepath.Join(dir, "damaged"+Extension)
	mustWrite(tb, path, file)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	rec, err := Open(path)
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 256<<20 {
		tb.Fatalf("%d bytes allocated for a file of %d", took, len(file))
	}
	if rec == nil && err == nil {
		tb.Fatal("neither a recording nor an error")
	}
	if rec != nil && err != nil {
		tb.Fatalf("a recording and an error: %v", err)
	}
	return rec, err
}

// honest checks that a file is either refused, or says that it is damaged, or
// reads as it was written: figures never change silently.
func honest(tb testing.TB, what string, rec *kasoku.Recording, err error, want *kasoku.Recording) {
	tb.Helper()
	if err != nil || rec.Damage != nil {
		return
	}
	if d := difference(rec, want); d != "" {
		tb.Errorf("%s: no damage is named, but %s", what, d)
	}
}

func TestFlippedBytes(t *testing.T) {
	turn.Wait(t)
	file, want := damageable(t)
	dir := t.TempDir()
	rounds := 300
	if testing.Short() {
		rounds = 60
	}
	r := rand.New(rand.NewPCG(3, 4))
	refused, named := 0, 0
	for round := range rounds {
		b := bytes.Clone(file)
		var where []int
		for range 1 << r.IntN(5) {
			at := r.IntN(len(b))
			where = append(where, at)
			b[at] ^= byte(1 + r.IntN(255))
		}
		rec, err := openBytes(t, dir, b)
		honest(t, fmt.Sprintf("round %d, bytes %v", round, where), rec, err, want)
		switch {
		case err != nil:
			refused++
		case rec.Damage != nil:
			named++
		}
	}
	t.Logf("%d files: %d refused, %d named their damage", rounds, refused, named)
	if refused > rounds/3 {
		t.Errorf("%d of %d files could not be read at all", refused, rounds)
	}
}

func TestTruncated(t *testing.T) {
	file, want := damageable(t)
	dir := t.TempDir()
	readable := 0
	for i := range 40 {
		n := len(file) * i / 40
		rec, err := openBytes(t, dir, file[:n])
		if err != nil {
			continue
		}
		readable++
		if rec.Damage == nil {
			t.Errorf("cut to %d of %d bytes: no damage is named", n, len(file))
		}
		if rec.Run.Label != want.Run.Label && rec.Run.Label != "" {
			t.Errorf("cut to %d bytes: label %q", n, rec.Run.Label)
		}
	}
	t.Logf("%d of 40 prefixes can be read", readable)
	if readable < 15 {
		t.Errorf("only %d of 40 prefixes can be read", readable)
	}
	rec, err := openBytes(t, dir, file[:len(file)*9/10])
	if err != nil {
		t.Fatal(err)
	}
	// Which pages lie in the last tenth is SQLite's: the samples of a source, or their names.
	damage := strings.Join(rec.Damage, "\n")
	if !strings.Contains(damage, "samples of lab1/mysql: ") && !strings.Contains(damage, "samples of series whose names are lost") {
		t.Errorf("damage does not name the source: %s", damage)
	}
	t.Logf("cut by a tenth: %d series, %d seconds of load, damage %q", len(rec.Series), len(rec.Seconds), rec.Damage)
}

// TestOverwrittenPages zeroes whole pages, as a bad disk or a torn copy does.
func TestOverwrittenPages(t *testing.T) {
	turn.Wait(t)
	file, want := damageable(t)
	dir := t.TempDir()
	step := 1
	if testing.Short() {
		step = 7
	}
	for page := 1; page*pageBytes < len(file); page += step {
		b := bytes.Clone(file)
		clear(b[page*pageBytes : (page+1)*pageBytes])
		rec, err := openBytes(t, dir, b)
		honest(t, fmt.Sprintf("page %d", page+1), rec, err, want)
	}
}

// TestDamagedChunk names the minute and the source that are lost, and marks the
// gap.
func TestDamagedChunk(t *testing.T) {
	path := tempRun(t)
	record(t, path, 40, 150)
	want := mustOpen(t, path)
	chunk := query[[]byte](t, path, "SELECT data FROM chunk WHERE source = 'mysql' AND from_ns / 1000000000 = 60")
	chunk[len(chunk)/2] ^= 1
	execute(t, path, "UPDATE chunk SET data = ? WHERE source = 'mysql' AND from_ns / 1000000000 = 60", chunk)
	rec := mustOpen(t, path)
	damage := strings.Join(rec.Damage, "\n")
	if !strings.Contains(damage, "samples of lab1/mysql from 1 min to 1 min 59 s") {
		t.Errorf("damage %q", rec.Damage)
	}
	for i, s := range rec.Series {
		n := 150
		if s.Key.Source == "mysql" {
			n = 90
		}
		if len(s.Points) != n {
			t.Errorf("%d points of %v, want %d", len(s.Points), s.Key, n)
		}
		if s.Key != want.Series[i].Key {
			t.Errorf("series %v, want %v", s.Key, want.Series[i].Key)
		}
	}
	if len(rec.Gaps) != 1 || rec.Gaps[0].Source != "mysql" || int(rec.Gaps[0].Interval.From.Seconds()) != 60 {
		t.Errorf("gaps %+v", rec.Gaps)
	}
}

func TestChangedByHand(t *testing.T) {
	path := tempRun(t)
	record(t, path, 40, 3)
	execute(t, path, "UPDATE series SET unit = 'ms'")
	rec := mustOpen(t, path)
	if want := []string{"table series: its values are not those that were written"}; difference(rec.Damage, want) != "" {
		t.Errorf("damage %q", rec.Damage)
	}
}

// TestDamagedLog breaks the log of a killed recorder: what lies before the break
// is there.
func TestDamagedLog(t *testing.T) {
	path := crash(t, t.TempDir(), 50)
	log := mustRead(t, path+"-wal")
	log[len(log)/2] ^= 1
	mustWrite(t, path+"-wal", log)
	rec := mustOpen(t, path)
	if n := len(rec.Series[0].Points); n < 15 || n > 35 || rec.Damage != nil {
		t.Errorf("%d of 50 seconds, damage %v", n, rec.Damage)
	}
}

// TestDamagedCrash breaks the file of a killed recorder: it is left as it is and
// read from a copy.
func TestDamagedCrash(t *testing.T) {
	turn.Wait(t)
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(5, 6))
	rounds := 30
	if testing.Short() {
		rounds = 5
	}
	for range rounds {
		path := crash(t, dir, 70)
		file := mustRead(t, path)
		for range 20 {
			file[headerBytes+r.IntN(len(file)-headerBytes)] ^= 0x55
		}
		mustWrite(t, path, file)
		log := mustRead(t, path+"-wal")
		for range 3 {
			log[r.IntN(len(log))] ^= 0x55
		}
		mustWrite(t, path+"-wal", log)
		rec, err := Open(path)
		if (rec == nil) == (err == nil) {
			t.Errorf("recording %v, error %v", rec, err)
		}
		for _, name := range files(t, dir) {
			os.Remove(filepath.Join(dir, name))
		}
	}
}

// FuzzOpen opens a file that was changed at one place and cut.
func FuzzOpen(f *testing.F) {
	file, want := damageable(f)
	f.Add(uint32(0), []byte{}, uint32(0))
	f.Add(uint32(18), []byte{2, 2}, uint32(0))
	f.Add(uint32(28), []byte{0xff, 0xff, 0xff, 0xff}, uint32(0))
	f.Add(uint32(60), []byte{0, 0, 0, 9}, uint32(0))
	f.Add(uint32(100), []byte{5}, uint32(0))
	f.Add(uint32(5000), bytes.Repeat([]byte{0xff}, 100), uint32(1000))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, at uint32, patch []byte, cut uint32) {
		b := bytes.Clone(file[:len(file)-int(cut)%len(file)])
		copy(b[int(at)%(len(b)+1):], patch)
		rec, err := openBytes(t, dir, b)
		honest(t, "fuzz", rec, err, want)
	})
}
