package diagnose

import (
	"maps"
	"slices"

	"github.com/kasoku/kasoku"
)

// nameHosts adds to findings about a run of several hosts which of them they are about, where
// their evidence is of one: the host of the series that it marks, else the one host that has what
// it quotes.
func nameHosts(c *Case, found []kasoku.Finding) {
	if c.Recording == nil || len(c.Run.Hosts) < 2 {
		return
	}
	for i := range found {
		f := &found[i]
		host, ok := evidenceHost(c, f)
		if !ok {
			continue
		}
		f.Title = cutTitle(f.Title, " ("+host+")")
		f.Cause = "This is of host " + host + ". " + f.Cause
	}
}

// evidenceHost returns the one host that the evidence of a finding is of.
func evidenceHost(c *Case, f *kasoku.Finding) (string, bool) {
	marked, quoted := map[string]bool{}, map[string]bool{}
	for i := range f.Evidence {
		e := &f.Evidence[i]
		for _, k := range e.Series {
			if k.Host != "" {
				marked[k.Host] = true
			}
		}
		for _, host := range sourceHosts(c, e.Source) {
			quoted[host] = true
		}
	}
	for _, hosts := range []map[string]bool{marked, quoted} {
		if len(hosts) > 0 {
			only := slices.Collect(maps.Keys(hosts))
			return only[0], len(only) == 1
		}
	}
	return "", false
}

// sourceHosts are the hosts that have what a source of evidence quotes.
func sourceHosts(c *Case, source string) (out []string) {
	add := func(host string) {
		if host != "" && !slices.Contains(out, host) {
			out = append(out, host)
		}
	}
	switch {
	case kasoku.IsStatementSource(source):
		for i := range c.Queries {
			add(c.Queries[i].Host)
		}
	case source == "access":
		for i := range c.Endpoints {
			add(c.Endpoints[i].Host)
		}
	case source == appLogSource:
		for i := range c.Messages {
			add(c.Messages[i].Host)
		}
	case slices.Contains([]string{"status", "var", "innodb", "locks", "schema"}, source):
		for i := range c.Series {
			if k := c.Series[i].Key; k.Source == MySQL {
				add(k.Host)
			}
		}
	default:
		for i := range c.Series {
			if k := c.Series[i].Key; k.Source == source {
				add(k.Host)
			}
		}
	}
	return out
}
