package accesslog

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/logs/accessformat"
	"github.com/kasoku/kasoku/logs/lines"
)

// dispatched is the log of an application whose requests all go to a few paths.
func dispatched(r *rand.Rand, n int, values func(i int) string) string {
	var log strings.Builder
	for i := range n {
		uri, took := values(i), 0.01
		if strings.Contains(uri, "export") {
			took = 0.4
		}
		fmt.Fprintf(&log, "time:2026-11-20T14:02:%02d+09:00\tmethod:GET\turi:%s\tstatus:200\tsize:%d\treqtime:%.3f\n",
			i*50/n, uri, 800+r.IntN(300), took*(0.6+r.Float64()))
	}
	return log.String()
}

func endpointNames(t *Table) (out []string) {
	for _, e := range t.Endpoints() {
		out = append(out, fmt.Sprintf("%s %s %d", e.Method, e.Route, e.Count))
	}
	slices.Sort(out)
	return out
}

// TestChosenEndpoints: the value by which an application chooses what it does is an endpoint, for each
// reader of the log and for who asks which endpoint a request is of.
func TestChosenEndpoints(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	log := dispatched(r, 600, func(i int) string {
		switch {
		case i%100 == 99:
			return fmt.Sprintf("/index.php?action=old%c", 'a'+i/100)
		case i%6 == 0:
			return fmt.Sprintf("/index.php?id=%d&action=export", i)
		case i%6 < 3:
			return fmt.Sprintf("/index.php?action=list&page=%d", i)
		case i%6 == 3:
			return "/index.php"
		case i%6 == 4:
			return fmt.Sprintf("/shop?view=%s", []string{"grid", "rows"}[i/6%2])
		}
		return fmt.Sprintf("/search?page=%c%c%c", 'a'+i%23, 'a'+i%19, 'a'+i%17)
	})
	want := "GET /index.php 104, GET /index.php?action=export 100, GET /index.php?action=list 198, GET /search 98, GET /shop 100"
	for _, workers := range []int{1, 4} {
		table, _, err := CollectAll(t.Context(), []lines.Input{{R: strings.NewReader(log)}},
			Options{Workers: workers, BlockSize: 4096, Detail: workers == 1, Slowest: 5}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(endpointNames(table), ", "); got != want {
			t.Errorf("%d workers:\n got %s\nwant %s", workers, got, want)
		}
		for _, s := range table.Slowest() {
			if s.Route != "/index.php?action=export" {
				t.Errorf("a slow request is of %s", s.Route)
			}
		}
		l := table.Locator()
		f := func(uri, want string) {
			t.Helper()
			if _, route := l.Locate(&accessformat.Record{Method: []byte("GET"), Path: []byte(uri)}); route != want {
				t.Errorf("%s is of %s, want %s", uri, route, want)
			}
		}
		f("/index.php?action=list", "/index.php?action=list")
		f("/index.php?action=never", "/index.php")
		f("/index.php?action=olda", "/index.php")
		f("/other.php?action=list", "/other.php")
		f("/search?page=abc", "/search")
	}
}

// TestChosenHostile: what people and robots write into the keys of dispatchers is no endpoint, and a
// table of it stays small.
func TestChosenHostile(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	letters := func(alphabet string, n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = alphabet[r.IntN(len(alphabet))]
		}
		return string(b)
	}
	const lower = "abcdefghijklmnopqrstuvwxyz"
	const base64 = lower + "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
	for name, value := range map[string]func() string{
		"tokens":  func() string { return letters(base64, 22+r.IntN(20)) },
		"hex":     func() string { return letters("0123456789abcdef", 32) },
		"letters": func() string { return letters(lower, 12+r.IntN(30)) },
		"e-mails": func() string { return letters(lower, 6) + "%40example.com" },
		"ids":     func() string { return fmt.Sprint(r.IntN(1e6)) },
		"slugs":   func() string { return letters(lower, 5) + "-" + letters(lower, 7) },
		"paths":   func() string { return "../" + letters(lower, 4) + "/" + letters(lower, 5) },
		"words":   func() string { return letters("abc", 4) },
	} {
		t.Run(name, func(t *testing.T) {
			log := dispatched(r, 6000, func(i int) string {
				key := []string{"action", "page", "r", "rest_route", "method"}[i%5]
				return fmt.Sprintf("/index.php?%s=%s", key, value())
			})
			table, _, err := Collect(lines.NewReader(strings.NewReader(log), 0), Options{MaxRoutes: 200, Detail: true})
			if err != nil {
				t.Fatal(err)
			}
			if got := endpointNames(table); len(got) != 1 || got[0] != "GET /index.php 6000" && !strings.Contains(got[0], Other) {
				t.Errorf("%d endpoints: %.200q", len(got), got)
			}
			for _, v := range Variants(table, 100, 100) {
				for _, s := range v.Sets {
					if strings.Contains(s.Keys, "=") {
						t.Errorf("a value is kept: %+v", v)
					}
				}
			}
		})
	}
}

// TestChosenTenants: tenants and users that come often, and whose answers differ by all that distinguishes
// what a program does, are no endpoints and stand nowhere in the tables; pages of the same program are.
func TestChosenTenants(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	names := []string{"acme", "globex", "initech", "umbrella"}
	for _, uri := range []string{"/index.php?page=%s", "/index.php?view=%s",
		"/index.php?service=%s&id=7", "/index.php?r=%s",
		"/index.php?tenant=%s&id=7", "/index.php?rest_route=/app/v1/orgs/%s", "/index.php?service=%s.example.com"} {
		var log strings.Builder
		for i := range 800 {
			at, path := i/2%len(names), "/index.php?page=about"
			took, size := 0.002, 300
			if i%2 == 0 {
				path = fmt.Sprintf(uri, names[at])
				took, size = 0.02*math.Pow(3, float64(at)), 1000<<(2*at)
			}
			fmt.Fprintf(&log, "time:2026-11-20T14:02:%02d+09:00\tmethod:GET\turi:%s\tstatus:200\tsize:%d\treqtime:%.3f\n",
				i*50/800, path, size+r.IntN(100), took*(0.9+0.2*r.Float64()))
		}
		table, _, err := Collect(lines.NewReader(strings.NewReader(log.String()), 0), Options{Detail: true})
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprint(endpointNames(table), Variants(table, 100, 100))
		for _, name := range names {
			if strings.Contains(got, name) {
				t.Errorf("%s: %s is kept: %s", uri, name, got)
			}
		}
		if !strings.Contains(got, "GET /index.php?page=about 400") {
			t.Errorf("%s: %s", uri, got)
		}
	}
}

// TestChosenFilter: a filter's route is the path, or with the value where the filter has it.
func TestChosenFilter(t *testing.T) {
	log := dispatched(rand.New(rand.NewPCG(1, 2)), 100, func(i int) string {
		return "/index.php?action=" + []string{"list", "export"}[i%2]
	})
	f := func(where string, want uint64) {
		t.Helper()
		filter, err := CompileFilter(where)
		if err != nil {
			t.Fatal(err)
		}
		table, _, err := Collect(lines.NewReader(strings.NewReader(log), 0), Options{Where: filter})
		if err != nil {
			t.Fatal(err)
		}
		if got := table.Records(); got != want {
			t.Errorf("%s: %d requests, want %d", where, got, want)
		}
	}
	f(`route == "/index.php"`, 100)
	f(`route == "/index.php?action=list"`, 50)
	f(`route startsWith "/index.php?action=" and status == 200`, 100)
}
