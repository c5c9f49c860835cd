package compare

import (
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
)

// A ChangeKind is what sort of thing was changed.
type ChangeKind string

// The kinds.
const (
	CodeChange     ChangeKind = "code"
	SettingChanged ChangeKind = "setting"
	ConfigChange   ChangeKind = "configuration"
	SchemaChange   ChangeKind = "schema" // tables and indexes
	ObserverChange ChangeKind = "observation"
	HostChange     ChangeKind = "machine"
)

// A Changed is one thing that was changed between two runs.
type Changed struct {
	Kind          ChangeKind
	Name          string // max_connections; a file; a table; the revision's own name is in Before and After
	Before, After string // empty for texts
}

// String names the change: "setting max_connections", "code".
func (c Changed) String() string {
	if c.Name == "" {
		return string(c.Kind)
	}
	return string(c.Kind) + " " + c.Name
}

// Changes lists what was changed between two runs, as far as their files show it:
// code, settings, configuration, schema, what watched, the machine. A setting that
// the server sets by itself after another one is not counted beside it, nor one that
// kasoku altered to watch, nor a file whose effect the settings show, nor the settings
// of a scope that only one run recorded.
func Changes(before, after *kasoku.Recording) []Changed {
	var out []Changed
	out = append(out, codeChange(before, after)...)
	settings, _ := diffSettings(before, after)
	leads := map[string]bool{}
	scopes := map[string]bool{}
	for _, s := range settings {
		leads[s.Name] = true
		scopes[s.Scope] = true
	}
	for _, s := range settings {
		if !follows(s.Name, leads) && !ownChange(s.Name, before, after) {
			out = append(out, Changed{SettingChanged, s.Name, s.Before, s.After})
		}
	}
	out = append(out, textChanges(before, after, scopes)...)
	if x, y := before.Run.Observers, after.Run.Observers; x != y && x != "" && y != "" {
		out = append(out, Changed{ObserverChange, "", x, y})
	} else if x, y := traced(before), traced(after); x != y {
		out = append(out, Changed{ObserverChange, "", x, y})
	}
	return append(out, hostChange(before, after)...)
}

// traced says whether a run is judged by seconds that were traced, which costs the service CPU in them.
func traced(run *kasoku.Recording) string {
	if run.CostsJudged() {
		return "with a trace"
	}
	return "without a trace"
}

// codeChange returns one change of the code at most: the revision, else the text of
// the changes in the work tree.
func codeChange(before, after *kasoku.Recording) []Changed {
	x, y := before.Run.Revision, after.Run.Revision
	if x != "" && y != "" && x != y {
		return []Changed{{CodeChange, "", x, y}}
	}
	old, hadOld := gitDiff(before)
	now, hasNow := gitDiff(after)
	known := (hadOld || !before.Run.Dirty) && (hasNow || !after.Run.Dirty)
	if x != "" && y != "" && known && old != now {
		return []Changed{{CodeChange, "work tree", "", ""}}
	}
	return nil
}

func gitDiff(r *kasoku.Recording) (string, bool) {
	for _, c := range r.Configs {
		if c.Kind == "git" && c.Name == "diff" {
			return c.Text, c.Known()
		}
	}
	return "", false
}

// textChanges are the texts of the configuration that differ, save those whose effect
// the settings of their scope show.
func textChanges(before, after *kasoku.Recording, scopes map[string]bool) []Changed {
	var out []Changed
	for _, d := range DiffConfigs(before, after) {
		kind := ConfigChange
		switch {
		case d.Kind == "git" || scopes[d.Kind]:
			continue
		case d.Kind == "schema":
			kind = SchemaChange
		}
		out = append(out, Changed{Kind: kind, Name: d.Name})
	}
	return out
}

func hostChange(before, after *kasoku.Recording) []Changed {
	if len(before.Run.Hosts) == 0 || len(after.Run.Hosts) == 0 {
		return nil
	}
	x, y := before.Run.Hosts[0], after.Run.Hosts[0]
	if x.Name == y.Name && x.Cores == y.Cores && x.MemoryBytes == y.MemoryBytes {
		return nil
	}
	return []Changed{{HostChange, "", x.Name, y.Name}}
}

// ownChange reports whether a setting is one that kasoku itself altered for the time
// of one of the runs: a part of the observation.
func ownChange(name string, runs ...*kasoku.Recording) bool {
	return slices.ContainsFunc(runs, func(r *kasoku.Recording) bool {
		return slices.ContainsFunc(r.Changes, func(c kasoku.Change) bool { return c.Name == name })
	})
}

// follows reports whether the server sets a variable by itself after one of the
// others that changed.
//
// Source: MySQL 8.4 Reference Manual, sections 7.1.8 and 17.14, "autosized"
// defaults; MariaDB documentation of max_connections and table_open_cache.
func follows(name string, changed map[string]bool) bool {
	for leader, names := range map[string][]string{
		"max_connections": {
			"back_log", "host_cache_size", "open_files_limit", "table_definition_cache", "table_open_cache",
			"table_open_cache_instances", "thread_cache_size", "performance_schema_",
		},
		"table_open_cache": {"innodb_open_files", "open_files_limit", "table_definition_cache",
			"performance_schema_"},
		"innodb_buffer_pool_size": {"innodb_buffer_pool_chunk_size", "innodb_buffer_pool_instances",
			"innodb_page_cleaners"},
	} {
		match := func(n string) bool { return n == name || strings.HasSuffix(n, "_") && strings.HasPrefix(name, n) }
		if changed[leader] && leader != name && slices.ContainsFunc(names, match) {
			return true
		}
	}
	return false
}

// Alike reports whether two runs were made of the same thing: one project, load,
// code, configuration, machine and observation. Their differences are noise.
func Alike(a, b *kasoku.Recording) bool {
	if a.Run.Project != b.Run.Project || a.Run.Load != b.Run.Load || a.Run.Observers != b.Run.Observers {
		return false
	}
	if _, err := stepsLike(a, b, 0); err != nil {
		return false
	}
	return len(Changes(a, b)) == 0
}
