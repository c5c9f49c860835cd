package accesslog

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/kasoku/kasoku/logs/accessformat"
	"github.com/kasoku/kasoku/logs/lines"
)

// sampleRecords returns the records of the sample, each with memory of its own.
func sampleRecords(t testing.TB) (out []accessformat.Record) {
	t.Helper()
	in, err := lines.Inputs([]string{sample})
	if err != nil {
		t.Fatal(err)
	}
	w, err := lines.Open(in, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	r := accessformat.NewReader(w, nil)
	for r.Scan() {
		c := *r.Record()
		for _, b := range []*[]byte{&c.Method, &c.Path, &c.UserAgent, &c.Protocol, &c.RemoteAddr, &c.User, &c.Referer, &c.Request} {
			*b = bytes.Clone(*b)
		}
		out = append(out, c)
	}
	return out
}

// TestTable_Allocs: once the rows are there, a record costs no memory.
func TestTable_Allocs(t *testing.T) {
	filter, err := CompileFilter(`status >= 200 and route != "/x" and ua != "x" and (status < 600 or bot)`)
	if err != nil {
		t.Fatal(err)
	}
	records := sampleRecords(t)
	for name, o := range map[string]Options{
		"all": {Slowest: 37}, "by": {By: []string{"host", "ua", "status"}}, "filter": {Where: filter},
	} {
		table := NewTable(o).beside()
		add := func() {
			for i := range records {
				table.add(&records[i], place{})
			}
			table.endBlock(0)
		}
		for range fewLatencies + 1 { // until every row has a histogram
			add()
		}
		want := 0.0
		if name == "filter" {
			want = 5 * float64(len(records)) // numbers that the machine of expressions boxes
		}
		if n := testing.AllocsPerRun(3, add); n > want+float64(len(records))/1000 {
			t.Errorf("%s: %v allocations for %d records", name, n, len(records))
		}
	}
}

func BenchmarkTable(b *testing.B) {
	filter, err := CompileFilter(`status >= 500 and route == "/api/trend"`)
	if err != nil {
		b.Fatal(err)
	}
	records := sampleRecords(b)
	for _, c := range []struct {
		name string
		o    Options
	}{{"all", Options{Slowest: 37}}, {"by=ua,status", Options{By: []string{"ua", "status"}}}, {"where", Options{Where: filter}}, {"detail", Options{Detail: true}}} {
		b.Run(c.name, func(b *testing.B) {
			table := NewTable(c.o).beside()
			b.ReportAllocs()
			for b.Loop() {
				for i := range records {
					table.add(&records[i], place{})
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(records)), "ns/record")
		})
	}
}

// BenchmarkCollectAll reads the sample many times over, or the file that
// KASOKU_LOG names.
func BenchmarkCollectAll(b *testing.B) {
	path := os.Getenv("KASOKU_LOG")
	if path == "" {
		path = bigSample(b, 40)
	}
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			b.SetBytes(info.Size())
			b.ReportAllocs()
			for b.Loop() {
				t, _, err := CollectAll(context.Background(), []lines.Input{{Path: path}}, Options{Workers: workers, Slowest: 37}, nil)
				if err != nil {
					b.Fatal(err)
				}
				t.Rows()
			}
		})
	}
}

// bigSample writes the sample n times.
func bigSample(b *testing.B, n int) string {
	b.Helper()
	in := lines.Input{Path: sample}
	text, err := in.Peek(64 << 20)
	if err != nil {
		b.Fatal(err)
	}
	path := b.TempDir() + "/access.log"
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	for range n {
		if _, err := io.Copy(f, bytes.NewReader(text)); err != nil {
			b.Fatal(err)
		}
	}
	return path
}
