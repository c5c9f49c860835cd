package doctorcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/initcmd"
	"github.com/kasoku/kasoku/config"
	"github.com/kasoku/kasoku/observe"
	"github.com/kasoku/kasoku/observe/expvar"
	"github.com/kasoku/kasoku/observe/graphite"
	"github.com/kasoku/kasoku/observe/nginx"
	"github.com/kasoku/kasoku/observe/redis"
	"github.com/kasoku/kasoku/observe/sources"
	"github.com/kasoku/kasoku/observe/varnish"
	"github.com/kasoku/kasoku/record"
	"github.com/kasoku/kasoku/topology"
)

const areaServers = "servers"

// lossOf is what a run lacks without the numbers of a server.
func lossOf(source string) string {
	if d := sources.Find(source); d != nil {
		return d.Lost
	}
	return ""
}

// serverLimit is how long a server may take to answer.
const serverLimit = 3 * time.Second

// A serverExam is of the servers that report numbers of themselves.
type serverExam struct{ exam }

// check asks the servers beside the database for their numbers, as a run does,
// and names those that run here and are not asked for.
func (x serverExam) check() {
	asked, err := record.Servers(x.c)
	if err != nil {
		x.add(check{Area: areaServers, Name: "numbers", State: checkMissing, Asked: true, Seen: err.Error(), Lost: "the numbers of all of them"})
		return
	}
	if len(x.c.Watch.Expvar) > 0 {
		asked = append(asked, expvar.New(x.c.Watch.Expvar...))
	}
	var named []string
	for _, src := range asked {
		named = append(named, src.Name())
		x.checkServer(src)
	}
	for _, s := range x.localServers() {
		if !slices.Contains(named, s.source) {
			x.add(s.check)
		}
	}
}

// checkServer collects once.
func (x serverExam) checkServer(src observe.Source) {
	ctx, cancel := context.WithTimeout(x.ctx, serverLimit)
	defer cancel()
	var f kasoku.Frame
	err := src.Collect(ctx, &f)
	var warned []kasoku.Warning
	if w, ok := src.(observe.WarningSource); ok && err == nil {
		warned = w.Warnings()
	}
	if c, ok := src.(io.Closer); ok {
		_ = c.Close() // nothing was written
	}
	name := src.Name()
	for _, w := range warned {
		c := check{Area: areaServers, Name: name, State: checkWarn, Seen: w.Text, Lost: lossOf(name)}
		if w.Hint != "" {
			c.Seen += "; " + w.Hint
		}
		x.add(c)
	}
	if len(warned) > 0 {
		return
	}
	if err == nil {
		x.ok(areaServers, name, "%s", x.answers(name, len(f.Samples)))
		return
	}
	c := check{Area: areaServers, Name: name, State: checkMissing, Asked: true, Seen: err.Error(), Lost: lossOf(name)}
	var h interface{ Hint() string }
	if errors.As(err, &h) && h.Hint() != "" {
		c.Seen += "; " + h.Hint()
	}
	table := x.c.Server(name)
	if g := grantOf(name); g.Line != "" {
		c.Grants = []grant{g}
	}
	if needs, ok := table.(observe.Needer); ok {
		if what, how := needs.Missing(); what != "" {
			c.Seen = what + "; " + err.Error()
			c.Grants = []grant{grant(how)}
		}
	}
	if reads, ok := table.(observe.Reader); ok {
		for _, path := range reads.Files() {
			r := topology.CheckFile(path, x.who)
			c.Grants, c.Cost = rootGrants(r.Grant), r.Cost
		}
	}
	x.add(c)
}

// answers says where a server of the configuration answered, and how much.
func (x serverExam) answers(name string, values int) string {
	at := ""
	if table := x.c.Server(name); table != nil {
		at = table.Address()
	}
	if of := sources.Find(name); of != nil && of.Pace != "" {
		return at + "; it has new values " + of.Pace
	}
	if name == expvar.Name {
		return fmt.Sprintf("%d values", values)
	}
	return fmt.Sprintf("%s: %d values", at, values)
}

// grantOf is how the numbers of a server are made readable, empty where that depends on it.
func grantOf(source string) grant {
	if d := sources.Find(source); d != nil {
		return grant(d.Grant)
	}
	return grant{}
}

// A localServer is one that runs here.
type localServer struct {
	source string
	check  check
}

// localServers are the servers that run here and report numbers of themselves, or could.
func (x serverExam) localServers() []localServer {
	var out []localServer
	add := func(source string, s *topology.Service, seen string, toml string) {
		c := check{Area: areaServers, Name: source, State: checkWarn, Seen: initcmd.ServiceText(s) + seen, Lost: lossOf(source)}
		switch {
		case toml == "" && grantOf(source).Line != "":
			c.Grants = []grant{grantOf(source)}
		case toml != "" && !x.configured():
			c.State, c.Lost = checkOK, "" // init writes it
		case toml != "":
			c.Grants = []grant{{config.Name, toml}}
		}
		out = append(out, localServer{source, c})
	}
	for i := range x.found.Services {
		s := &x.found.Services[i]
		switch {
		case s.Nginx != nil && s.Nginx.Status != "":
			add(nginx.Name, s, " reports its numbers", "[nginx]\nstatus = "+initcmd.QuoteTOML(s.Nginx.Status))
		case s.Nginx != nil:
			add(nginx.Name, s, " has no page of stub_status that answers", "")
		case s.Varnish != nil && s.Varnish.Answers:
			toml := "[varnish]\nstat = 'varnishstat'"
			if s.Varnish.Name != "" {
				toml += "\nname = " + initcmd.QuoteTOML(s.Varnish.Name)
			}
			add(varnish.Name, s, " reports its numbers", toml)
		case s.Varnish != nil:
			add(varnish.Name, s, " does not show its numbers to "+x.who.Name, "")
		case s.Redis != nil && s.Redis.Address != "":
			toml := "[redis]\naddress = " + initcmd.QuoteTOML(s.Redis.Address)
			if s.Redis.TLS {
				toml += "\ncacert = '/etc/redis/ca.crt' # of its authority"
			}
			add(redis.Name, s, " answers", toml)
		case s.Carbon != nil && s.Carbon.Query != "":
			add(graphite.Name, s, " lets its cache be asked", "[graphite]\nquery = "+initcmd.QuoteTOML(s.Carbon.Query))
		}
	}
	for _, server := range initcmd.DeclaredServers(x.ctx, x.found) {
		if server.Key == "" {
			add(server.Source.Name, server.Service, " does not answer on loopback", "")
			continue
		}
		add(server.Source.Name, server.Service, " answers", "["+server.Source.Table+"]\n"+server.Key+" = "+initcmd.QuoteTOML(server.Value))
	}
	return out
}
