package compare

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
)

// A SettingChange is one setting in which the sides differ.
type SettingChange struct {
	Scope         string // mysql
	Name          string
	Before, After string
	OnlyBefore    bool // after does not have it
	OnlyAfter     bool
}

// volatile settings name a place or a moment rather than a choice; a server that
// was started afresh for each run always differs in them.
var volatile = []string{
	"basedir", "character_sets_dir", "datadir", "error_count", "general_log_file", "gtid_executed", "gtid_purged",
	"gtid_binlog_pos", "gtid_binlog_state", "gtid_current_pos", "hostname", "identity", "in_transaction",
	"innodb_data_home_dir", "innodb_log_group_home_dir", "innodb_redo_log_archive_dirs", "innodb_undo_directory",
	"insert_id",
	"last_gtid", "last_insert_id", "lc_messages_dir", "log_bin_basename", "log_bin_index", "log_error", "mysqlx_port",
	"mysqlx_socket", "pid_file", "plugin_dir", "port", "pseudo_thread_id", "rand_seed1", "rand_seed2", "relay_log",
	"relay_log_basename", "relay_log_index", "relay_log_info_file", "replica_load_tmpdir", "report_port",
	"secure_file_priv",
	"server_uuid", "server_uid", "skip_replication", "slave_load_tmpdir", "slow_query_log_file", "socket", "ssl_ca",
	"ssl_cert", "ssl_key",
	"statement_id", "timestamp", "tmpdir", "warning_count",
}

// notChosen are the scopes of facts that a run came upon, such as the zones of clocks, and that
// are not settings.
var notChosen = []string{"clock", kasoku.AgentsScope, kasoku.AgainScope, kasoku.VariantScope, kasoku.AnswersScope, kasoku.TenantsScope}

// unitScope is the scope of states of units. A run may record one only when it is bad,
// so a run without any counts as one that looked.
const unitScope = "unit"

type settingKey struct{ scope, name string }

// settingsOf returns the settings that are a choice, and the scopes that the run
// recorded.
func settingsOf(r *kasoku.Recording) (values map[settingKey]string, scopes map[string]bool) {
	values, scopes = map[settingKey]string{}, map[string]bool{unitScope: true}
	for _, s := range r.Settings {
		if !slices.Contains(volatile, s.Name) && !slices.Contains(notChosen, s.Scope) {
			values[settingKey{s.Scope, s.Name}] = s.Value
			scopes[s.Scope] = true
		}
	}
	return values, scopes
}

// unrecorded returns the scopes of which only the other run has settings, sorted: a
// run without observers does not ask the database.
func unrecorded(b, a *kasoku.Recording) (before, after []string) {
	_, inBefore := settingsOf(b)
	_, inAfter := settingsOf(a)
	lacks := func(has, other map[string]bool) []string {
		return slices.DeleteFunc(slices.Sorted(maps.Keys(other)), func(s string) bool { return has[s] })
	}
	return lacks(inBefore, inAfter), lacks(inAfter, inBefore)
}

// diffSettings lists the settings that differ, of the scopes that both runs recorded.
func diffSettings(b, a *kasoku.Recording) (changes []SettingChange, equal int) {
	before, inBefore := settingsOf(b)
	after, inAfter := settingsOf(a)
	if len(before) == 0 || len(after) == 0 {
		return nil, 0
	}
	for k, x := range before {
		y, ok := after[k]
		if ok && x == y {
			equal++
			continue
		}
		if inAfter[k.scope] {
			changes = append(changes, SettingChange{Scope: k.scope, Name: k.name, Before: x, After: y, OnlyBefore: !ok})
		}
	}
	for k, y := range after {
		if _, ok := before[k]; !ok && inBefore[k.scope] {
			changes = append(changes, SettingChange{Scope: k.scope, Name: k.name, After: y, OnlyAfter: true})
		}
	}
	sort.Slice(changes, func(i, j int) bool {
		if changes[i].Scope != changes[j].Scope {
			return changes[i].Scope < changes[j].Scope
		}
		return changes[i].Name < changes[j].Name
	})
	return changes, equal
}

// A FindingState is what became of a finding.
type FindingState string

// The states.
const (
	Gone   FindingState = "gone"
	Left   FindingState = "left"
	New    FindingState = "new"
	Unseen FindingState = "not looked at" // the rule could not look in after
)

// A FindingChange is a finding of either side.
type FindingChange struct {
	ID     string
	Object kasoku.Object
	Title  string
	State  FindingState
	Why    string          // of Unseen and of Gone: what the rule saw in after
	Before *kasoku.Finding // nil when New
	After  *kasoku.Finding // nil unless Left or New
}

// Findings matches findings by id and object. It gives nothing when either
// run was not diagnosed.
func Findings(before, after *kasoku.Diagnosis) []FindingChange {
	if before == nil || after == nil {
		return nil
	}
	find := func(d *kasoku.Diagnosis, f *kasoku.Finding) *kasoku.Finding {
		for i := range d.Findings {
			if d.Findings[i].ID == f.ID && d.Findings[i].Object == f.Object {
				return &d.Findings[i]
			}
		}
		return nil
	}
	var out []FindingChange
	for i := range before.Findings {
		f := &before.Findings[i]
		c := FindingChange{ID: f.ID, Object: f.Object, Title: f.Title, State: Left, Before: f, After: find(after, f)}
		if c.After == nil {
			c.State = Gone
			if s := silence(after, f.ID); s != nil {
				c.Why = s.Reason
				if s.Blind {
					c.State = Unseen
				}
			}
		}
		out = append(out, c)
	}
	for i := range after.Findings {
		f := &after.Findings[i]
		if find(before, f) == nil {
			out = append(out, FindingChange{ID: f.ID, Object: f.Object, Title: f.Title, State: New, After: f})
		}
	}
	return out
}

// diagnosisOf returns the findings that more than half of a side's runs have, and
// what the rules said in the others; nil when one was not diagnosed.
func diagnosisOf(runs []*kasoku.Recording) *kasoku.Diagnosis {
	if len(runs) == 1 {
		return runs[0].Diagnosis
	}
	type key struct {
		id     string
		object kasoku.Object
	}
	out := &kasoku.Diagnosis{}
	in := map[key]int{}
	for _, r := range runs {
		if r.Diagnosis == nil {
			return nil
		}
		for _, f := range r.Diagnosis.Findings {
			k := key{f.ID, f.Object}
			if in[k]++; 2*in[k] > len(runs) && 2*(in[k]-1) <= len(runs) {
				out.Findings = append(out.Findings, f)
			}
		}
		out.Silences = append(out.Silences, r.Diagnosis.Silences...)
	}
	return out
}

func silence(d *kasoku.Diagnosis, id string) *kasoku.Silence {
	for i := range d.Silences {
		if d.Silences[i].ID == id {
			return &d.Silences[i]
		}
	}
	return nil
}

// databaseName is what the group of the database is called.
func databaseName(runs []*kasoku.Recording) string {
	for _, r := range runs {
		if v, ok := r.Setting("mysql", "version"); ok {
			if strings.Contains(strings.ToLower(v), "mariadb") {
				return "MariaDB"
			}
			return "MySQL"
		}
	}
	return "Database"
}

// warnings lists what limits the trust in the comparison.
func warnings(before, after []*kasoku.Recording, pairs []pair, c *Comparison) []kasoku.Warning {
	var out []kasoku.Warning
	add := func(code, hint, format string, args ...any) {
		out = append(out, kasoku.Warning{Code: code, Text: fmt.Sprintf(format, args...), Hint: hint})
	}
	if both := onBothSides(before, after); len(both) > 0 {
		add("same-run", "name another run for one of the sides", "%s on both sides: what it has in common "+
			"with itself shows nothing", standsWords(both))
	}
	c.countWarnings(add)
	for _, side := range [][]*kasoku.Recording{before, after} {
		unlikeWarnings(side, add)
	}
	if n := len(c.Changes); n > 1 {
		add("changed-together", "change one at a time", "%s changed together, so their effects cannot be distinguished",
			summarizeChanges(c.Changes))
	}
	unrecordedWarnings(c.middle(before, (*Row).before), c.middle(after, (*Row).after), add)
	hostWarnings(before[0], after[0], add)
	for _, r := range slices.Concat(before, after) {
		if r.Run.State == kasoku.Incomplete {
			add("incomplete", "", "run %q stopped at %s by %s", name(r), unit.Elapsed(r.Run.Length), r.Run.StopReason)
		}
		for _, w := range r.Warnings {
			if LateGenerator(w) {
				add(w.Code, w.Hint, "%s: %s", name(r), w.Text)
			}
		}
	}
	for _, p := range pairs {
		if x, y := p.before[0].Interval.Len(), p.after[0].Interval.Len(); max(x, y) > 2*min(x, y) {
			add("step-length", "", "the step at %s lasted %s before and %s after", unit.PerSec(p.before[0].PerSec),
				unit.Exact(x.Round(time.Second)), unit.Exact(y.Round(time.Second)))
		}
	}
	return out
}

// onBothSides returns the names of the runs that are given as before and as after, by
// their ids; runs without one are not compared.
func onBothSides(before, after []*kasoku.Recording) []string {
	var out []string
	for _, b := range before {
		if b.Run.ID != "" && slices.ContainsFunc(after, func(a *kasoku.Recording) bool {
			return a.Run.ID == b.Run.ID
		}) {
			out = append(out, strconv.Quote(name(b)))
		}
	}
	return out
}

// standsWords is the beginning of a sentence: run "a" stands, runs "a", "b" stand.
func standsWords(names []string) string {
	if len(names) == 1 {
		return "run " + names[0] + " stands"
	}
	return "runs " + strings.Join(names, ", ") + " stand"
}

// countWarnings describe what the number of runs allows.
func (c *Comparison) countWarnings(add func(code, hint, format string, args ...any)) {
	n, m := len(c.Before.Runs), len(c.After.Runs)
	s := Significance{Before: Sample{N: n}, After: Sample{N: m}}
	switch {
	case c.Single():
		add("one-run", "repeat the runs to see how much they differ by themselves", "%s", OneRun)
	case min(n, m) == 1:
		add("one-run", "repeat the single one as well", "%s: the side of one run has no spread of its own", s.counts())
	case leastP(n, m) > Alpha:
		add("few-runs", fmt.Sprintf("make at least %d runs a side", LeastRuns), "%s: too few to show any difference",
			s.counts())
	}
	if p := c.Primary(); p != nil && p.Samples != nil && p.Samples.Verdict == NotShown {
		hint := "more runs would hardly change that"
		if n := p.Samples.Need; n > 0 {
			hint = fmt.Sprintf("if it is real, about %s runs a side would show it", unit.Count(n))
		}
		add("not-shown", hint, "the difference in %s, %s, may be noise", p.Name,
			unit.Change(p.Before.Value, p.After.Value))
	}
}

// unlikeWarnings warns when the runs of a side are not of the same thing, so that
// their spread is more than noise.
func unlikeWarnings(side []*kasoku.Recording, add func(code, hint, format string, args ...any)) {
	for _, r := range side[1:] {
		if changes := Changes(side[0], r); len(changes) > 0 {
			add("unlike-runs", "compare groups of runs of one thing", "%s and %s stand on one side and differ: %s",
				name(side[0]), name(r), summarizeChanges(changes))
			return
		}
	}
}

// unrecordedWarnings names the settings that could not be compared.
func unrecordedWarnings(b, a *kasoku.Recording, add func(code, hint, format string, args ...any)) {
	before, after := unrecorded(b, a)
	for _, x := range []struct {
		side   string
		scopes []string
	}{{"before", before}, {"after", after}} {
		if len(x.scopes) > 0 {
			add("settings-not-recorded", "", "the settings of %s were not recorded %s", listed(x.scopes), x.side)
		}
	}
}

// summarizeChanges names a few changes and counts the rest.
func summarizeChanges(changes []Changed) string {
	const most = 4
	settings := 0
	var names []string
	for _, c := range changes {
		if c.Kind == SettingChanged {
			settings++
		}
		names = append(names, c.String())
	}
	switch n := len(changes); {
	case n > most && settings == n:
		return unit.Count(n) + " settings"
	case n > most:
		return strings.Join(names[:most-1], ", ") + " and " + unit.Count(n-most+1) + " more"
	default:
		return listed(names)
	}
}

// listed puts names, at least one, into a sentence.
func listed(names []string) string {
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// LateGenerator reports whether a warning says that the generator was the limit,
// so that figures of the run are the generator's own.
func LateGenerator(w kasoku.Warning) bool {
	switch w.Code {
	case "late-generator", "busy-generator", "no-descriptors", "no-local-ports":
		return true
	}
	return false
}

func hostWarnings(b, a *kasoku.Recording, add func(code, hint, format string, args ...any)) {
	if v, w := b.Run.Version, a.Run.Version; v != w {
		add("version-differs", "", "kasoku %s made before, %s after", v, w)
	}
	if x, _ := b.Setting("mysql", "version"); x != "" {
		if y, _ := a.Setting("mysql", "version"); y != "" && x != y {
			add("database-differs", "", "the database is %s before and %s after", x, y)
		}
	}
	if len(b.Run.Hosts) == 0 || len(a.Run.Hosts) == 0 {
		return
	}
	x, y := b.Run.Hosts[0], a.Run.Hosts[0]
	switch {
	case x.Name != y.Name:
		add("host-differs", "run both on one host", "before ran on %s, after on %s", x.Name, y.Name)
	case x.BootID != y.BootID && x.BootID != "" && y.BootID != "":
		add("rebooted", "", "%s was restarted between the runs", x.Name)
	}
	if x.Cores != y.Cores {
		add("cores-differ", "run both on the same machine size", "before had %d cores, after %d", x.Cores, y.Cores)
	}
	if x.MemoryBytes != y.MemoryBytes {
		add("memory-differs", "", "before had %s of memory, after %s", unit.BytesIEC(x.MemoryBytes),
			unit.BytesIEC(y.MemoryBytes))
	}
	if x.Kernel != y.Kernel {
		add("kernel-differs", "", "before ran on kernel %s, after on %s", x.Kernel, y.Kernel)
	}
}
