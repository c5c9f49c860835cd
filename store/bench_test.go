package store

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/kasoku/kasoku/store/chunk"
)

// BenchmarkTick is one second of a recorder: four frames, committed; folds,
// checkpoints and their share of the disk included. One tick a second at 1 ms is
// 0.1 % of a core.
func BenchmarkTick(b *testing.B) {
	for _, series := range []int{100, 700, 3000} {
		b.Run(fmt.Sprintf("series=%d", series), func(b *testing.B) {
			w := mustCreate(b, tempRun(b))
			sim := simulate(series)
			n := 0
			b.ReportAllocs()
			for b.Loop() {
				n++
				mustFrames(b, w, sim.tick(n))
			}
		})
	}
}

// BenchmarkFold is one minute of one source of 700 series, from the tail to a
// chunk.
func BenchmarkFold(b *testing.B) {
	w := mustCreate(b, tempRun(b))
	sim := simulate(1400)
	f := sim.frames[1]
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		for range 60 {
			n++
			sim.tick(n)
			src := w.source(sourceKey{f.Host, f.Source})
			if err := w.append(w.db, src, f); err != nil {
				b.Fatal(err)
			}
		}
		b.StartTimer()
		if err := w.fold(w.db, w.source(sourceKey{f.Host, f.Source})); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpen reads finished runs of 700 series. The time for each point must
// not grow with the length of the run.
func BenchmarkOpen(b *testing.B) {
	for _, minutes := range []int{1, 10, 60, 360} {
		b.Run(fmt.Sprintf("minutes=%d", minutes), func(b *testing.B) {
			w := longRun(b, 700, minutes)
			if err := w.Finish(sampleRun()); err != nil {
				b.Fatal(err)
			}
			path := w.Path()
			st, err := os.Stat(path)
			if err != nil {
				b.Fatal(err)
			}
			points := 0
			b.ReportAllocs()
			for b.Loop() {
				points = 0
				for _, s := range mustOpen(b, path).Series {
					points += len(s.Points)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(points), "ns/point")
			b.ReportMetric(float64(st.Size())/float64(points), "B/point")
			b.ReportMetric(float64(st.Size()), "file-B")
		})
	}
}

// longRun records many minutes. The tail goes to the file once a
// minute rather than a tick at a time, which takes long.
func longRun(tb testing.TB, series, minutes int) *Writer {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "long"+Extension)
	w := mustCreate(tb, path)
	sim := simulate(series)
	mustFrames(tb, w, sim.tick(0)) // gives every series its row
	for m := range minutes {
		err := inTx(w.db, func(tx *sql.Tx) error {
			for s := range 60 {
				for _, f := range sim.tick(m*60 + s + 1) {
					src := w.source(sourceKey{f.Host, f.Source})
					w.resolve(w.db, src, f)
					w.tail = chunk.AppendTick(w.tail[:0], src.rowIDs, src.values)
					if _, err := tx.Exec(insertTail, f.Host, f.Source, ns(f.At), w.tail); err != nil {
						return err
					}
				}
			}
			return w.folder.foldAll(tx)
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
	return w
}

// BenchmarkFinish ends runs of 700 series: it reads all samples once for the
// extents and all bytes once for the checksums.
func BenchmarkFinish(b *testing.B) {
	for _, minutes := range []int{1, 60} {
		b.Run(fmt.Sprintf("minutes=%d", minutes), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				w := longRun(b, 700, minutes)
				b.StartTimer()
				if err := w.Finish(sampleRun()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkList describes a day's runs. 500 of them in less than a second leaves the
// list quick to ask for.
func BenchmarkList(b *testing.B) {
	for _, n := range []int{10, 500} {
		b.Run(fmt.Sprintf("runs=%d", n), func(b *testing.B) {
			dir := b.TempDir()
			first := filepath.Join(dir, "0"+Extension)
			record(b, first, 300, 60)
			for i := 1; i < n; i++ {
				if err := copyFile(filepath.Join(dir, fmt.Sprint(i)+Extension), first); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				if list, err := List(dir); err != nil || len(list) != n {
					b.Fatal(len(list), err)
				}
			}
		})
	}
}

// BenchmarkCreate: a new run file, which is made while whoever records waits.
func BenchmarkCreate(b *testing.B) {
	dir := b.TempDir()
	run := sampleRecording().Run
	for n := 0; b.Loop(); n++ {
		w, err := Create(filepath.Join(dir, strconv.Itoa(n)+".kasoku"), run)
		if err != nil {
			b.Fatal(err)
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
