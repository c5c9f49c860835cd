package compare

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
)

// TestAlike: a path that one run has in parts, and another whole, is whole on both sides, with nothing lost;
// one that all have in parts stays so.
func TestAlike(t *testing.T) {
	e := func(route string, n uint64) kasoku.Endpoint {
		h := histogram.NewExact(time.Millisecond)
		h.RecordN(time.Duration(n)*time.Millisecond, n)
		return kasoku.Endpoint{Method: "GET", Route: route, Count: n, Codes: map[int]uint64{200: n}, Bytes: 10 * n, Latency: h,
			Total: h.Sum(), Seconds: map[int]kasoku.EndpointSecond{3: {Count: n}}}
	}
	run := func(all ...kasoku.Endpoint) []*kasoku.Recording { return []*kasoku.Recording{{Endpoints: all}} }
	f := func(before, after []*kasoku.Recording, wantBefore, wantAfter string) {
		t.Helper()
		was := fmt.Sprint(before[0].Endpoints[0].Count, after[0].Endpoints[0].Count)
		b, a := alike(before, after)
		for i, side := range [][]*kasoku.Recording{b, a} {
			var got []string
			for _, e := range side[0].Endpoints {
				if e.Latency.Count() != e.Count || e.Codes[200] != e.Count || e.Seconds[3].Count != e.Count || e.Bytes != 10*e.Count {
					t.Errorf("%+v", e)
				}
				got = append(got, fmt.Sprint(e.Route, " ", e.Count))
			}
			slices.Sort(got)
			if want := []string{wantBefore, wantAfter}[i]; strings.Join(got, ", ") != want {
				t.Errorf("got %s, want %s", strings.Join(got, ", "), want)
			}
		}
		if fmt.Sprint(before[0].Endpoints[0].Count, after[0].Endpoints[0].Count) != was {
			t.Error("what was compared has changed")
		}
	}
	parts := run(e("/i?action=a", 5), e("/i?action=b", 7), e("/i", 2), e("/x", 1))
	f(run(e("/i", 20), e("/x", 1)), parts, "/i 20, /x 1", "/i 14, /x 1")
	f(parts, run(e("/i?action=a", 9)), "/i 2, /i?action=a 5, /i?action=b 7, /x 1", "/i?action=a 9")
	f(run(e("/i", 20)), run(e("/i", 30)), "/i 20", "/i 30")
}
