package doctorcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
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

// checkServers asks the servers beside the database for their numbers, as a run does,
// and names those that run here and are not asked for.
func (d *doctor) checkServers() {
	asked, err := record.Servers(d.c)
	if err != nil {
		d.add(check{Area: areaServers, Name: "numbers", State: checkMissing, Asked: true, Seen: err.Error(), Lost: "the numbers of all of them"})
		return
	}
	if len(d.c.Watch.Expvar) > 0 {
		asked = append(asked, expvar.New(d.c.Watch.Expvar...))
	}
	var named []string
	for _, src := range asked {
		named = append(named, src.Name())
		d.checkServer(src)
	}
	for _, s := range d.toldServers() {
		if !slices.Contains(named, s.source) {
			d.add(s.check)
		}
	}
}

// checkServer collects once.
func (d *doctor) checkServer(src observe.Source) {
	ctx, cancel := context.WithTimeout(d.ctx, serverLimit)
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
		d.add(c)
	}
	if len(warned) > 0 {
		return
	}
	if err == nil {
		d.ok(areaServers, name, "%s", d.answers(name, len(f.Samples)))
		return
	}
	c := check{Area: areaServers, Name: name, State: checkMissing, Asked: true, Seen: err.Error(), Lost: lossOf(name)}
	var h interface{ Hint() string }
	if errors.As(err, &h) && h.Hint() != "" {
		c.Seen += "; " + h.Hint()
	}
	switch env := d.c.Redis.PasswordEnv; {
	case name == nginx.Name:
		c.Grants = []grant{stubStatus()}
	case name == redis.Name && env != "" && os.Getenv(env) == "":
		c.Seen = "the environment variable " + env + " is not set; " + err.Error()
		c.Grants = []grant{{inShell, "export " + env + "='…'"}}
	case name == graphite.Name && d.c.Graphite.Storage != "":
		r := topology.CheckFile(d.c.Graphite.Storage, d.who)
		c.Grants, c.Cost = rootGrants(r.Grant), r.Cost
	}
	d.add(c)
}

// answers says where a server of the configuration answered, and how much.
func (d *doctor) answers(name string, values int) string {
	at := map[string]string{
		nginx.Name: d.c.Nginx.Status, varnish.Name: cmp.Or(d.c.Varnish.Name, "the default instance"), redis.Name: d.c.Redis.Address,
		graphite.Name: cmp.Or(d.c.Graphite.Query, d.c.Graphite.Storage, d.c.Graphite.Render),
	}[name]
	for _, x := range d.c.Servers {
		if x.Source.Name == name {
			at = x.Address()
		}
	}
	if name == graphite.Name {
		return at + "; it tells of itself once a minute"
	}
	if name == expvar.Name {
		return fmt.Sprintf("%d values", values)
	}
	return fmt.Sprintf("%s: %d values", at, values)
}

// stubStatus is the location where nginx reports its numbers.
func stubStatus() grant {
	return grant(nginx.Declared.Grant)
}

// A toldServer is one that runs here.
type toldServer struct {
	source string
	check  check
}

// toldServers are the servers that run here and report numbers of themselves, or could.
func (d *doctor) toldServers() []toldServer {
	var out []toldServer
	add := func(source string, s *topology.Service, seen string, toml string) {
		c := check{Area: areaServers, Name: source, State: checkWarn, Seen: initcmd.ServiceText(s) + seen, Lost: lossOf(source)}
		switch {
		case toml == "" && source == nginx.Name:
			c.Grants = []grant{stubStatus()}
		case toml != "" && !d.configured():
			c.State, c.Lost = checkOK, "" // init writes it
		case toml != "":
			c.Grants = []grant{{config.Name, toml}}
		}
		out = append(out, toldServer{source, c})
	}
	for i := range d.found.Services {
		s := &d.found.Services[i]
		switch {
		case s.Nginx != nil && s.Nginx.Status != "":
			add(nginx.Name, s, " tells its numbers", "[nginx]\nstatus = "+initcmd.QuoteTOML(s.Nginx.Status))
		case s.Nginx != nil:
			add(nginx.Name, s, " has no page of stub_status that answers", "")
		case s.Varnish != nil && s.Varnish.Answers:
			toml := "[varnish]\nstat = 'varnishstat'"
			if s.Varnish.Name != "" {
				toml += "\nname = " + initcmd.QuoteTOML(s.Varnish.Name)
			}
			add(varnish.Name, s, " tells its numbers", toml)
		case s.Varnish != nil:
			add(varnish.Name, s, " does not tell its numbers to "+d.who.Name, "")
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
	for _, x := range initcmd.DeclaredServers(d.ctx, d.found) {
		if x.Key == "" {
			add(x.Source.Name, x.Service, " does not answer on loopback", "")
			continue
		}
		add(x.Source.Name, x.Service, " answers", "["+x.Source.Table+"]\n"+x.Key+" = "+initcmd.QuoteTOML(x.Value))
	}
	return out
}
