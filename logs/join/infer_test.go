package join

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// TestInferAny gives any input: no panic, sane numbers, and no dependence on the
// order of what is given.
func TestInferAny(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := anyInput(t)
		res, err := Infer(context.Background(), in, Options{MaxEvents: rapid.IntRange(0, 300).Draw(t, "most")})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range res.Pairs {
			for _, v := range []float64{p.Share, p.Decisive} {
				if math.IsNaN(v) || v < 0 || v > 1 {
					t.Fatalf("share %v, decisive %v of %+v", p.Share, p.Decisive, p)
				}
			}
			if !(p.Least <= p.PerRequest && p.PerRequest <= p.Most) || p.Calls < 0 || math.IsInf(p.Most, 0) {
				t.Fatalf("bounds of %+v", p)
			}
		}
		if math.IsNaN(res.Background) || res.Background < 0 || res.Background > float64(res.Events)+1e-6 {
			t.Fatalf("background %v of %d", res.Background, res.Events)
		}
	})
}

func TestOrderDoesNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := anyInput(t)
		one, err := Infer(context.Background(), in, Options{})
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(1, 2))
		r.Shuffle(len(in.Events), func(a, b int) { in.Events[a], in.Events[b] = in.Events[b], in.Events[a] })
		r.Shuffle(len(in.Requests), func(a, b int) { in.Requests[a], in.Requests[b] = in.Requests[b], in.Requests[a] })
		other, err := Infer(context.Background(), in, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(one, other) {
			t.Fatalf("in another order\n%+v\nnot\n%+v", other, one)
		}
	})
}

func anyInput(t *rapid.T) Input {
	in := Input{Endpoints: make([]string, rapid.IntRange(0, 4).Draw(t, "endpoints"))}
	for range rapid.IntRange(0, 4).Draw(t, "queries") {
		in.Queries = append(in.Queries, QueryInfo{Begin: rapid.Bool().Draw(t, "begin"), Commit: rapid.Bool().Draw(t, "commit")})
	}
	times := rapid.Int64Range(-1000, 300_000)
	if rapid.IntRange(0, 9).Draw(t, "wild") == 0 {
		times = rapid.Int64()
	}
	literals := rapid.SliceOfN(rapid.Uint64Range(0, 5), 0, 3)
	for range rapid.IntRange(0, 60).Draw(t, "requests") {
		start := times.Draw(t, "start")
		in.Requests = append(in.Requests, Request{
			Start: start, End: start + rapid.Int64Range(-5, 50_000).Draw(t, "length"),
			Endpoint: rapid.Int32Range(-1, 4).Draw(t, "endpoint"), Status: rapid.SampledFrom([]int{200, 499}).Draw(t, "status"),
			Literals: literals.Draw(t, "literals"),
		})
	}
	for i := range rapid.IntRange(0, 200).Draw(t, "events") {
		start := times.Draw(t, "start")
		in.Events = append(in.Events, Event{
			Start: start, End: start + rapid.Int64Range(-5, 2000).Draw(t, "length"), Seq: int64(i),
			Slack: rapid.SampledFrom([]int64{0, 0, 6000, -1}).Draw(t, "slack"),
			Conn:  rapid.Uint64Range(0, 3).Draw(t, "conn"), Query: rapid.Int32Range(-1, 4).Draw(t, "query"),
			RowsSent: rapid.Uint64Range(0, 20).Draw(t, "rows"), Literals: literals.Draw(t, "literals"),
		})
	}
	return in
}

// TestLink finds the list whose rows are looked up one by one.
func TestLink(t *testing.T) {
	t.Parallel()
	in := Input{Endpoints: []string{"GET /list", "GET /one"}, Queries: make([]QueryInfo, 3)}
	r := rand.New(rand.NewPCG(1, 1))
	now := int64(0)
	for i := range 200 {
		rows := 5 + r.IntN(20)
		at := now + 500
		in.Events = append(in.Events, Event{Start: at, End: at + 300, Conn: 1, Query: 0, RowsSent: uint64(rows)})
		at += 400
		for range rows {
			in.Events = append(in.Events, Event{Start: at, End: at + 50, Conn: 1, Query: 1, RowsSent: 1})
			at += 350
		}
		in.Requests = append(in.Requests, Request{Start: now, End: at + 500, Endpoint: 0, Status: 200})
		now = at + 20_000
		if i%2 == 0 {
			in.Requests = append(in.Requests, Request{Start: now, End: now + 3000, Endpoint: 1, Status: 200})
			in.Events = append(in.Events, Event{Start: now + 1000, End: now + 1100, Conn: 2, Query: 2, RowsSent: 1})
			now += 20_000
		}
	}
	res, err := Infer(context.Background(), in, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Pairs) != 3 || len(res.Loops) != 1 {
		t.Fatalf("%d pairs and %d loops, want 3 and 1: %+v", len(res.Pairs), len(res.Loops), res)
	}
	p := res.Pairs[0]
	if p.Query != 1 || p.List != 0 || p.Slope < 0.95 || p.Slope > 1.05 || p.Correlation < 0.95 || !p.Loop || p.Class != High {
		t.Errorf("the loop is %+v", p)
	}
}

// TestBoundsOfLateRequests: an endpoint sends ten statements a request. Where a tenth of
// the requests are written to their log so late that half of their statements lie outside,
// the estimate falls below ten; its bounds must not.
func TestBoundsOfLateRequests(t *testing.T) {
	t.Parallel()
	in := Input{Endpoints: []string{"GET /list"}, Queries: make([]QueryInfo, 1)}
	for i := range int64(300) {
		now, late := i*40_000, int64(0)
		if i%10 == 0 {
			late = 5_500
		}
		in.Requests = append(in.Requests, Request{Start: now + late, End: now + 11_000 + late, Endpoint: 0, Status: 200})
		for k := range int64(10) {
			at := now + 500 + k*1_000
			in.Events = append(in.Events, Event{Start: at, End: at + 100, Seq: int64(len(in.Events)), Conn: uint64(i*10 + k + 1), Query: 0, RowsSent: 1})
		}
	}
	res, err := Infer(context.Background(), in, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Pairs) != 1 {
		t.Fatalf("pairs %+v", res.Pairs)
	}
	if p := res.Pairs[0]; p.PerRequest > 9.8 || p.Least > 10 || p.Most < 10 {
		t.Errorf("%.2f a request, %.2f to %.2f; want less than 9.8, and bounds with 10 between them", p.PerRequest, p.Least, p.Most)
	}
}

// TestLiterals takes values of statements and URIs that can be equal.
func TestLiterals(t *testing.T) {
	t.Parallel()
	sql := Literals(nil, []byte("SELECT * FROM t1 /* 5 */ WHERE id = 42 AND name LIKE '%a b%' AND x = 'its'"))
	uri := LiteralsOfURI(nil, []byte("/users/42?q=a+b&n=%69ts&empty="))
	if len(sql) != 3 || !reflect.DeepEqual(sql, uri) {
		t.Errorf("statement %x, URI %x; want the same three", sql, uri)
	}
}

func FuzzLiterals(f *testing.F) {
	for _, seed := range []string{"SELECT 1", "'", "'a''", "/*", "\"\\", "/a/1?b=%4", "`x", "/a?b=1&=&c"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, s []byte) {
		if n := len(Literals(nil, s)); n > mostLiterals {
			t.Errorf("%d literals of %q", n, s)
		}
		if n := len(LiteralsOfURI(nil, s)); n > mostLiterals {
			t.Errorf("%d literals of %q", n, s)
		}
		InfoOf(s)
	})
}

// TestLoops_Same: of the statements of a loop it is counted how many differ within its runs.
func TestLoops_Same(t *testing.T) {
	t.Parallel()
	f := func(name string, known, different uint64, literals func(run, i int) []uint64) {
		t.Helper()
		in := Input{Endpoints: []string{"GET /page"}, Queries: make([]QueryInfo, 1)}
		now := int64(0)
		for run := range 30 {
			in.Requests = append(in.Requests, Request{Start: now, End: now + 4000, Endpoint: 0, Status: 200})
			for i := range 6 {
				at := now + 500 + int64(i)*300
				in.Events = append(in.Events, Event{Start: at, End: at + 50, Conn: 1, Query: 0, RowsSent: 1, Literals: literals(run, i)})
			}
			now += 30_000
		}
		res, err := Infer(context.Background(), in, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(res.Loops) != 1 || len(res.Loops[0].Known) != 1 || res.Loops[0].Known[0] != known || res.Loops[0].Different[0] != different {
			t.Errorf("%s: want %d known, %d different: %+v", name, known, different, res.Loops)
		}
	}
	f("the same key within a run", 180, 30, func(run, _ int) []uint64 { return []uint64{uint64(run)} })
	f("a key for each", 180, 180, func(_, i int) []uint64 { return []uint64{uint64(i)} })
	f("literals that were not kept", 0, 0, func(int, int) []uint64 { return nil })
	f("perhaps not all of them", 0, 0, func(int, int) []uint64 { return make([]uint64, mostLiterals) })
}
