package fleetcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/fleet"
	"github.com/kasoku/kasoku/fleet/hubdir"
	"github.com/kasoku/kasoku/fleet/relay"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/cell"
	"github.com/kasoku/kasoku/report/encode"
)

// defaultInvite is how long a join line is good unless somebody says.
const defaultInvite = 15 * time.Minute

// NewHub returns the command hub, over which hosts of a fleet are asked.
func NewHub(e *cli.Env) *cobra.Command {
	var o relay.Serve
	cmd := &cobra.Command{
		Use:   "hub",
		Short: "Be the hub of a fleet: one load from many machines",
		Long: `Be the hub over which this user asks the hosts of a fleet, until it is ended. It prints
join lines, each for one host and one use; ` + "`kasoku agent JOIN-LINE`" + ` joins with it. Who has
no key of a member is refused and logged. A host that joined stays a member when the
hub is started again.

The connection is TLS from the first byte, and the hub is known by its key, which the
join line names. The hub carries questions and answers, and keeps neither.`,
		Example: `  kasoku hub --listen 10.0.0.9:7422 --invites 3
  kasoku hub invite gen4
  kasoku hub status
  kasoku hub remove gen2
  kasoku attack --from gen1,gen2,gen3 -rate 60000 -duration 30s http://10.0.0.5/`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) (err error) {
			if err := checkServe(&o); err != nil {
				return err
			}
			if o.Dir, err = dirOf(e, o.Dir, "hub"); err != nil {
				return err
			}
			return become(relay.Options{Serve: &o})
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&o.Listen, "listen", "127.0.0.1:7422", "`ADDRESS`, with its port; as set, this host alone reaches it")
	fl.StringVar(&o.Address, "public", "", "`HOST:PORT` by which hosts reach it; default where it listens")
	fl.DurationVar(&o.Invite, "for", defaultInvite, "how long the join lines are good")
	fl.IntVar(&o.Lines, "invites", 1, "print `N` join lines; 0: none")
	cmd.PersistentFlags().StringVar(&o.Dir, "dir", "", "`DIRECTORY` of its keys, members and logs; "+
		"default hub in kasoku's state directory")
	cmd.AddCommand(newInvite(e, &o.Dir), newStatus(e, &o.Dir), newRemove(e, &o.Dir), newCluster(e, &o.Dir))
	return cmd
}

func checkServe(o *relay.Serve) error {
	host, port, err := net.SplitHostPort(o.Listen)
	if err != nil || port == "" {
		return cli.Usagef("", "--listen %q: want ADDRESS:PORT, such as 10.0.0.9:7422", o.Listen)
	}
	if ip := net.ParseIP(host); o.Address == "" && (host == "" || ip != nil && ip.IsUnspecified()) {
		return cli.Usagef("--public 10.0.0.9:"+port+" says how hosts reach it", "--listen %s is every address of this host",
			o.Listen)
	}
	if o.Address != "" {
		if _, port, err := net.SplitHostPort(o.Address); err != nil || port == "" {
			return cli.Usagef("", "--public %q: want HOST:PORT, such as 10.0.0.9:7422", o.Address)
		}
	}
	if o.Lines < 0 || o.Lines > 100 || o.Invite < time.Second || o.Invite > 30*24*time.Hour {
		return cli.Usagef("", "want --invites 0 to 100, and --for 1s to 720h")
	}
	return nil
}

// existing opens the directory of a hub that was made before.
func existing(e *cli.Env, named string) (*hubdir.Dir, error) {
	dir, err := dirOf(e, named, "hub")
	if err != nil {
		return nil, err
	}
	d, err := hubdir.Existing(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, cli.WithHint(fmt.Errorf("there is no hub in %s", dir),
			"`kasoku hub` makes one; --dir names another directory")
	}
	return d, err
}

func newInvite(e *cli.Env, dir *string) *cobra.Command {
	var life time.Duration
	cmd := &cobra.Command{
		Use:   "invite [NAME...]",
		Short: "Print join lines, for the hosts named or for any one",
		Example: `  kasoku hub invite
  kasoku hub invite gen4 gen5 --for 1h`,
		RunE: func(_ *cobra.Command, names []string) error {
			if life < time.Second || life > 30*24*time.Hour {
				return cli.Usagef("", "--for %s: want 1s to 720h", life)
			}
			d, err := existing(e, *dir)
			if err != nil {
				return err
			}
			if len(names) == 0 {
				names = []string{""}
			}
			for _, name := range names {
				t, err := d.Invite(name, e.Now().Add(life))
				if err != nil {
					return cli.Usage(err, "")
				}
				fmt.Fprintf(e.Stdout, "%s\n", t) // its token is what it is for: SayLine would mask it
			}
			return nil
		},
	}
	cmd.Flags().DurationVar(&life, "for", defaultInvite, "how long they are good")
	return cmd
}

func newRemove(e *cli.Env, dir *string) *cobra.Command {
	return &cobra.Command{
		Use:     "remove NAME...",
		Short:   "Take hosts out: their keys are refused, and they are cut off",
		Example: "  kasoku hub remove gen2",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, names []string) error {
			d, err := existing(e, *dir)
			if err != nil {
				return err
			}
			for _, name := range names {
				if err := d.Remove(name); err != nil {
					return cli.WithHint(err, "`kasoku hub status` lists them")
				}
				e.SayLine("%s is taken out; a hub that runs cuts it off within a second", name)
			}
			return nil
		},
	}
}

// Members is the JSON of fleet status and of hub status; docs/json.md has the fields.
type Members struct {
	Schema int         `json:"schema"`
	Kind   string      `json:"kind"` // members
	Hosts  []hostState `json:"hosts"`
}

// A hostState is what a member says, or why it says nothing.
type hostState struct {
	Host      string   `json:"host"`
	Connected bool     `json:"connected"`
	Kasoku    string   `json:"kasoku,omitempty"`
	Cores     int      `json:"cores,omitempty"`
	Allowed   []string `json:"allowed,omitempty"`
	Problem   string   `json:"problem,omitempty"`
}

func newStatus(e *cli.Env, dir *string) *cobra.Command {
	var out cli.Output
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "List the members of the fleet, each asked whether it is there",
		Example: "  kasoku hub status\n  kasoku hub status -o json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := out.Check(); err != nil {
				return err
			}
			ctx, stop := e.ReadingInterruptible(cmd.Context())
			defer stop()
			all, err := status(ctx, e, *dir)
			if err != nil {
				return err
			}
			if err := out.Print(e, cli.Printer{Doc: statusDocument(all, e),
				JSON: func(w io.Writer) error { return encode.JSON(w, Members{encode.Schema, "members", all}) }}); err != nil {
				return err
			}
			if slices.ContainsFunc(all, func(h hostState) bool { return !h.Connected }) {
				return cli.Bad("not all hosts answer")
			}
			return nil
		},
	}
	out.Register(cmd)
	return cmd
}

// status asks each member who it is.
func status(ctx context.Context, e *cli.Env, dir string) ([]hostState, error) {
	d, err := existing(e, dir)
	if err != nil {
		return nil, err
	}
	members, err := d.Members()
	if err != nil {
		return nil, err
	}
	conn, err := Connect(ctx, e, d.Path, nil)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	names := slices.Sorted(maps.Keys(members))
	out := make([]hostState, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		out[i] = hostState{Host: name, Problem: "it was not asked"}
		all.Go(contain.Func(contain.Part{Kind: contain.Step, Name: "generator"}, func() { out[i] = greet(ctx, conn, name) }))
	}
	all.Wait()
	return out, nil
}

func greet(ctx context.Context, conn *Connection, name string) hostState {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	var g fleet.Greeting
	if err := conn.Ask(ctx, name, fleet.Hello, struct{}{}, &g); err != nil {
		return hostState{Host: name, Problem: strings.TrimPrefix(err.Error(), "ask "+name+": ")}
	}
	h := hostState{Host: name, Connected: true, Kasoku: g.Program, Cores: g.Cores, Allowed: g.Allowed}
	if g.Version != fleet.Version {
		h.Problem = fmt.Sprintf("it speaks version %d of the questions, and this is %d", g.Version, fleet.Version)
	}
	return h
}

func statusDocument(all []hostState, e *cli.Env) *report.Document {
	o := e.ReportOptions("")
	d := &report.Document{Kind: report.KindFleet, Title: "fleet", Verdict: statusVerdict(all),
		Footer: report.FooterOf(o, "")}
	t := &report.Table{ID: "hosts", Columns: []report.Column{{Key: "host", Head: "host", Cut: true},
		{Key: "answers", Head: "answers"},
		{Key: "kasoku", Head: "kasoku", Cut: true}, {Key: "cores", Head: "cores", Align: report.Right},
		{Key: "allowed", Head: "allowed, or what is wrong", Cut: true}}}
	for _, h := range all {
		answers, more := cell.Text("yes"), strings.Join(h.Allowed, " ")
		if !h.Connected {
			answers = cell.Text("no")
			answers.Tone = report.Bad
		}
		if h.Problem != "" {
			more = h.Problem
		} else if more == "" {
			more = "nothing"
		}
		cores := cell.None()
		if h.Cores > 0 {
			cores = cell.Count(uint64(h.Cores))
		}
		t.Rows = append(t.Rows, report.Row{Cells: []report.Cell{cell.Text(h.Host), answers, cell.Text(h.Kasoku), cores,
			cell.Text(more)}})
	}
	d.PutSection(o, "hosts", func() report.Section {
		return report.Section{ID: "hosts", Title: "Hosts", Count: len(all), Blocks: []report.Block{t}}
	})
	return d
}

// statusVerdict says whether all is as it should be, else which hosts are not.
func statusVerdict(all []hostState) string {
	n := answering(all)
	if n == len(all) {
		return fmt.Sprintf("All %s answer.", unit.Counted(uint64(n), "host", "hosts"))
	}
	var silent []string
	for _, h := range all {
		if !h.Connected {
			silent = append(silent, h.Host)
		}
	}
	return fmt.Sprintf("%d of %s answer; not %s.", n, unit.Counted(uint64(len(all)), "host", "hosts"),
		strings.Join(silent, ", "))
}

func answering(all []hostState) (n int) {
	for _, h := range all {
		if h.Connected {
			n++
		}
	}
	return n
}
