package plugin

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
)

// The JSON of graph definitions; the order of fields is the helper library's.
type (
	definitions struct {
		Graphs map[string]graphJSON `json:"graphs"`
	}
	graphJSON struct {
		Label   string       `json:"label"`
		Unit    string       `json:"unit"`
		Metrics []metricJSON `json:"metrics"`
	}
	metricJSON struct {
		Name    string `json:"name"`
		Label   string `json:"label"`
		Stacked bool   `json:"stacked"`
	}
)

// printDefinitions answers the agent's question at its start.
func (p *Plugin) printDefinitions() error {
	defs := definitions{map[string]graphJSON{}}
	for _, g := range p.Graphs {
		key := strings.Trim(p.Prefix+"."+g.Key, ".")
		out := graphJSON{Label: g.Label, Unit: g.Unit, Metrics: []metricJSON{}}
		if out.Label == "" {
			out.Label = titleOf(key)
		}
		for _, m := range g.Metrics {
			if m.Label == "" {
				m.Label = titleOf(m.Name)
			}
			out.Metrics = append(out.Metrics, metricJSON{m.Name, m.Label, m.Stacked})
		}
		defs.Graphs[key] = out
	}
	b, err := json.Marshal(defs)
	if err != nil {
		return fmt.Errorf("graph definitions: %w", err)
	}
	if _, err := fmt.Fprintf(p.out(), "# mackerel-agent-plugin\n%s\n", b); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}

// titleOf makes a label out of a key: points and underscores become spaces, * and #
// are dropped, and the first letter of each word becomes a capital, even after
// digits, as golang.org/x/text/cases has it: 90pt is 90Pt. A hyphen ends a word.
func titleOf(key string) string {
	s := strings.NewReplacer(".", " ", "_", " ", "*", "", "#", "").Replace(key)
	done := false // the word has its capital
	s = strings.Map(func(c rune) rune {
		switch {
		case unicode.IsLetter(c) && !done:
			done = true
			return unicode.ToTitle(c)
		case !unicode.IsLetter(c) && !unicode.IsDigit(c):
			done = false
		}
		return c
	}, s)
	return strings.TrimSpace(s)
}
