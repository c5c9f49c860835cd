package initcmd

import (
	"context"
	"slices"

	"github.com/kasoku/kasoku/observe"
	"github.com/kasoku/kasoku/observe/sources"
	"github.com/kasoku/kasoku/topology"
)

// A DeclaredServer runs here, and a source declares how it is asked. Key and Value
// belong in the source's table of kasoku.toml; Key is empty where it does not answer.
type DeclaredServer struct {
	Source     *observe.Declaration
	Service    *topology.Service
	Key, Value string
}

// DeclaredServers asks the servers of declared sources that run here on loopback.
func DeclaredServers(ctx context.Context, found *topology.Found) (out []DeclaredServer) {
	for _, d := range sources.All() {
		if d.Server == nil || d.Server.Find == nil {
			continue
		}
		for i := range found.Services {
			s := &found.Services[i]
			if slices.Contains(d.Server.Programs, s.Name) {
				out = append(out, askDeclared(ctx, d, s))
			}
		}
	}
	return out
}

func askDeclared(ctx context.Context, d *observe.Declaration, s *topology.Service) DeclaredServer {
	for _, l := range s.Listen {
		address := l.OnLoopback()
		if address == "" {
			continue
		}
		if key, value, err := d.Server.Find(ctx, address); err == nil {
			return DeclaredServer{d, s, key, value}
		}
	}
	return DeclaredServer{Source: d, Service: s}
}

// tomlDeclared writes the tables of these servers, each source's once.
func (s *Surveyed) tomlDeclared(w *tomlWriter) {
	var written []string
	for _, x := range s.declared {
		if slices.Contains(written, x.Source.Name) {
			continue
		}
		w.table(x.Source.Table, "The "+x.Source.Title+" to watch: "+x.Source.Lost+".")
		if x.Key == "" {
			w.say("%s runs here, and does not answer on loopback.", ServiceText(x.Service))
			continue
		}
		written = append(written, x.Source.Name)
		w.set(x.Key, QuoteTOML(x.Value), ServiceText(x.Service)+"; it answered.")
	}
}
