package accesslog

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/logs/lines"
	"github.com/kasoku/kasoku/logs/routes"
)

// detailed is a log of 40 s: one URI with the same answer for all, one whose answer
// changes every second, one with another answer each time, and bots.
func detailed() []byte {
	var b bytes.Buffer
	line := func(second int, uri string, size, length int, upstream, connect, ua string) {
		fmt.Fprintf(&b, "time:2026-11-21T02:00:%02d+00:00\tmethod:GET\turi:%s\tstatus:200\tsize:%d\trequest_length:%d\treqtime:0.010\t"+
			"upstream_response_time:%s\tupstream_connect_time:%s\tua:%s\n", second, uri, size, length, upstream, connect, ua)
	}
	for s := range 40 {
		for i := range 20 {
			line(s, "/same", 500, 100+i, "0.010", "0.001", "Mozilla/5.0")
			line(s, "/changing", 500+s, 100, "0.010", "0.000", "Mozilla/5.0")
			line(s, "/personal", 500+i%5, 100, "0.010", "0.000", "Mozilla/5.0")
			line(s, fmt.Sprintf("/items?page=%d", s*20+i), 900, 100, "-", "-", "Somebot/1.0")
		}
		line(s, "/same", 500, 100, "0.020", "0.000", "Somebot/1.0")
	}
	return b.Bytes()
}

func detailedInput(t *testing.T) []lines.Input {
	t.Helper()
	path := filepath.Join(t.TempDir(), "access.log")
	if err := os.WriteFile(path, detailed(), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := lines.Inputs([]string{path})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func collectDetail(t *testing.T, workers int) *Table {
	t.Helper()
	table, _, err := CollectAll(context.Background(), detailedInput(t), Options{Detail: true, Workers: workers, BlockSize: 4 << 10}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestDetail(t *testing.T) {
	type want struct{ connects, known, longest, passed, varied, variants, paths uint64 }
	wants := map[string]want{
		"/same":     {connects: 800, known: 840, longest: 119, passed: 40, variants: 40, paths: 1},
		"/changing": {known: 800, longest: 100, varied: 39, variants: 40, paths: 1},
		"/personal": {known: 800, longest: 100, varied: 799, variants: 200, paths: 1},
		"/items":    {longest: 100, variants: 800, paths: 800},
	}
	for _, e := range collectDetail(t, 4).Endpoints() {
		w := wants[e.Route]
		off := float64(e.Paths)/float64(w.paths) - 1
		if w.paths < 10 && off != 0 || off > 0.15 || off < -0.15 {
			t.Errorf("%s: %d paths, want %d", e.Route, e.Paths, w.paths)
		}
		w.paths = e.Paths
		got := want{e.Connects, e.ConnectCount, e.MaxRequestBytes, e.BotsPassed, e.Varied, e.Variants, e.Paths}
		if got != w {
			t.Errorf("%s: %+v, want %+v", e.Route, got, w)
		}
		if e.Route == "/same" && e.BotsUpstream.Milliseconds() != 800 {
			t.Errorf("bots took %s", e.BotsUpstream)
		}
	}
}

// TestDetail_Merge: parts of a log that are merged give what the whole does, but for
// answers that were neighbours and are in two parts.
func TestDetail_Merge(t *testing.T) {
	one, more := collectDetail(t, 1), collectDetail(t, 8)
	if !reflect.DeepEqual(one.Endpoints(), more.Endpoints()) {
		t.Error("the number of workers changes the result")
	}
	twice := collectDetail(t, 1)
	twice.Merge(more)
	byRoute := map[string][2]uint64{}
	for _, e := range one.Endpoints() {
		byRoute[e.Route] = [2]uint64{e.Paths, e.Variants}
	}
	for _, e := range twice.Endpoints() {
		if w := byRoute[e.Route]; e.Paths != w[0] || e.Variants != 2*w[1] {
			t.Errorf("%s: %d paths, %d variants of two logs; one has %v", e.Route, e.Paths, e.Variants, w)
		}
	}
}

// TestDetail_Off: without the option nothing of it is there.
func TestDetail_Off(t *testing.T) {
	table, _, err := CollectAll(context.Background(), detailedInput(t), Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range table.Endpoints() {
		if e.Paths+e.Variants+e.Varied+e.ConnectCount+e.MaxRequestBytes+e.BotsPassed != 0 {
			t.Errorf("%s: %+v", e.Route, e)
		}
	}
}

// TestFetchedAgain: what a client fetches again counts that was answered 304 before, with the
// size that it had; not what others fetch, another size, or what a client without a cache does.
func TestFetchedAgain(t *testing.T) {
	var b bytes.Buffer
	line := func(host, ua, uri string, status, size int) {
		fmt.Fprintf(&b, "time:2026-11-21T02:00:00+00:00\tmethod:GET\thost:%s\turi:%s\tstatus:%d\tsize:%d\treqtime:0.010\tua:%s\n", host, uri, status, size, ua)
	}
	line("192.0.2.1", "Browser/1", "/list", 200, 500) // before its first 304: not known to keep anything
	line("192.0.2.1", "Browser/1", "/app.css", 304, 0)
	for range 3 {
		line("192.0.2.1", "Browser/1", "/list", 200, 500)
		line("192.0.2.1", "wrk/4", "/list", 200, 500)     // another agent at that address
		line("192.0.2.2", "Browser/1", "/list", 200, 500) // another address
	}
	line("192.0.2.1", "Browser/1", "/list", 200, 501)
	line("192.0.2.1", "Browser/1", "/list", 200, 500)
	line("192.0.2.1", "Browser/1", "/list?page=2", 200, 500)
	line("192.0.2.1", "Browser/1", "/list", 500, 500)
	line("192.0.2.1", "Browser/1", "/other", 200, 0)
	line("192.0.2.1", "Browser/1", "/other", 200, 0)
	table, _, err := CollectAll(t.Context(), []lines.Input{{R: &b}}, Options{Detail: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := FetchedAgain(table, 9)
	want := kasoku.FetchedAgain{Method: "GET", Route: "/list", Requests: 2, Bytes: 1000, Time: 20 * time.Millisecond}
	if len(got) != 1 || got[0] != want {
		t.Fatalf("%+v", got)
	}
	rec := kasoku.Recording{Settings: []kasoku.Setting{got[0].Setting("web")}}
	if back := rec.FetchedAgain("web"); len(back) != 1 || back[0] != want {
		t.Errorf("%+v", back)
	}
}

// TestVariants: requests of one endpoint are kept apart by which query keys they have, however a
// log is cut; keys that a client made up neither take room nor hide the others.
func TestVariants(t *testing.T) {
	var b bytes.Buffer
	line := func(uri, seconds string) {
		fmt.Fprintf(&b, "time:2026-11-21T02:00:00+00:00\tmethod:GET\turi:%s\tstatus:200\tsize:1\treqtime:%s\n", uri, seconds)
	}
	for i := range 40 {
		line("/search?page=1&q="+fmt.Sprint(i), "0.100")
		line("/search?q=a", "0.010")
		line("/search", "0.001")
		line(fmt.Sprintf("/user/somebody%c%c", 'a'+i/26, 'a'+i%26), "0.001")
		line(fmt.Sprintf("/item/%d?utm%d=1", i, i), "0.001")
		line(fmt.Sprintf("/search?x%c%c=1", 'a'+i/26, 'a'+i%26), "0.001")
		line("/search?"+fmt.Sprint(i), "0.001")
		line("/plain", "0.001")
	}
	path := filepath.Join(t.TempDir(), "access.log")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	var first []kasoku.Setting
	for _, size := range []int{1 << 20, 1 << 10} {
		in, err := lines.Inputs([]string{path})
		if err != nil {
			t.Fatal(err)
		}
		table, _, err := CollectAll(context.Background(), in, Options{Detail: true, Workers: 1, BlockSize: size,
			Limits: routes.Limits{Names: 20}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		rec := kasoku.Recording{}
		for _, v := range Variants(table, 9, 3) {
			rec.Settings = append(rec.Settings, v.Setting("web"))
		}
		got := rec.Variants("web")
		if len(got) != 3 || got[0].Route != "/search" || got[1].Route != "/item/:id" || got[2].Route != "/user/:name" {
			t.Fatalf("%+v", got)
		}
		want := []kasoku.QueryKeys{{Keys: "page&q", Requests: 40, Time: 4 * time.Second}, {Keys: "q", Requests: 40, Time: 400 * time.Millisecond},
			{Keys: "", Requests: 40, Time: 40 * time.Millisecond}, {Keys: kasoku.OtherKeys, Requests: 80, Time: 80 * time.Millisecond}}
		if !reflect.DeepEqual(got[0].Sets, want) {
			t.Errorf("%+v", got[0].Sets)
		}
		if n := got[2].Paths; n < 37 || n > 43 {
			t.Errorf("%d paths of 40", n)
		}
		if first == nil {
			first = rec.Settings
		} else if !reflect.DeepEqual(first, rec.Settings) {
			t.Errorf("%+v\n%+v", first, rec.Settings)
		}
	}
}

// TestKeySets_Merge: what one row did not count apart is not counted apart in the sum.
func TestKeySets_Merge(t *testing.T) {
	var full, other keySets
	for i := range mostSets + 5 {
		full.ask(fmt.Sprintf("k%d", i), true, false, 1)
	}
	other.ask("k1", true, false, 1)
	other.ask("late", true, false, 1)
	for _, pair := range [][2]*keySets{{&full, &other}, {&other, &full}} {
		sum := *pair[0]
		sum.merge(pair[1])
		n := sum.other.n
		for _, s := range sum.sets {
			n += s.n
		}
		if n != mostSets+7 || sum.has("late") || !sum.has("k1") || sum.other.n != 6 {
			t.Errorf("%+v", sum)
		}
	}
	if len(other.sets) != 2 {
		t.Errorf("the row that was added changed: %+v", other)
	}
}

// TestQueryNames_Full: a set that one table had no room for is not counted apart in the sum with a
// table that had: its figures would lack requests.
func TestQueryNames_Full(t *testing.T) {
	var names, fresh queryNames
	for i := range mostKeySets {
		names.of(fmt.Appendf(nil, "/?a%d=1&b%d=2", i/64, i%64))
	}
	var full, other keySets
	for _, uri := range []string{"/?a1=1&b1=1", "/?late=1", "/?late=1"} {
		keys, apart, plain := names.of([]byte(uri))
		full.ask(keys, apart, plain, 1)
	}
	keys, apart, plain := fresh.of([]byte("/?late=1"))
	other.ask(keys, apart, plain, 1)
	for _, pair := range [][2]*keySets{{&full, &other}, {&other, &full}} {
		sum := *pair[0]
		sum.merge(pair[1])
		if sum.has("late") || !sum.has("a1&b1") || sum.other.n != 3 {
			t.Errorf("%+v", sum)
		}
	}
}

// TestKeySets_Values: requests are apart by the value of a key by which the program chooses what it
// does, where values are few, come often and differ in what they take; else by names alone.
func TestKeySets_Values(t *testing.T) {
	ask := func(k *keySets, q *queryNames, n int, uri string, took uint64) {
		for range n {
			keys, apart, plain := q.of([]byte(uri))
			k.ask(keys, apart, plain, took)
		}
	}
	shown := func(k *keySets) string {
		var out []string
		for _, q := range k.shown(8) {
			out = append(out, fmt.Sprintf("%s %d %d", q.Text(), q.Requests, q.Time))
		}
		return strings.Join(out, ", ")
	}
	f := func(name, want string, fill func(k *keySets, q *queryNames)) {
		t.Helper()
		var whole, first, second keySets
		var q, q1, q2 queryNames
		fill(&whole, &q)
		fill(&whole, &q)
		fill(&first, &q1)
		fill(&second, &q2)
		first.merge(&second)
		if got, merged := shown(&whole), shown(&first); got != want || merged != want {
			t.Errorf("%s:\n got %s\n and %s\nwant %s", name, got, merged, want)
		}
	}
	f("dispatched", "?action=edit&id 20 1000, ?action=view&id 40 400, no query 2 2", func(k *keySets, q *queryNames) {
		ask(k, q, 10, "/i.php?action=edit&id=7", 50)
		ask(k, q, 20, "/i.php?id=8&action=view", 10)
		ask(k, q, 1, "/i.php", 1)
	})
	f("all take the same", "?action&id 60 600", func(k *keySets, q *queryNames) {
		ask(k, q, 10, "/i.php?action=edit&id=7", 10)
		ask(k, q, 20, "/i.php?action=view&id=7", 10)
	})
	f("one value", "?action 20 200", func(k *keySets, q *queryNames) { ask(k, q, 10, "/i.php?action=edit", 10) })
	f("each once", "?page 20 2090", func(k *keySets, q *queryNames) {
		for i := range 10 {
			ask(k, q, 1, "/i.php?page=p"+strings.Repeat("x", i), 100+uint64(i%3)*5)
		}
	})
	f("too many", "?r 200 23540", func(k *keySets, q *queryNames) {
		for i := range 100 {
			ask(k, q, 1, fmt.Sprintf("/i.php?r=site/%c%c", 'a'+i%10, 'a'+i/10), 100+uint64(i%7)*6)
		}
	})
	f("times are not known", "?action 60 0", func(k *keySets, q *queryNames) {
		ask(k, q, 10, "/i.php?action=edit", 0)
		ask(k, q, 20, "/i.php?action=view", 0)
	})
	var hostile queryNames
	for i := range 3 * mostChoices {
		hostile.of(fmt.Appendf(nil, "/?action=a%db", i))
	}
	if keys, apart, plain := hostile.of([]byte("/?action=late")); keys != "action" || !apart || !plain {
		t.Errorf("%q %v %v", keys, apart, plain)
	}
	if len(hostile.known) != mostChoices+1 {
		t.Errorf("%d names are kept", len(hostile.known))
	}
}
