package graphite

import (
	"encoding/hex"
	"math"
	"strings"
	"testing"
)

// TestPickleVector: what Python's pickle module reads as
// [('a.b', (1795163619, 1.5)), ('c.d', (1795163620, 2.0))].
func TestPickleVector(t *testing.T) {
	const want = "80025d285803000000612e624ae305006b473ff800000000000086865803000000632e644ae405006b4740000000000000008686652e"
	got, n := AppendPickle(nil, []Point{{"a.b", 1795163619, 1.5}, {"c.d", 1795163620, 2}})
	if hex.EncodeToString(got[4:]) != want || n != 2 {
		t.Errorf("%d points are %x, want %s", n, got[4:], want)
	}
	if size := int(got[0])<<24 | int(got[1])<<16 | int(got[2])<<8 | int(got[3]); size != len(want)/2 {
		t.Errorf("the length is reported as %d, want %d", size, len(want)/2)
	}
}

func TestPickleLimit(t *testing.T) {
	points := make([]Point, 10_000)
	for i := range points {
		points[i] = Point{strings.Repeat("x", 200), 1, 1}
	}
	for len(points) > 0 {
		msg, n := AppendPickle(nil, points)
		if len(msg)-4 > MaxMessage || n < 1 {
			t.Fatalf("a message of %d bytes with %d points", len(msg)-4, n)
		}
		if got := unpickle(t, msg); len(got) != n {
			t.Fatalf("%d points come back of %d", len(got), n)
		}
		points = points[n:]
	}
}

func TestLine(t *testing.T) {
	f := func(p Point, want string) {
		t.Helper()
		if got := string(AppendLine(nil, p)); got != want {
			t.Errorf("%v is %q, want %q", p, got, want)
		}
	}
	f(Point{"a.b", 1795163619, 1.5}, "a.b 1.5 1795163619\n")
	f(Point{"a", 1, 1e21}, "a 1000000000000000000000 1\n")
	f(Point{"a", 1, -0.25}, "a -0.25 1\n")
	f(Point{"a", 1, math.NaN()}, "")
	f(Point{"a", 1, math.Inf(-1)}, "")
}

func TestSegment(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := Segment(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
	f("cpu0", "cpu0")
	f("", "_")
	f("..", "__")
	f("1204 userapi", "1204_userapi")
	f("GET /users/:id", "GET__users__id")
	f("a;tag=x\n", "a_tag_x_")
	f("日本", "__")
	f(strings.Repeat("a", 300), strings.Repeat("a", 200))
	if got := Path("kasoku", "web1.example.com", "cpu"); got != "kasoku.web1_example_com.cpu" {
		t.Errorf("the path is %q", got)
	}
}

func BenchmarkAppend(b *testing.B) {
	points := make([]Point, 500)
	for i := range points {
		points[i] = Point{"kasoku.web1.host.cpu.user.cpu0", 1795163619 + int64(i), float64(i) / 3}
	}
	b.Run("line", func(b *testing.B) {
		b.ReportAllocs()
		var buf []byte
		for b.Loop() {
			buf = buf[:0]
			for _, p := range points {
				buf = AppendLine(buf, p)
			}
		}
	})
	b.Run("pickle", func(b *testing.B) {
		b.ReportAllocs()
		var buf []byte
		for b.Loop() {
			buf, _ = AppendPickle(buf[:0], points)
		}
	})
}
