package graphite

import (
	"cmp"
	"fmt"
	"net"
	"strings"

	"github.com/kasoku/kasoku/observe"
)

// A Table is [graphite] of kasoku.toml: where carbon or go-carbon reports its own
// metrics. It is read when Query, Storage or Render is set.
type Table struct {
	Query   string   `toml:"query" eg:"'127.0.0.1:7002'"`                   // ports of carbon's caches, with commas
	Storage string   `toml:"storage,path" eg:"'/var/lib/graphite/whisper'"` // directory of whisper files
	Render  string   `toml:"render" eg:"'http://127.0.0.1:8080/render'"`    // URL of the render API
	Agents  []string `toml:"agents" eg:"['agents.web1-a']"`                 // servers as they name themselves; empty: all
}

// IsSet reports whether it is to be read.
func (t *Table) IsSet() bool { return t.Query != "" || t.Storage != "" || t.Render != "" }

// Address returns the first place that is asked.
func (t *Table) Address() string { return cmp.Or(t.Query, t.Storage, t.Render) }

// Files returns the directory that has to be readable.
func (t *Table) Files() []string {
	if t.Storage == "" {
		return nil
	}
	return []string{t.Storage}
}

// Check returns what is wrong with the table.
func (t *Table) Check() (out []observe.Fault) {
	for _, at := range Caches(t.Query) {
		if _, port, err := net.SplitHostPort(at); err != nil || port == "" {
			out = append(out, observe.Fault{
				Key: "query", Hint: "such as '127.0.0.1:7002'", Text: fmt.Sprintf("%q: want host:port", at),
			})
		}
	}
	if t.Render != "" && checkURL(t.Render) != nil {
		out = append(out, observe.Fault{
			Key: "render", Hint: "such as 'http://127.0.0.1:8080/render'",
			Text: fmt.Sprintf("%q: want a URL that begins with http://", t.Render),
		})
	}
	for i, a := range t.Agents {
		if !strings.Contains(a, ".") || strings.HasPrefix(a, prefix) || strings.ContainsAny(a, " *") {
			out = append(out, observe.Fault{
				Key:  fmt.Sprintf("agents.%d", i),
				Hint: "such as 'agents.web1-a' for carbon.agents.web1-a.cpuUsage", Text: fmt.Sprintf("%q: no name of a server", a),
			})
		}
	}
	if len(t.Agents) > 0 && !t.IsSet() {
		out = append(out, observe.Fault{Key: "agents", Hint: "add query, storage or render",
			Text: "does not say where to look"})
	}
	return out
}

// Open returns the source.
func (t *Table) Open() (observe.Source, error) {
	s, err := New(Options(*t))
	if err != nil {
		return nil, err
	}
	return s, nil
}
