package settings

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/mysql"
)

// anyServer draws a server in any state: its variables, what it has counted, its host
// and its tables.
func anyServer(t *rapid.T) Input {
	in := mariaDB()
	if rapid.Bool().Draw(t, "MySQL") {
		in = mySQL()
		in.Variables["version"] = rapid.SampledFrom([]string{"5.7.44", "8.0.36", "8.4.3", "9.7.4"}).Draw(t, "version")
	} else {
		in.Variables["version"] = rapid.SampledFrom([]string{"10.3.39-MariaDB", "10.6.16-MariaDB", "10.11.19-MariaDB", "11.8.2-MariaDB"}).Draw(t, "version")
	}
	in.Variables, in.Status = maps.Clone(in.Variables), maps.Clone(in.Status)
	anyVariables(t, in.Variables)
	for _, name := range slices.Sorted(maps.Keys(in.Status)) {
		in.Status[name] = anyCount(t, name)
	}
	if rapid.Bool().Draw(t, "load") {
		in.Grown, in.Load, in.Over = map[string]float64{}, true, "load"
		in.Window = time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(t, "window"))
		for _, name := range slices.Sorted(maps.Keys(in.Status)) {
			in.Grown[name] = anyCount(t, "growth of "+name)
		}
	}
	anyHost(t, &in)
	anySchema(t, &in)
	in.Replica = &Replica{Is: rapid.Bool().Draw(t, "replica"), IO: "Yes", SQL: rapid.SampledFrom([]string{"Yes", "No"}).Draw(t, "sql")}
	return in
}

// anyCount is often 0, or of any magnitude.
func anyCount(t *rapid.T, name string) float64 {
	return float64(rapid.Int64Range(0, 1<<rapid.SampledFrom([]int{0, 4, 8, 12, 20, 36, 50}).Draw(t, "scale of "+name)).Draw(t, name))
}

func anyVariables(t *rapid.T, vars map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		switch v := vars[name]; {
		case name == "version" || name == "version_comment" || name == "hostname":
		case rapid.IntRange(0, 30).Draw(t, "drop "+name) == 0:
			delete(vars, name)
		case v == "ON" || v == "OFF":
			vars[name] = rapid.SampledFrom([]string{"ON", "OFF"}).Draw(t, name)
		default:
			if _, ok := parseNumber(v); ok && rapid.Bool().Draw(t, "change "+name) {
				vars[name] = strconv.FormatInt(rapid.Int64Range(0, 1<<rapid.SampledFrom([]int{1, 3, 10, 20, 28, 36}).Draw(t, "scale of "+name)).Draw(t, name), 10)
			}
		}
	}
}

func anyHost(t *rapid.T, in *Input) {
	in.Memory.RAM = uint64(rapid.Int64Range(1<<26, 1<<rapid.SampledFrom([]int{28, 30, 32, 36, 40}).Draw(t, "scale of RAM")).Draw(t, "RAM"))
	in.Memory.Others = uint64(rapid.Int64Range(0, 1<<32).Draw(t, "others"))
	in.Memory.Seen = rapid.Bool().Draw(t, "others seen")
	if rapid.IntRange(0, 5).Draw(t, "remote") == 0 {
		in.Memory = Memory{}
		in.Lacks = append(in.Lacks, Lack{PartMemory, "another host", "give --ram"})
	}
	in.System.Cores = rapid.IntRange(0, 128).Draw(t, "cores")
	if in.System.Cores == 0 {
		in.Lacks = append(in.Lacks, Lack{PartCores, "another host", ""})
	}
	turns := rapid.Bool().Draw(t, "turns")
	in.System.Rotational = &turns
	in.System.FreeBytes = uint64(rapid.Int64Range(0, 1<<40).Draw(t, "free"))
	in.SchemaMemory = uint64(rapid.Int64Range(0, 1<<30).Draw(t, "performance_schema"))
}

func anySchema(t *rapid.T, in *Input) {
	if rapid.IntRange(0, 4).Draw(t, "no tables") == 0 {
		in.Schema = nil
		in.Lacks = append(in.Lacks, Lack{PartTables, "not allowed", ""}, Lack{PartIndexes, "not allowed", ""})
		return
	}
	in.Schema = &Schema{Partial: rapid.Bool().Draw(t, "partial"), Uses: map[string]uint64{}}
	for i := range rapid.IntRange(0, 12).Draw(t, "tables") {
		in.Schema.Tables = append(in.Schema.Tables, Table{Table: mysql.Table{
			Schema: "s", Name: fmt.Sprint("t", i), Engine: rapid.SampledFrom([]string{"InnoDB", "InnoDB", "MyISAM", "Aria"}).Draw(t, "engine"),
			Rows: rapid.Int64Range(0, 1e6).Draw(t, "rows"), DataBytes: rapid.Int64Range(0, 1<<34).Draw(t, "data"), IndexBytes: rapid.Int64Range(0, 1<<32).Draw(t, "index"),
		}})
	}
}

// changes are what advice sets.
func changes(all []kasoku.Advice) map[string]string {
	out := map[string]string{}
	for _, a := range all {
		if a.Variable != "" {
			out[a.Variable] = a.Proposed
		}
	}
	return out
}

// TestFixedPoint: a server that has taken all advice gets none that sets anything,
// whatever its state was, with the same counters as before.
func TestFixedPoint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := anyServer(t)
		first := Examine(in)
		set := changes(first.Advice)
		again := changes(Examine(apply(in, first.Advice)).Advice)
		if len(again) > 0 {
			t.Fatalf("after %v it proposes %v", set, again)
		}
	})
}

// TestPartly: who takes a part of the advice gets no contrary advice on that part.
func TestPartly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := anyServer(t)
		var taken []kasoku.Advice
		for _, a := range Examine(in).Advice {
			if rapid.Bool().Draw(t, a.ID) {
				taken = append(taken, a)
			}
		}
		again := changes(Examine(apply(in, taken)).Advice)
		for _, a := range taken {
			if v, ok := again[a.Variable]; ok && a.Variable != "" && sameValue(v, a.Value) {
				t.Fatalf("%s: %s → %s, then back to %s", a.Variable, a.Value, a.Proposed, v)
			}
		}
	})
}

// TestSound: no advice proposes the value in force or a variable twice, or one that
// the server has not; each check answers once; more memory is proposed only where
// memory is known.
func TestSound(t *testing.T) {
	grows := map[string]bool{
		"innodb_buffer_pool_size": true, "sort_buffer_size": true, "join_buffer_size": true, "tmp_table_size": true, "max_heap_table_size": true,
		"binlog_cache_size": true, "innodb_log_buffer_size": true, "key_buffer_size": true, "query_cache_size": true, "max_connections": true,
	}
	rapid.Check(t, func(t *rapid.T) {
		in := anyServer(t)
		r := Examine(in)
		seen := map[string]bool{}
		reported := map[string]bool{}
		for _, a := range r.Advice {
			reported[a.ID+a.Area] = true
			if a.Variable == "" {
				continue
			}
			before, ok := in.Variables[a.Variable]
			if !ok || seen[a.Variable] || sameValue(before, a.Proposed) || a.Value != before {
				t.Fatalf("bad advice %+v; in force %q, seen %v", a, before, seen[a.Variable])
			}
			seen[a.Variable] = true
			x, _ := parseNumber(a.Proposed)
			y, number := parseNumber(before)
			if number && x > y && grows[a.Variable] && in.Memory.RAM == 0 {
				t.Fatalf("the memory is unknown, and %s grows from %s to %s", a.Variable, a.Value, a.Proposed)
			}
			if number && (x < 0 || x > 1<<62) {
				t.Fatalf("%s = %s", a.Variable, a.Proposed)
			}
		}
		if n := len(r.Quiet) + len(r.Unseen); n > len(checks()) {
			t.Fatalf("%d answers of %d checks", n, len(checks()))
		}
	})
}
