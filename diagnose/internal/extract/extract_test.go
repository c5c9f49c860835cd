package extract

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
)

func hist(n uint64, d time.Duration) *histogram.Histogram {
	h := histogram.New()
	h.RecordN(d, n)
	return h
}

func full() *kasoku.Recording {
	return &kasoku.Recording{
		Run: kasoku.Run{
			ID: "1", Label: "before", Started: time.Date(2026, 11, 20, 14, 2, 11, 0, time.UTC), Length: 42 * time.Second, State: kasoku.Finished,
			Hosts:   []kasoku.Host{{Name: "secret.example.com", Cores: 2, BootID: "b0"}},
			Command: &kasoku.Command{Args: []string{"/opt/secret/hammer", "-n", "9"}, Output: "secret"},
		},
		Load:  &kasoku.LoadSummary{Engine: "nethttp", Cores: 2},
		Steps: []kasoku.Step{{Number: 1, PerSec: 10, Interval: kasoku.Interval{To: 10 * time.Second}}},
		Seconds: []kasoku.LoadSecond{
			{Second: 0, Step: 1, Target: "GET /a", Asked: 3, Codes: map[int]uint64{200: 3}, Latency: hist(3, time.Second), SendDelay: hist(3, 1), Service: hist(3, 2)},
			{Second: 1, Step: 1, Target: "GET /a", Asked: 2, Codes: map[int]uint64{200: 2}, Latency: hist(2, time.Minute), SendDelay: hist(2, 5), Service: hist(2, 6)},
		},
		Series: []kasoku.Series{
			{Key: kasoku.Key{Host: "secret.example.com", Source: "process", Name: "rss", Instance: "7 a\tb"}, Unit: "bytes", Points: []kasoku.Point{{At: 1500 * time.Microsecond, Value: 1.5}, {At: time.Second, Value: -2e30}}},
			{Key: kasoku.Key{Host: "secret.example.com", Source: "mysql", Name: "X"}, Kind: kasoku.Counter},
			{Key: kasoku.Key{Source: "mysql", Name: "unwanted"}},
		},
		Settings: []kasoku.Setting{
			{Host: "secret.example.com", Scope: "mysql", Name: "max_connections", Value: "151"}, {Scope: "mysql", Name: "datadir", Value: "/opt/secret"},
			{Scope: "clock", Name: "/opt/secret/access.log", Value: "+08:00"},
			{Scope: "app", Name: "note", Value: "two\nlines\tand \"quotes\""}, {Scope: "app", Name: "empty"},
		},
		Endpoints: []kasoku.Endpoint{{Host: "secret.example.com", Method: "GET", Route: "/a", Codes: map[int]uint64{200: 5}, Seconds: map[int]kasoku.EndpointSecond{1: {Count: 5}}, Latency: hist(1, 1)}},
		Queries:   []kasoku.Query{{ID: "F", Calls: 3, Latency: hist(1, 1)}, {ID: "G", Calls: 4}},
		Saves:     []kasoku.SaveShape{{Table: "t", Count: 2, Sample: []string{"a", "b"}}},
		Messages:  []kasoku.Message{{Path: "/opt/secret/app.log", Sample: strings.Repeat("é", 400), Count: 1, Seconds: map[int]uint64{3: 1}}},
		Logs:      []kasoku.LogWindow{{Kind: "applog", Path: "/opt/secret/app.log", Note: "/opt/secret/app.log appeared", Inode: 7, BadSample: []kasoku.BadLine{{Text: "secret"}}}},
		Phases:    []kasoku.Phase{{Kind: kasoku.PhaseInitialize, Interval: kasoku.Interval{To: time.Second}, Why: "POST /initialize"}},
		Configs:   []kasoku.Config{{Host: "secret.example.com", Kind: "schema", Name: "a.b", Text: "CREATE"}, {Kind: "file", Name: "/secret"}},
		RowChecks: []kasoku.RowCheck{{Host: "secret.example.com", Table: "t", After: 3}},
		Events:    []kasoku.Event{{At: time.Second, Kind: "mark"}},
		Gaps:      []kasoku.Gap{{Host: "secret.example.com", Source: "mysql", Reason: "down"}},
	}
}

var all = Keys{
	Series:   []kasoku.Key{{Source: "process", Name: "rss"}, {Source: "mysql", Name: "X"}},
	Settings: []string{"max_connections"}, Configs: []string{"schema"}, Messages: true, Queries: true, Saves: true, RowChecks: true,
}

func TestWriteParse(t *testing.T) {
	data, err := Write(full(), nil, all, "constructed: for a test")
	if err != nil {
		t.Fatal(err)
	}
	if i := bytes.Index(data, []byte("secret")); i >= 0 {
		t.Errorf("names a machine: …%s", data[max(0, i-40):i+20])
	}
	rec, baseline, err := Parse(data)
	if err != nil || baseline != nil {
		t.Fatal(err, baseline)
	}
	if got, want := rec.Tally(1), full().Tally(1); !reflect.DeepEqual(got, want) {
		t.Errorf("tally %+v, want %+v", got, want)
	}
	if rec.Seconds[0].Latency.Count() != 3 || rec.Seconds[1].Latency.Max() != time.Minute {
		t.Error("latencies of each second are not kept")
	}
	if k := (kasoku.Key{Source: "process", Name: "rss", Instance: "7 a\tb", Host: "host1"}); len(rec.Series) != 2 || rec.Series[0].Key != k || !reflect.DeepEqual(rec.Series[0].Points, full().Series[0].Points) {
		t.Errorf("series %+v", rec.Series)
	}
	if want := full().Settings; len(rec.Settings) != 4 || rec.Settings[1].Name != "access.log" || rec.Settings[2] != want[3] || rec.Settings[3] != want[4] || rec.Settings[0].Value != "151" {
		t.Errorf("settings %+v", rec.Settings)
	}
	if rec.Queries[0].ID != "G" || len(rec.Saves) != 1 || len(rec.RowChecks) != 1 || len(rec.Events) != 1 || rec.Gaps[0].Reason != "down" {
		t.Errorf("tables %+v", rec)
	}
	if len(rec.Phases) != 1 || len(rec.Configs) != 1 || rec.Configs[0].Text != "CREATE" || rec.Configs[0].Host != "host1" {
		t.Errorf("phases %+v, configs %+v", rec.Phases, rec.Configs)
	}
	if m := rec.Messages[0]; m.Path != "app.log" || len(m.Sample) > maxText+3 || m.Seconds[3] != 1 {
		t.Errorf("message %+v", m)
	}
	again, err := Write(rec, nil, all, "constructed: for a test")
	if err != nil || !bytes.Equal(again, data) {
		t.Errorf("the extract of an extract differs, %v", err)
	}
}

func TestBaseline(t *testing.T) {
	before := full()
	before.Settings[0].Value, before.Settings[1].Value = "300", "/opt/other"
	before.Settings = append(before.Settings, kasoku.Setting{Scope: "mysql", Name: "back_log", Value: "80"})
	data, err := Write(full(), before, Keys{}, "")
	if err != nil {
		t.Fatal(err)
	}
	rec, baseline, err := Parse(data)
	if err != nil || baseline == nil {
		t.Fatal(err)
	}
	if v, _ := baseline.Setting("mysql", "max_connections"); v != "300" {
		t.Errorf("baseline %+v", baseline.Settings)
	}
	if v, _ := rec.Setting("mysql", "max_connections"); v != "151" {
		t.Errorf("run %+v", rec.Settings)
	}
	if _, ok := baseline.Setting("mysql", "datadir"); ok {
		t.Error("a path was kept")
	}
	if v, _ := baseline.Setting("mysql", "back_log"); v != "80" {
		t.Error("what only one run has was dropped")
	}
}

func TestGroup(t *testing.T) {
	run := func(id string) *kasoku.Recording {
		r := full()
		r.Run.ID = id
		r.Summary = &kasoku.Summary{Requests: 5, PerSec: 2.5}
		return r
	}
	g := Group{Run: run("a1"), Repeats: []*kasoku.Recording{run("a2"), run("a3")}, Baseline: run("b1"), Baselines: []*kasoku.Recording{run("b2")}}
	k := all
	k.Figures = true
	data, err := WriteGroup(g, k, "constructed: for a test")
	if err != nil {
		t.Fatal(err)
	}
	back, err := ParseGroup(data)
	if err != nil || len(back.Repeats) != 2 || len(back.Baselines) != 1 {
		t.Fatal(err, len(back.Repeats), len(back.Baselines))
	}
	for i, r := range []*kasoku.Recording{back.Run, back.Repeats[0], back.Repeats[1], back.Baseline, back.Baselines[0]} {
		if want := []string{"a1", "a2", "a3", "b1", "b2"}[i]; r.Run.ID != want {
			t.Errorf("run %d is %s, want %s", i, r.Run.ID, want)
		}
		if got, want := r.Tally(1), full().Tally(1); !reflect.DeepEqual(got.Latency, want.Latency) || got.Asked != want.Asked || !reflect.DeepEqual(got.Codes, want.Codes) {
			t.Errorf("%s: tally %+v, want %+v", r.Run.ID, got, want)
		}
		if len(r.Seconds) != 1 || len(r.Endpoints) > 0 || len(r.Logs) > 0 || r.Summary.PerSec != 2.5 {
			t.Errorf("%s: not cut to figures: %+v", r.Run.ID, r)
		}
		// The step ends at 10 s: what lies far from both ends goes.
		if s := r.Find(kasoku.Key{Source: "process", Name: "rss", Instance: "7 a\tb"}); s == nil || len(s.Points) != 2 {
			t.Errorf("%s: series %+v", r.Run.ID, s)
		}
	}
}

func TestParse_Failure(t *testing.T) {
	f := func(want, data string) {
		t.Helper()
		rec, baseline, err := Parse([]byte(data))
		if err == nil || !strings.Contains(err.Error(), want) || rec != nil || baseline != nil {
			t.Errorf("%q: %v, want %q", data, err, want)
		}
	}
	f("extract repeat2/run.json: no such run", "-- repeat2/run.json --\n{}")
	f("extract repeat/run.json: no such run", "-- repeat/run.json --\n{}")
	f("extract other/run.json: no such run", "-- other/run.json --\n{}")
	f("extract nonsense.json: no such table", "-- nonsense.json --\n")
	f("extract run.json: ", "-- run.json --\n{")
	f("unknown field", "-- run.json --\n{\"Nope\": 1}")
	f("extract baseline/series.tsv: line 2: 1 columns instead of 7", "-- baseline/series.tsv --\nh\tmysql\tX\t\tgauge\t\t1:2\nx\n")
	f("bad kind", "-- series.tsv --\nh\tmysql\tX\t\tmeter\t\t1:2\n")
	f("bad point", "-- series.tsv --\nh\tmysql\tX\t\tgauge\t\t1;2\n")
	f("bad text", "-- settings.tsv --\nh\tmysql\t\"x\tv\n")
	f("record 1: latency: ", "-- seconds.json --\n[{\"Latency\": \"AQID\"}]")
}

func FuzzParse(f *testing.F) {
	data, err := Write(full(), full(), all, "constructed: a seed")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte("-- settings.tsv --\nh\tmysql\tx\t\"a\\nb\"\n"))
	f.Add([]byte("-- repeat1/run.json --\n{}\n-- baseline1/run.json --\n{}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		rec, _, err := Parse(data)
		if err != nil {
			if rec != nil {
				t.Error("a recording beside an error")
			}
			return
		}
		rec.Tally(0) // histograms that were read can be used
	})
}
