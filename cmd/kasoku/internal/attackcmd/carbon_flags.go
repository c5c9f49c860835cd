package attackcmd

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/config"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/carbon"
	"github.com/kasoku/kasoku/wire/graphite"
)

// asHaggar is the value of --as.
const asHaggar = "haggar"

// Defaults of a load of carbon that is not haggar's.
const (
	carbonConnections = 4
	carbonDuration    = time.Minute
	carbonInterval    = 10 * time.Second
	carbonRamp        = 30 * time.Second
	carbonSettle      = time.Second
	carbonNames       = "kasoku.agent.{agent}.metrics.{metric}"
)

// carbonFlags are the flags of a load of carbon.
type carbonFlags struct {
	as       string
	address  string
	metrics  int
	interval time.Duration
	protocol string
	ramp     time.Duration
	names    string
	newShare float64
	oldShare float64
	vars     string // host:port where it shows what it has sent
	settle   time.Duration
	server   cli.CarbonServerFlags

	agents int // haggar's, as those below
	flush  time.Duration
	jitter time.Duration
	prefix string
	spawn  time.Duration
	cached bool
}

// ownCarbonFlags are those of the own form alone, haggarFlags those of --as haggar alone,
// sharedCarbonFlags those of both, in addition to the server's.
var (
	ownCarbonFlags    = []string{"interval", "protocol", "ramp", "names", "new-series", "out-of-order", "connections"}
	haggarFlags       = []string{"agents", "flush-interval", "jitter", "prefix", "spawn-interval", "cache_connections"}
	sharedCarbonFlags = []string{"as", "carbon", "metrics", "duration", "seed", "allow", "name", "output-format", "vars",
		"settle", "html", "color", "ascii",
		"share"}
)

func (c *carbonFlags) register(fl *pflag.FlagSet) {
	fl.StringVar(&c.as, "as", "", "haggar: load carbon with its flags, names and phases")
	fl.StringVar(&c.address, "carbon", "", "load the carbon at `HOST:PORT` with points instead of HTTP targets; "+
		"of haggar localhost:2003")
	fl.IntVar(&c.metrics, "metrics", 10_000, "carbon: series of all connections; haggar: of each agent")
	fl.DurationVar(&c.interval, "interval", carbonInterval, "carbon: between two points of a series")
	fl.StringVar(&c.protocol, "protocol", string(graphite.Line), "carbon: line, pickle or udp")
	fl.DurationVar(&c.ramp, "ramp", carbonRamp, "carbon: until all series are sent; not longer than half of -duration")
	fl.StringVar(&c.names, "names", carbonNames, "carbon: `TEMPLATE` of the names, with {metric} and, for "+
		"several connections, {agent}")
	fl.Float64Var(&c.newShare, "new-series", 0, "carbon: `SHARE` 0 to 1 of the series that end each interval "+
		"for new ones")
	fl.Float64Var(&c.oldShare, "out-of-order", 0, "carbon: `SHARE` 0 to 1 of the points whose time lies two "+
		"intervals back")
	fl.StringVar(&c.vars, "vars", "", "carbon: show what was sent at /debug/vars of `ADDRESS`, for kasoku record --expvar")
	fl.DurationVar(&c.settle, "settle", carbonSettle, "carbon: go on after the load, for what the server reports of "+
		"its end; without a word only where it reports")
	c.server.Register(fl, "carbon: ")
	fl.IntVar(&c.agents, "agents", 100, "haggar: agents")
	fl.DurationVar(&c.flush, "flush-interval", 10*time.Second, "haggar: between two flushes of an agent")
	fl.DurationVar(&c.jitter, "jitter", 10*time.Second, "haggar: the most by which a launch is moved")
	fl.StringVar(&c.prefix, "prefix", "haggar", "haggar: of the names")
	fl.DurationVar(&c.spawn, "spawn-interval", 10*time.Second, "haggar: between two launches")
	fl.BoolVar(&c.cached, "cache_connections", false, "haggar: keep the connection of each agent")
}

// asksCarbon reports whether the load is one of carbon.
func (f *attackFlags) asksCarbon() bool { return f.set("carbon") || f.set("as") }

// check refuses what does not go together. given are the flags that were given.
func (c *carbonFlags) check(given []string, args []string) error {
	if c.as != "" && c.as != asHaggar {
		return cli.Usagef("", "--as %q: want %s", c.as, asHaggar)
	}
	allowed := slices.Concat(sharedCarbonFlags, c.server.Names(), ownCarbonFlags)
	form := "--carbon"
	if c.as == asHaggar {
		allowed, form = slices.Concat(sharedCarbonFlags, c.server.Names(), haggarFlags), "--as haggar"
	}
	for _, name := range given {
		if !slices.Contains(allowed, name) {
			return cli.Usagef("`kasoku attack --help` says which flags are carbon's and which haggar's",
				"--%s does not go with %s", name, form)
		}
	}
	if len(args) > 0 {
		return cli.Usagef("", "%s loads carbon: without %q", form, args[0])
	}
	return nil
}

// checkHTTP refuses flags of a load of carbon without one.
func (c *carbonFlags) checkHTTP(given []string) error {
	of := slices.DeleteFunc(slices.Concat(ownCarbonFlags, haggarFlags, c.server.Names(),
		[]string{"metrics", "vars", "settle"}),
		func(n string) bool { return n == "connections" })
	for _, name := range given {
		if slices.Contains(of, name) {
			return cli.Usagef("--carbon HOST:PORT, or --as haggar", "--%s is for a load of carbon", name)
		}
	}
	return nil
}

// describe is how the points are spread.
func (c *carbonFlags) describe() string {
	if c.as == asHaggar {
		return "agents as haggar's"
	}
	return "points spread over " + unit.Exact(c.interval)
}

// options turns the flags into options.
func (c *carbonFlags) options(f *attackFlags) (o carbon.Options, err error) {
	if err := cli.CheckFormat("-o", f.out.Format); err != nil {
		return o, err
	}
	if c.settle < 0 {
		return o, cli.Usagef("", "--settle %s: want 0 or more", unit.Exact(c.settle))
	}
	o = carbon.Options{Duration: f.vegeta.Duration, Seed: f.vegeta.Seed}
	if !f.set("seed") {
		o.Seed = uint64(rand.Uint32())
	}
	if c.as == asHaggar {
		if err := c.completeHaggar(&o); err != nil {
			return o, err
		}
	} else {
		c.completeOwn(f, &o)
	}
	if _, _, err := net.SplitHostPort(c.address); err != nil && c.address != "" {
		port := o.Protocol.Port()
		c.address = net.JoinHostPort(strings.Trim(c.address, "[]"), port)
	}
	o.Address = c.address
	if err := o.Check(); err != nil {
		return o, cli.Usage(fmt.Errorf("--carbon: %w", err), "")
	}
	return o, nil
}

// completeHaggar makes the agents those of haggar: a connection for each flush unless they
// are kept, one time for each flush, and flushes that are not made while one goes on.
func (c *carbonFlags) completeHaggar(o *carbon.Options) error {
	if c.address == "" {
		c.address = "localhost:2003"
	}
	switch {
	case c.jitter > c.spawn:
		return cli.BadError(cli.WithHint(errors.New("jitter value must be less than or equal to spawn-interval"),
			"-jitter "+unit.Exact(c.spawn)+", or less"))
	case c.jitter < 0 || c.spawn < 0:
		return cli.Usagef("", "-jitter and -spawn-interval: want 0 or more")
	case c.agents < 1 || c.metrics < 1:
		return cli.Usagef("", "-agents and -metrics: want 1 or more")
	case strings.ContainsAny(c.prefix, "{}"):
		return cli.Usagef("", "-prefix %q: a brace has no place in a name", c.prefix)
	case c.metrics > 1_000_000_000/c.agents:
		return cli.Usagef("", "%d agents of %d metrics: want 1,000,000,000 series at most", c.agents, c.metrics)
	}
	o.Protocol, o.Interval = graphite.Line, c.flush
	o.Agents, o.Metrics = c.agents, c.agents*c.metrics
	o.Names = carbon.Template(c.prefix + ".agent.{agent}.metrics.{metric}")
	o.OneEpoch, o.DropLate, o.Redial = true, true, !c.cached
	if c.agents <= 20_000 { // else Check refuses it
		o.Launches = carbon.HaggarLaunches(c.agents, c.spawn, c.jitter, rand.New(rand.NewPCG(o.Seed, 1)))
	}
	return nil
}

// completeOwn makes a load whose points are spread evenly.
func (c *carbonFlags) completeOwn(f *attackFlags, o *carbon.Options) {
	o.Protocol, o.Interval, o.Ramp = graphite.Protocol(c.protocol), c.interval, c.ramp
	o.Names, o.NewShare, o.OldShare = carbon.Template(c.names), c.newShare, c.oldShare
	o.Agents, o.Metrics = min(carbonConnections, max(c.metrics, 1)), c.metrics
	if f.set("connections") {
		o.Agents = f.vegeta.Engine.HTTP.Connections
	}
	if !f.set("duration") {
		o.Duration = carbonDuration
	}
	if !f.set("ramp") && o.Duration > 0 {
		o.Ramp = min(o.Ramp, o.Duration/2)
	}
}

// permit adds what kasoku.toml lets be loaded. A mistake there is reported when a host would
// have needed to stand there.
func (f *attackFlags) permit(p *load.Permit) {
	if path, ok := config.Find("."); ok {
		var c *config.Config
		if c, f.unread = config.Load(path); f.unread == nil {
			p.Hosts = append(p.Hosts, c.Load.Allow...)
		}
	}
}
