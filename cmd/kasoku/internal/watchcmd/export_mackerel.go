package watchcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/export"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report/terminal"
	"github.com/kasoku/kasoku/wire/mackerel"
)

// agentID is where mackerel-agent keeps the id of its host.
const agentID = "/var/lib/mackerel-agent/id"

// mackerelFlags is what goes where in Mackerel.
type mackerelFlags struct {
	base    string
	service string
	roles   []string
	hosts   map[string]string
	all     bool // series without an entity, not those alone that are chosen
}

func (f *mackerelFlags) register(fl *pflag.FlagSet) {
	fl.StringVar(&f.base, "apibase", "", "mackerel: `URL` of the API; default "+
		"$MACKEREL_APIBASE, else "+mackerel.DefaultBase)
	fl.StringVar(&f.service, "service", "", "mackerel: `SERVICE` for the metrics of the load, and annotations")
	fl.StringSliceVar(&f.roles, "role", nil, "mackerel: `ROLE,...` of the service that annotations are for; default "+
		"the service")
	fl.StringToStringVar(&f.hosts, "host-id", nil, "mackerel: ids of hosts, `HOST=ID,...`; default by name, of this "+
		"host the agent's")
	fl.Lookup("host-id").DefValue = "" // not []
	fl.BoolVar(&f.all, "all", false, "mackerel: all series without an entity, not those alone that show most; "+
		"Mackerel "+
		"bills by metrics of a host")
}

// client returns a client with the key of the environment.
func (f *mackerelFlags) client(e *cli.Env) (*mackerel.Client, error) {
	key := strings.TrimSpace(e.Getenv("MACKEREL_APIKEY"))
	if key == "" {
		return nil, cli.Usagef("MACKEREL_APIKEY=… kasoku export --to mackerel", "no API key in MACKEREL_APIKEY")
	}
	c, err := mackerel.New(mackerel.Options{Key: key, Base: cmp.Or(f.base, e.Getenv("MACKEREL_APIBASE")),
		UserAgent: "kasoku/" + cli.VersionString()})
	if err != nil {
		return nil, cli.Usage(err, "")
	}
	return c, nil
}

// output finds the hosts in Mackerel and returns where values go.
func (f *mackerelFlags) output(ctx context.Context, c *mackerel.Client, hosts []string,
	o export.MackerelOptions) (*export.Mackerel, error) {
	o.Client, o.Service, o.HostIDs = c, f.service, map[string]string{}
	for _, h := range hosts {
		id, err := f.hostID(ctx, c, h, o.Live)
		if err != nil {
			return nil, err
		}
		o.HostIDs[h] = id
	}
	return export.NewMackerel(o), nil
}

// hostID finds the id of a host: as it was given, the agent's of this very host, else
// by its name.
func (f *mackerelFlags) hostID(ctx context.Context, c *mackerel.Client, host string, own bool) (string, error) {
	if id := f.hosts[host]; id != "" {
		return id, nil
	}
	if own {
		if text, err := os.ReadFile(agentID); err == nil && len(strings.TrimSpace(string(text))) > 0 {
			return strings.TrimSpace(string(text)), nil
		}
	}
	found, err := c.HostsNamed(ctx, host)
	if err != nil {
		return "", fmt.Errorf("find host %q: %w", host, err)
	}
	if len(found) != 1 {
		return "", cli.Usagef("--host-id "+host+"=ID says which", "Mackerel knows %d hosts named %q", len(found), host)
	}
	return found[0].ID, nil
}

// takes reports whether a series goes to Mackerel, unless --only names what is wanted: it
// takes so many metrics of a host and no more.
func (f *exportFlags) takes(k kasoku.Key) bool {
	if f.mackerel.all {
		return export.HasNoEntity(k)
	}
	return export.IsChosen(k)
}

// filtered leaves out what Mackerel does not get.
func (f *exportFlags) filtered(out export.Output) export.Output {
	if len(f.only) > 0 {
		return out
	}
	return export.Filtered(out, f.takes)
}

// sayChosen says which series of hosts Mackerel gets, and why.
func (f *exportFlags) sayChosen(e *cli.Env, of string, names []string) {
	fmt.Fprintf(e.Stderr, "chosen  %s, since Mackerel bills by metrics of a host: %s; --all posts all without "+
		"an entity, --only "+
		"what you name\n", of, terminal.Clean(strings.Join(names, ", ")))
}

// runToMackerel posts a run, and marks what it was.
func (f *exportFlags) runToMackerel(ctx context.Context, e *cli.Env, rec *kasoku.Recording) error {
	if age := e.Now().Sub(rec.Run.Started); age > mackerel.MaxAge {
		return cli.Usagef("export a run within a day, or --live", "Mackerel keeps nothing older than %s, the run "+
			"began %s ago", unit.Exact(mackerel.MaxAge), unit.Duration(age))
	}
	var hosts []string
	for _, h := range rec.Run.Hosts {
		hosts = append(hosts, h.Name)
	}
	c, err := f.mackerel.client(e)
	if err != nil {
		return err
	}
	out, err := f.mackerel.output(ctx, c, hosts, export.MackerelOptions{Start: rec.Run.Started})
	if err != nil {
		return err
	}
	if keys := export.KeysOf(rec); len(f.only) == 0 && !f.mackerel.all {
		names, taken, others := export.Choose(keys, f.takes)
		f.sayChosen(e, unit.Count(taken)+" of "+unit.Count(taken+others)+" series of hosts", names)
	}
	to := f.filtered(out)
	if err := export.Recording(ctx, rec, export.Rates, f.only, to); err != nil {
		return err
	}
	err = contain.Do(minutesPart, func() error { return to.Close(ctx) })
	fmt.Fprintln(e.Stderr, terminal.Clean(mackerelSummary(out.Stats())))
	if bug := new(contain.Bug); err != nil && !errors.As(err, &bug) { // the command reports bugs
		return err
	}
	if f.mackerel.service == "" {
		fmt.Fprintln(e.Stderr, "no --service: neither the load nor annotations were posted")
		return nil
	}
	made, err := export.Annotate(ctx, c, rec, f.mackerel.service, f.mackerel.roles)
	fmt.Fprintf(e.Stderr, "marked  %s annotations of %s\n", unit.Count(made), f.mackerel.service)
	return err
}

// minutesPart names the posting of a run's minutes: its annotations are posted without.
var minutesPart = contain.Part{Kind: contain.Output, Name: "minutes"}

// mackerelSummary says what was posted.
func mackerelSummary(s export.MackerelStats) string {
	text := fmt.Sprintf("posted  %s values of hosts, %s of the service", unit.Count(s.Host), unit.Count(s.Service))
	if s.Graphs > 0 {
		text += fmt.Sprintf("; %s graphs named", unit.Count(s.Graphs))
	}
	if s.Lost > 0 {
		text += fmt.Sprintf("; %s could not be posted", unit.Count(s.Lost))
	}
	if s.Late > 0 {
		text += fmt.Sprintf("; %s came too late", unit.Count(s.Late))
	}
	return text
}
