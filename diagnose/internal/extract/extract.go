package extract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/kasoku/kasoku"
)

// Keys is what of a recording to keep apart from the run, its steps, phases, load,
// log windows, endpoints, events and gaps.
type Keys struct {
	Series    []kasoku.Key // by source and name, whatever host and instance
	Settings  []string     // names in the scopes mysql and sysctl; other scopes are kept whole
	Configs   []string     // kinds of texts of the configuration
	Messages  bool
	Queries   bool
	Saves     bool
	Service   bool // the members, also where no series of a process is kept
	RowChecks bool

	Callers      bool // which endpoint runs which statements, and how well that is known
	Plans        bool // with the tables that they read
	Transactions bool
	Locks        bool // waits and deadlocks
	Slowest      bool // requests
	Traces       bool // with who listens where, and who calls whom
	Latencies    bool // of endpoints
	Profiles     bool // their functions
	// Figures keeps what a figure of a whole step is made of and no more: the seconds
	// of a step added up, their latencies alone, counters at the ends of steps, no log
	// windows, endpoints, events and gaps. It is for groups of runs, of which one file holds many.
	Figures bool
}

// How much of long tables is kept.
const (
	maxMessages = 20
	maxQueries  = 20
	maxText     = 300 // bytes of a sample
)

// Write returns the extract of a run and of its baseline, which may be nil. The
// comment stands at the top: where the run was recorded, and what is wanted of
// the rule.
func Write(rec, baseline *kasoku.Recording, k Keys, comment string) ([]byte, error) {
	return WriteGroup(Group{Run: rec, Baseline: baseline}, k, comment)
}

// A Group is a run with those that repeat it, and its baseline, which may be nil,
// with those that repeat that.
type Group struct {
	Run       *kasoku.Recording
	Repeats   []*kasoku.Recording
	Baseline  *kasoku.Recording
	Baselines []*kasoku.Recording
}

// WriteGroup is [Write] of a whole group.
func WriteGroup(g Group, k Keys, comment string) ([]byte, error) {
	if !strings.HasSuffix(comment, "\n") {
		comment += "\n"
	}
	w := &writer{archive: txtar.Archive{Comment: []byte(comment)}}
	w.add("", g.Run, g.Baseline, k)
	for i, r := range g.Repeats {
		w.add(fmt.Sprintf("repeat%d/", i+1), r, g.Baseline, k)
	}
	if g.Baseline != nil {
		w.add("baseline/", g.Baseline, g.Run, k)
	}
	for i, r := range g.Baselines {
		w.add(fmt.Sprintf("baseline%d/", i+1), r, g.Run, k)
	}
	if w.err != nil {
		return nil, fmt.Errorf("write extract: %w", w.err)
	}
	return txtar.Format(&w.archive), nil
}

// A writer gathers files until the first error.
type writer struct {
	archive txtar.Archive
	err     error
}

// add appends the files of one run; other is the run that it is compared with.
func (w *writer) add(dir string, rec, other *kasoku.Recording, k Keys) {
	host := hostNames(rec)
	if k.Figures {
		rec = figures(rec, k.Messages)
	}
	w.object(dir+"run.json", bareRun(rec.Run, host))
	w.object(dir+"load.json", rec.Load)
	w.object(dir+"summary.json", rec.Summary)
	records(w, dir+"steps.json", rec.Steps)
	records(w, dir+"phases.json", rec.Phases)
	records(w, dir+"configs.json", bareConfigs(rec.Configs, k.Configs, host))
	records(w, dir+"seconds.json", packSeconds(rec.Seconds))
	w.put(dir+"series.tsv", packSeries(rec, k.Series, host), nil)
	w.put(dir+"settings.tsv", packSettings(rec, other, k.Settings, host), nil)
	records(w, dir+"endpoints.json", packEndpoints(rec.Endpoints, host, k.Latencies))
	records(w, dir+"logs.json", bareLogs(rec.Logs, host))
	if k.Service || slices.ContainsFunc(k.Series, func(k kasoku.Key) bool { return k.Source == "process" || k.Source == "cgroup" }) {
		w.object(dir+"service.json", bareService(rec, k, host))
	}
	records(w, dir+"events.json", rec.Events)
	records(w, dir+"gaps.json", bareGaps(rec.Gaps, host))
	if k.Messages {
		records(w, dir+"messages.json", bareMessages(rec.Messages, host))
	}
	if k.Queries {
		records(w, dir+"queries.json", packQueries(rec.Queries, host))
	}
	if k.Saves {
		records(w, dir+"saves.json", bareSaves(rec.Saves, host))
	}
	if k.RowChecks {
		records(w, dir+"rowchecks.json", bareRowChecks(rec.RowChecks, host))
	}
	w.addJoined(dir, rec, k, host)
}

func (w *writer) put(name string, data []byte, err error) {
	if w.err == nil && err != nil {
		w.err = fmt.Errorf("%s: %w", name, err)
	}
	if w.err == nil && len(data) > 0 {
		w.archive.Files = append(w.archive.Files, txtar.File{Name: name, Data: data})
	}
}

// object writes one value as a line of JSON, nothing for a nil pointer.
func (w *writer) object(name string, v any) {
	b, err := json.Marshal(v)
	if string(b) == "null" {
		return
	}
	w.put(name, append(b, '\n'), err)
}

// records writes a JSON array with one element a line, nothing for none.
func records[T any](w *writer, name string, list []T) {
	if len(list) == 0 {
		return
	}
	out := []byte("[\n")
	for i, v := range list {
		b, err := json.Marshal(v)
		if err != nil {
			w.put(name, nil, err)
			return
		}
		out = append(out, b...)
		if i < len(list)-1 {
			out = append(out, ',')
		}
		out = append(out, '\n')
	}
	w.put(name, append(out, "]\n"...), nil)
}

// Parse reads what Write wrote. The baseline is nil when there is none.
func Parse(data []byte) (rec, baseline *kasoku.Recording, err error) {
	g, err := ParseGroup(data)
	return g.Run, g.Baseline, err
}

// ParseGroup reads what WriteGroup wrote.
func ParseGroup(data []byte) (Group, error) {
	g := Group{Run: &kasoku.Recording{}}
	for _, f := range txtar.Parse(data).Files {
		into := g.Run
		dir, name, below := strings.Cut(f.Name, "/")
		if !below {
			name = f.Name
		} else if into = g.at(dir); into == nil {
			return Group{}, fmt.Errorf("extract %s: no such run", f.Name)
		}
		if err := parseFile(into, name, f.Data); err != nil {
			return Group{}, fmt.Errorf("extract %s: %w", f.Name, err)
		}
	}
	return g, nil
}

// at returns the run of a directory, a new one for the next of its kind; nil when
// the directory is none of a group's.
func (g *Group) at(dir string) *kasoku.Recording {
	if dir == "baseline" {
		if g.Baseline == nil {
			g.Baseline = &kasoku.Recording{}
		}
		return g.Baseline
	}
	list, number := &g.Repeats, strings.TrimPrefix(dir, "repeat")
	if n, ok := strings.CutPrefix(dir, "baseline"); ok {
		list, number = &g.Baselines, n
	}
	i, err := strconv.Atoi(number)
	if err != nil || i < 1 || i > len(*list)+1 || strconv.Itoa(i) != number {
		return nil
	}
	if i > len(*list) {
		*list = append(*list, &kasoku.Recording{})
	}
	return (*list)[i-1]
}

func parseFile(rec *kasoku.Recording, name string, data []byte) error {
	switch name {
	case "run.json":
		return decode(data, &rec.Run)
	case "load.json":
		return decode(data, &rec.Load)
	case "summary.json":
		return decode(data, &rec.Summary)
	case "steps.json":
		return decode(data, &rec.Steps)
	case "phases.json":
		return decode(data, &rec.Phases)
	case "configs.json":
		return decode(data, &rec.Configs)
	case "seconds.json":
		return unpack(data, &rec.Seconds, second.unpack)
	case "endpoints.json":
		return unpack(data, &rec.Endpoints, endpoint.unpack)
	case "queries.json":
		return unpack(data, &rec.Queries, query.unpack)
	case "series.tsv":
		return parseSeries(rec, data)
	case "settings.tsv":
		return parseSettings(rec, data)
	case "service.json":
		return decode(data, &rec.Service)
	case "logs.json":
		return decode(data, &rec.Logs)
	case "events.json":
		return decode(data, &rec.Events)
	case "gaps.json":
		return decode(data, &rec.Gaps)
	case "messages.json":
		return decode(data, &rec.Messages)
	case "saves.json":
		return decode(data, &rec.Saves)
	case "rowchecks.json":
		return decode(data, &rec.RowChecks)
	}
	return parseJoined(rec, name, data)
}

func decode(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

func unpack[P, T any](data []byte, into *[]T, one func(P) (T, error)) error {
	var packed []P
	if err := decode(data, &packed); err != nil {
		return err
	}
	for i, p := range packed {
		v, err := one(p)
		if err != nil {
			return fmt.Errorf("record %d: %w", i+1, err)
		}
		*into = append(*into, v)
	}
	return nil
}

// hostNames maps the hosts of a run to host1, host2 and so on.
func hostNames(rec *kasoku.Recording) func(string) string {
	names := map[string]string{"": ""}
	for _, h := range rec.Run.Hosts {
		if _, ok := names[h.Name]; !ok {
			names[h.Name] = "host" + strconv.Itoa(len(names))
		}
	}
	return func(s string) string {
		if n, ok := names[s]; ok {
			return n
		}
		names[s] = "host" + strconv.Itoa(len(names))
		return names[s]
	}
}

func bareRun(r kasoku.Run, host func(string) string) kasoku.Run {
	r.Hosts = slices.Clone(r.Hosts)
	for i := range r.Hosts {
		r.Hosts[i].Name, r.Hosts[i].BootID = host(r.Hosts[i].Name), ""
		r.Hosts[i].Kernel = ""
	}
	if r.Command != nil {
		c := *r.Command
		c.Output, c.Args = "", slices.Clone(c.Args)
		for i, a := range c.Args {
			if strings.HasPrefix(a, "/") {
				c.Args[i] = path.Base(a)
			}
		}
		r.Command = &c
	}
	return r
}

func bareLogs(in []kasoku.LogWindow, host func(string) string) []kasoku.LogWindow {
	out := slices.Clone(in)
	for i := range out {
		w := &out[i]
		w.Host, w.Path, w.Device, w.Inode, w.BadSample = host(w.Host), path.Base(w.Path), 0, 0, nil
		w.Note = strings.ReplaceAll(w.Note, path.Dir(in[i].Path)+"/", "")
	}
	return out
}

// bareConfigs keeps texts of these kinds.
func bareConfigs(in []kasoku.Config, kinds []string, host func(string) string) (out []kasoku.Config) {
	for _, c := range in {
		if slices.Contains(kinds, c.Kind) {
			c.Host = host(c.Host)
			out = append(out, c)
		}
	}
	return out
}

// bareService returns what rules read of the members whose processes or control groups are
// kept, nil when none is known. Their configuration and logs, which name files, are left out,
// but for the configuration of which the text is kept.
func bareService(rec *kasoku.Recording, k Keys, host func(string) string) *kasoku.Service {
	if !rec.Service.Known() {
		return nil
	}
	out := &kasoku.Service{}
	for _, m := range rec.Service.Members {
		processes := slices.Clone(m.Processes)
		for i := range processes {
			processes[i].Start = 0
		}
		unit := m.Unit
		if i := strings.LastIndexByte(m.Cgroup, '/'); unit == "" && i >= 0 {
			unit = m.Cgroup[i+1:]
		}
		var configs []string
		for _, c := range rec.Configs {
			if slices.Contains(k.Configs, c.Kind) && slices.Contains(m.Configs, c.Name) {
				configs = append(configs, c.Name)
			}
		}
		out.Members = append(out.Members, kasoku.Member{ID: m.ID, Role: m.Role, Program: m.Program, Host: host(m.Host),
			Unit: unit, Processes: processes, Language: m.Language, Framework: m.Framework, Configs: configs, Sure: m.Sure,
			Workers: m.Workers, Threads: m.Threads})
		if k.Traces {
			out.Members[len(out.Members)-1].Listeners = m.Listeners
		}
	}
	if k.Traces {
		for _, e := range rec.Service.Edges {
			e.Found = nil
			out.Edges = append(out.Edges, e)
		}
	}
	return out
}

func bareGaps(in []kasoku.Gap, host func(string) string) []kasoku.Gap {
	out := slices.Clone(in)
	for i := range out {
		out[i].Host = host(out[i].Host)
	}
	return out
}

func bareMessages(in []kasoku.Message, host func(string) string) []kasoku.Message {
	out := slices.Clone(in)
	slices.SortStableFunc(out, func(a, b kasoku.Message) int {
		switch {
		case a.Count > b.Count:
			return -1
		case a.Count < b.Count:
			return 1
		}
		return 0
	})
	out = out[:min(len(out), maxMessages)]
	for i := range out {
		m := &out[i]
		m.Host, m.Path, m.Sample, m.Pattern = host(m.Host), path.Base(m.Path), short(m.Sample), short(m.Pattern)
	}
	return out
}

func bareRowChecks(in []kasoku.RowCheck, host func(string) string) []kasoku.RowCheck {
	out := slices.Clone(in)
	for i := range out {
		out[i].Host = host(out[i].Host)
	}
	return out
}

func bareSaves(in []kasoku.SaveShape, host func(string) string) []kasoku.SaveShape {
	out := slices.Clone(in)
	for i := range out {
		out[i].Host = host(out[i].Host)
	}
	return out
}

func short(s string) string {
	if len(s) <= maxText {
		return s
	}
	return strings.ToValidUTF8(s[:maxText], "") + "…"
}
