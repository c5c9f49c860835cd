package accesslog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/logs/lines"
)

// hostLog is the log of one host of several, which serve the same routes and some of their own.
func hostLog(seed uint64, n int) string {
	r := rand.New(rand.NewPCG(seed, 7))
	var log strings.Builder
	for i := range n {
		uri := fmt.Sprintf("/items/%d", r.IntN(500))
		switch r.IntN(6) {
		case 0:
			uri = fmt.Sprintf("/own-%d/list?page=%d", seed, i)
		case 1:
			uri = fmt.Sprintf("/users/%s", []string{"ann", "bob", "cy", "dee"}[r.IntN(4)])
		case 2:
			uri = "/index.php?action=" + []string{"list", "export"}[r.IntN(2)]
		}
		took := fmt.Sprintf("\treqtime:%.3f", r.ExpFloat64()*0.1)
		if i%17 == 0 {
			took = ""
		}
		fmt.Fprintf(&log, "time:2026-11-20T%02d:%02d:%02d+09:00\tmethod:%s\turi:%s\tstatus:%d\tsize:%d%s\tua:%s\n",
			10+int(seed), i*50/n, r.IntN(60), []string{"GET", "POST"}[r.IntN(2)], uri,
			[]int{200, 200, 304, 404, 500}[r.IntN(5)],
			r.IntN(5000), took, []string{"curl/8", "Googlebot/2.1"}[r.IntN(2)])
	}
	return log.String()
}

// shown is all that a table is reported from.
func shown(t *testing.T, table *Table) string {
	t.Helper()
	b, err := json.MarshalIndent(map[string]any{"rows": table.Rows(), "slowest": table.Slowest(),
		"started": table.Started(), "step": table.Step(), "exact": table.Exact(), "notes": table.Notes(), "records": table.Records()}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestTravel: tables of logs that hosts read, as they travel, merge to what one reading of all of them
// shows, whatever makes a row and whoever read which part.
func TestTravel(t *testing.T) {
	texts := []string{hostLog(1, 3000), hostLog(2, 10), "", hostLog(3, 5000), hostLog(4, 4)}
	for _, o := range []Options{{Slowest: 10}, {By: []string{"status", "route", "nokey"}, Slowest: 3},
		{By: []string{"ua", "minute"}}, {Bots: NoBots, MaxRoutes: 5}} {
		var in []lines.Input
		for _, text := range texts {
			in = append(in, lines.Input{R: strings.NewReader(text)})
		}
		one, _, err := CollectAll(t.Context(), in, o, nil)
		if err != nil {
			t.Fatal(err)
		}
		merged := NewTable(o)
		for i, text := range texts {
			var before []byte
			for _, workers := range []int{1, 3} {
				o.Workers, o.BlockSize = workers, 4096
				part, _, err := CollectAll(t.Context(), []lines.Input{{R: strings.NewReader(text)}}, o, nil)
				if err != nil {
					t.Fatal(err)
				}
				b, err := AppendBinary(nil, part)
				if err != nil {
					t.Fatal(err)
				}
				if before != nil && !bytes.Equal(b, before) {
					t.Errorf("%v: log %d is encoded otherwise by %d workers", o.By, i, workers)
				}
				before = b
			}
			part, err := Read(o, before, i)
			if err != nil {
				t.Fatalf("%v: log %d: %v", o.By, i, err)
			}
			merged.Merge(part)
		}
		if got, want := shown(t, merged), shown(t, one); got != want {
			t.Errorf("%v: merged:\n%.3000s\none reading:\n%.3000s", o.By, got, want)
		}
	}
}

// FuzzRead: forged tables give an error, or one that merges and shows itself, and is written as it was read.
func FuzzRead(f *testing.F) {
	o := Options{Slowest: 3, By: []string{"method", "route", "status"}, Workers: 1}
	for _, text := range []string{"", hostLog(1, 3), hostLog(2, 200)} {
		t, _, err := CollectAll(f.Context(), []lines.Input{{R: strings.NewReader(text)}}, o, nil)
		if err != nil {
			f.Fatal(err)
		}
		b, err := AppendBinary(nil, t)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte{})
	f.Add([]byte{travelVersion, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		table, err := Read(o, b, 1)
		if err != nil {
			return
		}
		again, err := AppendBinary(nil, table)
		if err != nil || !bytes.Equal(again, b) {
			t.Fatalf("% x was taken but is written % x, %v", b, again, err)
		}
		all := NewTable(o)
		all.Merge(table)
		all.Rows()
		all.Slowest()
		all.Notes()
		all.Exact()
	})
}

// TestTravel_Folded: the same where logs have more keys than are followed, and more values at a place than are names.
func TestTravel_Folded(t *testing.T) {
	var texts []string
	r := rand.New(rand.NewPCG(5, 5))
	for range 3 {
		var log strings.Builder
		for i := range 30_000 {
			uri := fmt.Sprintf("/people/n%c%c%c%c/page", 'a'+r.IntN(26), 'a'+r.IntN(26), 'a'+r.IntN(26), 'a'+r.IntN(26))
			if i%3 == 0 {
				uri = []string{"/people/ann/page", "/people/bob/page", "/about"}[r.IntN(3)]
			}
			fmt.Fprintf(&log, "time:2026-11-20T10:%02d:%02d+09:00\tmethod:GET\turi:%s\tstatus:200\tsize:1\treqtime:%.3f\n", i/600, i/10%60, uri,
				r.ExpFloat64())
		}
		texts = append(texts, log.String())
	}
	for _, o := range []Options{{Slowest: 5}, {By: []string{"uri"}}, {MaxRoutes: 40}} {
		var in []lines.Input
		for _, text := range texts {
			in = append(in, lines.Input{R: strings.NewReader(text)})
		}
		one, _, err := CollectEach(t.Context(), in, o, nil)
		if err != nil || one.Records() != 90_000 {
			t.Fatal(one.Records(), err)
		}
		merged := NewTable(o)
		for i, text := range texts {
			part, _, err := CollectAll(t.Context(), []lines.Input{{R: strings.NewReader(text)}}, o, nil)
			if err != nil {
				t.Fatal(err)
			}
			b, err := AppendBinary(nil, part)
			if err != nil {
				t.Fatal(err)
			}
			if part, err = Read(o, b, i); err != nil {
				t.Fatal(err)
			}
			merged.Merge(part)
		}
		if got, want := shown(t, merged), shown(t, one); got != want {
			t.Errorf("%v %d: tables that travelled show other figures: %d and %d bytes", o.By, o.MaxRoutes, len(got), len(want))
		}
	}
}
