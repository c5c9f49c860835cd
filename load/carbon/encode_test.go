package carbon

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/kasoku/kasoku/wire/graphite"
)

// TestSeriesName: the name after a name is that of the next number, over new digits.
func TestSeriesName(t *testing.T) {
	for _, tpl := range []Template{"a.{agent}.m.{metric}", "{metric}", "m{metric}.x9", "{metric}.of.{agent}"} {
		s, want := tpl.ofAgent(12), tpl.ofAgent(12)
		for _, from := range []int{0, 7, 95, 999, 123_456, 9_999_999} {
			s.set(from)
			for n := from; n < from+120; n++ {
				if want.set(n); !bytes.Equal(s.buf, want.buf) {
					t.Fatalf("%s, %d: %q, want %q", tpl, n, s.buf, want.buf)
				}
				s.next()
			}
		}
	}
}

func TestTemplate_Check(t *testing.T) {
	for _, good := range []Template{"{metric}", "a.{agent}.b.{metric}", "a{metric}b", "x.{metric};host={agent}"} {
		if err := good.Check(); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []Template{"", "a", "{metric}{metric}", "{agent}.{agent}.{metric}", "a b.{metric}",
		"a..{metric}",
		".{metric}", "{metric}.", "{host}.{metric}", "../{metric}", "a\n{metric}"} {
		if bad.Check() == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// encoded is what an encoder writes of n series, in writes of about limit bytes, and the
// points, as the plain encoders of wire/graphite are given them.
func encoded(p graphite.Protocol, first, n, limit int, old float64) (got []byte, points []graphite.Point,
	writes [][]byte) {
	e := encoder{name: Template("web.{agent}.m.{metric}").ofAgent(3), random: 42, oldShare: old}
	e.begin(first, n, 1_795_163_619, 1_795_163_599)
	for e.left > 0 {
		before := e.left
		w, k := e.appendPoints(nil, p, limit)
		if before-e.left != k || k == 0 {
			panic("points do not add up")
		}
		got, writes = append(got, w...), append(writes, w)
	}
	again := encoder{random: 42, oldShare: old}
	for i := range n {
		// The order in which the encoders draw is that of a line: value, then time.
		pt := graphite.Point{Path: "web.3.m." + strconv.Itoa(first+i), Time: 1_795_163_619}
		if old > 0 && again.isOld() {
			pt.Time = 1_795_163_599
		}
		v := again.draw()
		pt.Value, _ = strconv.ParseFloat(string(v.text[1:v.n]), 64)
		points = append(points, pt)
	}
	return got, points, writes
}

// TestEncoder: what the fast encoder writes is what wire/graphite writes of the same points.
func TestEncoder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		first, n, limit := random.IntN(20_000), 1+random.IntN(3000), 100+random.IntN(60_000)
		old := []float64{0, 0.1, 1}[random.IntN(3)]
		got, points, writes := encoded(graphite.Line, first, n, limit, old)
		var want []byte
		for _, p := range points {
			want = graphite.AppendLine(want, p)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("lines from %d, %d, limit %d, old %v: they differ", first, n, limit, old)
		}
		for _, w := range writes {
			if len(w) > limit && bytes.Count(w, []byte("\n")) > 1 {
				t.Fatalf("a write of %d bytes, limit %d", len(w), limit)
			}
		}
		got, points, _ = encoded(graphite.Pickle, first, n, limit, old)
		want = want[:0]
		for part := range slices.Chunk(points, perMessage) {
			want, _ = graphite.AppendPickle(want, part)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("pickle from %d, %d, limit %d, old %v: it differs", first, n, limit, old)
		}
	}
}

// TestEncoder_OldShare: one point in four lies before.
func TestEncoder_OldShare(t *testing.T) {
	got, _, _ := encoded(graphite.Line, 0, 400, 1<<16, 0.25)
	if n := bytes.Count(got, []byte(" 1795163599\n")); n != 100 {
		t.Errorf("%d of 400 points lie before, want 100", n)
	}
}

// TestEncoder_NoAllocation: a point costs none.
func TestEncoder_NoAllocation(t *testing.T) {
	for _, p := range []graphite.Protocol{graphite.Line, graphite.Pickle} {
		e := encoder{name: Template("haggar.agent.{agent}.metrics.{metric}").ofAgent(3), random: 42}
		buf := make([]byte, 0, 2*mostBuffer)
		e.begin(0, 1000, 1, 1)
		if n := testing.AllocsPerRun(20, func() {
			for e.begin(0, 1000, 1_795_163_619, 1); e.left > 0; {
				buf, _ = e.appendPoints(buf[:0], p, mostBuffer)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations for 1,000 points", p, n)
		}
	}
}
