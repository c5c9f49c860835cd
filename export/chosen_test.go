package export

import (
	"slices"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/sources"
)

// TestChosen: each chosen series is one that its source declares, and all of them make no more
// than 100 metrics of a host, at two each.
func TestChosen(t *testing.T) {
	n := 0
	for source, names := range chosen {
		d := sources.Find(source)
		if d == nil {
			t.Fatalf("no source %q", source)
		}
		for _, name := range names {
			n++
			if signal, ok := sources.Signal(source, name); !ok || signal.Key != name {
				t.Errorf("%s declares no %s", source, name)
			}
			if k := (kasoku.Key{Source: source, Name: name}); !IsChosen(k) {
				t.Errorf("%+v is not chosen", k)
			}
		}
	}
	if 2*n > 100 {
		t.Errorf("%d metrics of a host", 2*n)
	}
	for _, k := range []kasoku.Key{{Source: "host", Name: "cpu.user", Instance: "cpu0"}, {Source: "host",
		Name: "mem.slab"},
		{Source: "process", Name: "count"}} {
		if IsChosen(k) {
			t.Errorf("%+v is chosen", k)
		}
	}
	if !IsChosen(kasoku.Key{Source: SourceLoad, Name: "requests"}) {
		t.Error("the load is left out")
	}
}

// TestChosen_Graphs: Mackerel gets graphs of chosen series alone, and they are those that are
// said.
func TestChosen_Graphs(t *testing.T) {
	rec := recording()
	s, out := mackerelTo(t, false, rec.Run.Started)
	to := Filtered(out, IsChosen)
	if err := Recording(t.Context(), rec, Rates, nil, to); err != nil {
		t.Fatal(err)
	}
	if err := to.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	names, taken, others := Choose(KeysOf(rec), IsChosen)
	var got []string
	for _, v := range s.Values() {
		if v.Host != "" {
			got = append(got, v.Name)
		}
	}
	slices.Sort(got)
	var want []string
	for _, n := range names {
		want = append(want, "custom.kasoku."+n+".avg", "custom.kasoku."+n+".max")
	}
	slices.Sort(want)
	if got = slices.Compact(got); !slices.Equal(got, want) || taken == 0 || others == 0 {
		t.Errorf("posted %v, said %v; %d of %d", got, names, taken, taken+others)
	}
	if out.Stats().Graphs != taken {
		t.Errorf("%d graphs for %d series", out.Stats().Graphs, taken)
	}
}
