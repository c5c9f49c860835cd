package showcmd

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/config"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/split"
	"github.com/kasoku/kasoku/internal/unit"
)

// splitFlags are those of kasoku split.
type splitFlags struct {
	cli.Output
	hosts   string
	layout  []string
	clients int
	rtt     time.Duration
	failOn  bool

	edits     bool
	addresses []string
}

// NewSplit returns the command split, which predicts what other layouts of a service over hosts would give.
func NewSplit(e *cli.Env) *cobra.Command {
	var f splitFlags
	cmd := &cobra.Command{
		Use:   "split [RUN]",
		Short: "Predict what the service gives when its members are shared out over hosts otherwise",
		Long: `Predict what the service of a run gives when its members, such as the database, are on
other hosts: throughput and score with an interval, the median, what limits it then,
whether memory is enough, and which member to move first. RUN is a file, an id, a
label or latest (the default).

What a request needs of each member's CPU was measured; each host is a queue for it
(mean value analysis). The intervals have what the run's seconds differ by, and what
is assumed: what a round trip over the network takes, and whether clients pause. What
was not measured is listed, and counts in no figure.

--hosts says how many hosts there are to be, of the present one's size, or names those
that are added: db, or db=4 with 4 cores, or db=4/16G with memory. Without it the hosts
of [fleet] record in kasoku.toml count, else three. Exit code 1 with --fail-on-advice
when a member is worth moving.

--edits prints what makes the layout, that of --layout or else the first move: files,
patches, statements, each with its way back, to be reviewed. Passwords are in none of
them. Nothing is changed.`,
		Example: `  kasoku split
  kasoku split before --hosts 2
  kasoku split before --hosts db=4/16G,app2 --rtt 300us
  kasoku split before --layout mariadbd=db --hosts db -o json
  kasoku split before --layout mariadbd=db --hosts db --edits --addresses web=10.0.0.2,db=10.0.0.4`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return e.WhileReading(cmd.Context(), func(context.Context) error { return f.run(e, args) })
		},
	}
	f.Register(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.hosts, "hosts", "", "`HOSTS` in all, a number, or names of those that are added, with cores "+
		"and memory: db=4/16G")
	fl.StringSliceVar(&f.layout, "layout", nil,
		"judge this `LAYOUT` alone: MEMBER=HOST, or MEMBER=HOST+HOST for copies of an application")
	fl.IntVar(&f.clients, "clients", 0, "of a closed load, how many clients there are")
	fl.DurationVar(&f.rtt, "rtt", 0, "what a round trip between the hosts takes, as ping prints it; default 0.05 "+
		"to 0.5 ms")
	fl.BoolVar(&f.edits, "edits", false, "print what makes the layout, and what takes it back")
	fl.StringSliceVar(&f.addresses, "addresses", nil,
		"private `HOST=ADDRESS` of hosts, for --edits; else those that [fleet] hosts has")
	fl.BoolVar(&f.failOn, "fail-on-advice", false, "exit 1 when there is something to set")
	return cmd
}

func (f *splitFlags) run(e *cli.Env, args []string) error {
	if err := f.check(); err != nil {
		return err
	}
	c, err := cli.ReadConfig("")
	if err != nil {
		return err
	}
	rec, path, err := cli.OpenNamed(e, f.Dir, args)
	if err != nil {
		return err
	}
	s, err := split.Measure(diagnose.NewCase(rec, nil), f.clients)
	if err != nil {
		return fmt.Errorf("%s cannot be split: %w", path, err)
	}
	added, err := f.added(s, c)
	if err != nil {
		return err
	}
	assume := split.DefaultAssume()
	if f.rtt > 0 {
		assume = assume.TripOf(f.rtt)
	}
	p, err := split.NewPlan(s, added, assume)
	if err != nil {
		return cli.Usage(err, "--hosts 3, or the names of those that are added")
	}
	if len(f.layout) > 0 {
		l, err := p.LayoutOf(f.layout)
		if err != nil {
			return cli.Usagef("such as --layout mariadbd=db --hosts db", "--layout: %w", err)
		}
		p.Only(l)
	}
	v := &splitView{plan: p, rec: rec, path: path, rtt: f.rtt}
	if f.edits {
		return f.printEdits(e, v, c)
	}
	if err := f.Print(e, v.printer()); err != nil {
		return err
	}
	if f.failOn && p.First >= 0 {
		return cli.Bad(v.verdict())
	}
	return nil
}

func (f *splitFlags) check() error {
	if err := f.Check(); err != nil {
		return err
	}
	switch {
	case len(f.addresses) > 0 && !f.edits:
		return cli.Usagef("", "--addresses goes with --edits")
	case f.clients < 0:
		return cli.Usagef("", "--clients %d: want 1 or more", f.clients)
	case f.rtt < 0 || f.rtt > time.Second:
		return cli.Usagef("", "--rtt %v: want at most 1s", f.rtt)
	}
	return nil
}

// defaultHosts is how many hosts there are where no one says: as many as contests give.
const defaultHosts = 3

// added returns the hosts that members may be moved to beside those that have some.
func (f *splitFlags) added(s *split.Service, c *config.Config) (out []split.Host, err error) {
	like := s.Hosts[0]
	more := func(name string) {
		out = append(out, split.Host{Name: name, Cores: like.Cores, Memory: like.Memory})
	}
	known := func(name string) bool {
		return slices.ContainsFunc(s.Hosts, func(h split.Host) bool { return h.Name == name }) ||
			slices.ContainsFunc(out, func(h split.Host) bool { return h.Name == name })
	}
	n, err := strconv.Atoi(f.hosts)
	switch {
	case f.hosts == "" && c != nil && len(c.Fleet.Record) > 0:
		for _, name := range c.Fleet.Record {
			if !known(name) {
				more(name)
			}
		}
	case f.hosts == "":
		n = defaultHosts
	case err != nil:
		return f.named(like, known)
	}
	for i := len(s.Hosts) + 1; i <= n; i++ {
		more("host" + strconv.Itoa(i))
	}
	if len(s.Hosts)+len(out) < 2 {
		return nil, cli.Usagef("--hosts 2, or the names of those that are added", "one host: nothing can be split")
	}
	return out, nil
}

// named reads the names of --hosts.
func (f *splitFlags) named(like split.Host, known func(string) bool) (out []split.Host, err error) {
	for word := range strings.SplitSeq(f.hosts, ",") {
		name, size, _ := strings.Cut(word, "=")
		h := split.Host{Name: name, Cores: like.Cores, Memory: like.Memory}
		cores, memory, sized := strings.Cut(size, "/")
		if cores != "" {
			if h.Cores, err = strconv.ParseFloat(cores, 64); err != nil || !(h.Cores > 0 && h.Cores <= 4096) {
				return nil, cli.Usagef("such as db=4", "--hosts: %q is no number of cores", cores)
			}
		}
		if sized {
			if h.Memory, err = unit.ParseSize(memory); err != nil || h.Memory == 0 {
				return nil, cli.Usagef("such as db=4/16G", "--hosts: %q is no size", memory)
			}
		}
		if name == "" || strings.ContainsAny(name, " +;:\n") {
			return nil, cli.Usagef("such as db, or db=4/16G", "--hosts: bad host name %q", name)
		}
		if known(name) || slices.ContainsFunc(out, func(o split.Host) bool { return o.Name == name }) {
			return nil, cli.Usagef("name those that are added", "--hosts: %q is there already", name)
		}
		out = append(out, h)
	}
	return out, nil
}
