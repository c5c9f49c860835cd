//go:build !race

package load

import (
	"testing"
	"time"
)

func TestRecorderDoesNotAllocatePerHit(t *testing.T) {
	r := NewRecorder(Plan{Targets: []Target{{Method: "GET", URL: "http://a/"}}}, 0)
	hits := []Hit{{Step: 1, Due: 1, Sent: 2, Done: 3 * time.Millisecond, Code: 200}, {Step: 1, Due: 1, Sent: 2, Done: 5 * time.Millisecond, Code: 500, Err: "500 Internal Server Error"}}
	r.Hits(hits)
	if n := testing.AllocsPerRun(1000, func() { r.Hits(hits) }); n != 0 {
		t.Errorf("%v allocations for each batch, want 0", n)
	}
	if n := testing.AllocsPerRun(1000, func() { r.Named("GET /b", &hits[1]) }); n != 0 {
		t.Errorf("%v allocations for each named hit, want 0", n)
	}
}

func TestFillDoesNotAllocate(t *testing.T) {
	tab := table(t, "id,name\n1,ann\n2,\"a b\"\n")
	f, err := NewFill(FillOptions{
		URL:   "http://h/{{csv.name}}/{{uuid}}?{{pick a|b}}={{csv.name}}",
		Body:  []byte("{{seq}} {{int 1 100}} {{float 0 1}} {{hex 40}} {{alnum 40}} {{pick a|b}} {{csv.id}}"),
		Table: tab,
	})
	if err != nil {
		t.Fatal(err)
	}
	buf, n := make([]byte, 0, 1000), uint64(0)
	if n := testing.AllocsPerRun(1000, func() {
		buf = f.Body.Append(f.URL.Append(buf[:0], n), n)
		n++
	}); n != 0 {
		t.Errorf("%v allocations for each request, want 0", n)
	}
}

func TestArrivalsDoNotAllocate(t *testing.T) {
	f := func(s string, spacing Spacing) {
		t.Helper()
		a := Spaced(stages(t, s), spacing, 1).Arrivals()
		if n := testing.AllocsPerRun(10_000, func() { a.Next() }); n != 0 {
			t.Errorf("%s, %s: %v allocations for each request, want 0", s, spacing, n)
		}
	}
	for _, spacing := range []Spacing{Even, Poisson, Burst(10)} {
		f("1s@100,1s@0,1s@100..0,forever@5", spacing)
	}
	c := &ClosedLoop{ThinkMax: time.Second}
	if n := testing.AllocsPerRun(1000, func() { c.Think(7) }); n != 0 {
		t.Errorf("%v allocations for each think time, want 0", n)
	}
}
