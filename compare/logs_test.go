package compare

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/kasoku/kasoku"
)

// put makes a comparison of what the logs of two runs reported.
func put(before, after *kasoku.Recording) *Matched {
	c := &Matched{}
	c.addLogs(before, after)
	c.Plans, c.PlansEqual = diffPlans(before, after)
	c.Advice = diffAdvice(before, after)
	return c
}

func TestMatchQueries(t *testing.T) {
	q := func(host, id string, total time.Duration) kasoku.Query {
		return kasoku.Query{Host: host, ID: id, Total: total}
	}
	before := &kasoku.Recording{Queries: []kasoku.Query{q("x", "a", 1), q("x", "b", 5)}}
	after := &kasoku.Recording{Queries: []kasoku.Query{q("y", "a", 9), q("y", "c", 2)}}
	printed := func() string {
		var out []string
		for _, p := range put(before, after).Queries {
			out = append(out, fmt.Sprint(p.Either().ID, " ", p.Before != nil, " ", p.After != nil))
		}
		return strings.Join(out, ", ")
	}
	if got, want := printed(), "a true true, b true false, c false true"; got != want {
		t.Errorf("%s, want %s: the longest first, on whatever host", got, want)
	}
	before.Run.Hosts = make([]kasoku.Host, 2)
	if got, want := printed(), "a false true, b true false, c false true, a true false"; got != want {
		t.Errorf("%s, want %s: hosts are distinguished when a run has several", got, want)
	}
	if c := put(before, &kasoku.Recording{}); c.Queries != nil {
		t.Error("a run without queries has none that went")
	}
}

func TestMatchTransactions(t *testing.T) {
	x := func(tag string, shape ...string) kasoku.Transaction {
		return kasoku.Transaction{Tag: tag, Shape: shape, Count: uint64(len(shape))}
	}
	c := put(&kasoku.Recording{Transactions: []kasoku.Transaction{x("", "A"), x("buy", "A", "B")}},
		&kasoku.Recording{Transactions: []kasoku.Transaction{x("buy", "A", "B"), x("", "B", "A")}})
	var got []string
	for _, p := range c.Transactions {
		got = append(got, fmt.Sprint(p.Either().Shape, p.Before != nil, p.After != nil))
	}
	if want := "[A] true false,[A B] true true,[B A] false true"; strings.Join(got, ",") != want {
		t.Errorf("%q, want %s", got, want)
	}
}

func TestPlanChanges(t *testing.T) {
	step := func(table, access, key string, rows float64, extra string) kasoku.PlanRow {
		return kasoku.PlanRow{Table: table, Access: access, Key: key, Rows: rows, Extra: extra}
	}
	scan, lookup := step("posts", "ALL", "", 10_000, "Using where; Using filesort"), step("posts", "ref", "by_user", 10, "Using where")
	users := step("users", "eq_ref", "PRIMARY", 1, "")
	for _, x := range []struct {
		name          string
		before, after []kasoku.PlanRow
		want          string // the steps that moved; "same" when the plan did not, "" when absent
	}{
		{"an index", []kasoku.PlanRow{scan, users}, []kasoku.PlanRow{lookup, users}, "posts"},
		{"nothing", []kasoku.PlanRow{scan, users}, []kasoku.PlanRow{scan, users}, "same"},
		{"order of the extras", []kasoku.PlanRow{scan}, []kasoku.PlanRow{step("posts", "ALL", "", 10_000, "Using filesort; Using where")}, "same"},
		{"estimates are loose", []kasoku.PlanRow{scan}, []kasoku.PlanRow{step("posts", "ALL", "", 29_999, scan.Extra)}, "same"},
		{"a table that grew", []kasoku.PlanRow{scan}, []kasoku.PlanRow{step("posts", "ALL", "", 30_000, scan.Extra)}, "posts"},
		{"few rows", []kasoku.PlanRow{step("t", "ref", "k", 3, "")}, []kasoku.PlanRow{step("t", "ref", "k", 90, "")}, "same"},
		{"no sort", []kasoku.PlanRow{scan}, []kasoku.PlanRow{step("posts", "ALL", "", 10_000, "Using where")}, "posts"},
		{"order of the tables", []kasoku.PlanRow{scan, users}, []kasoku.PlanRow{users, scan}, "order"},
		{"a table less", []kasoku.PlanRow{scan, users}, []kasoku.PlanRow{scan}, "order users"},
		{"one table twice", []kasoku.PlanRow{users, users}, []kasoku.PlanRow{users, lookup, users}, "order posts"},
		{"no plan", []kasoku.PlanRow{scan}, nil, ""},
	} {
		run := func(rows []kasoku.PlanRow) *kasoku.Recording {
			return &kasoku.Recording{Plans: []kasoku.Plan{{QueryID: "Q", Rows: rows}}, Queries: []kasoku.Query{{ID: "Q", Fingerprint: "select"}}}
		}
		c := put(run(x.before), run(x.after))
		var got []string
		if c.PlansEqual > 0 {
			got = append(got, "same")
		}
		for _, p := range c.Plans {
			if p.Fingerprint != "select" {
				t.Errorf("%s: fingerprint %q", x.name, p.Fingerprint)
			}
			if p.Order {
				got = append(got, "order")
			}
			for _, s := range p.Steps {
				if s.Moved {
					got = append(got, s.Either().Table)
				}
			}
		}
		if s := strings.Join(got, " "); s != x.want {
			t.Errorf("%s: %q, want %q", x.name, s, x.want)
		}
	}
}

// TestPlansOfGroups: of a side whose run in the middle has no plans, the newest that
// has some counts.
func TestPlansOfGroups(t *testing.T) {
	run := func(minute int, plans ...kasoku.Plan) *kasoku.Recording {
		r := &kasoku.Recording{Plans: plans}
		r.Run.Started = time.Date(2026, 11, 20, 14, minute, 0, 0, time.UTC)
		return r
	}
	a, b, c, d := run(1, kasoku.Plan{}), run(3, kasoku.Plan{}), run(2, kasoku.Plan{}), run(4)
	side := []*kasoku.Recording{a, b, c, d}
	if got := planned(side, d); got != b {
		t.Errorf("plans of %v, want those of 14:03", got.Run.Started)
	}
	if got := planned(side, a); got != a {
		t.Error("the run in the middle has plans")
	}
	if got := planned([]*kasoku.Recording{d}, d); got != d {
		t.Error("a side without plans has a run all the same")
	}
}

func TestAdviceChanges(t *testing.T) {
	x := func(id, variable, title, measured string) kasoku.Advice {
		return kasoku.Advice{ID: id, Variable: variable, Title: title, Measured: measured}
	}
	before := &kasoku.Recording{Advice: []kasoku.Advice{
		x("MYS-25", "innodb_buffer_pool_size", "too small", "12 %"), x("MYS-37", "", "Tables are MyISAM: a, b", "2 tables"),
		x("MYS-08", "max_connections", "in use", "99 %"), x("MYS-37", "", "The key buffer is too large", "1 %"),
	}}
	after := &kasoku.Recording{
		Advice:   []kasoku.Advice{x("MYS-37", "", "Tables are MyISAM: a", "1 table"), x("MYS-08", "max_connections", "in use", "99 %"), x("MYS-30", "", "new", "")},
		Settings: []kasoku.Setting{{Scope: "mysql", Name: "innodb_buffer_pool_size", Value: "2147483648"}},
	}
	var got []string
	for _, c := range put(before, after).Advice {
		got = append(got, strings.TrimSpace(fmt.Sprint(c.State, " ", c.Either().ID, " ", c.InForce, c.Measured)))
	}
	want := []string{"gone MYS-25 2147483648false", "left MYS-37 true", "left MYS-08 false", "gone MYS-37 false", "new MYS-30 false"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if c := put(before, &kasoku.Recording{}); c.Advice != nil {
		t.Error("a run that no check looked at has no advice that went")
	}
}

// TestMatchKeepsAll: every key of both sides is in one pair, and a run against itself
// has whole pairs only.
func TestMatchKeepsAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		side := rapid.SliceOfN(rapid.IntRange(0, 9), 1, 20)
		before, after := side.Draw(t, "before"), side.Draw(t, "after")
		same := func(n *int) int { return *n }
		var keys []int
		for _, p := range match(before, after, same) {
			k := *p.Either()
			keys = append(keys, k)
			if (p.Before != nil) != slices.Contains(before, k) || (p.After != nil) != slices.Contains(after, k) {
				t.Fatalf("%d is on the wrong sides", k)
			}
		}
		all := slices.Compact(slices.Sorted(slices.Values(slices.Concat(before, after))))
		if slices.Sort(keys); !slices.Equal(keys, all) {
			t.Fatalf("keys %v, want %v", keys, all)
		}
		for _, p := range match(before, before, same) {
			if p.Before != p.After {
				t.Fatal("a run differs from itself")
			}
		}
	})
}
