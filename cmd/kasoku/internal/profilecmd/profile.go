package profilecmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/profile"
	"github.com/kasoku/kasoku/record"
	"github.com/kasoku/kasoku/record/outside"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/encode"
	"github.com/kasoku/kasoku/report/profiles"
	"github.com/kasoku/kasoku/report/terminal"
	"github.com/kasoku/kasoku/topology/find"
	"github.com/kasoku/kasoku/trace/stacks"
)

// formats are the values of -o.
var formats = []string{"text", "json", "tsv", "md", "pprof", "collapsed"}

// The bounds of --for.
const (
	leastFor = 100 * time.Millisecond
	mostFor  = 10 * time.Minute
)

// profileFlags are those of kasoku profile.
type profileFlags struct {
	cli.Output
	length  time.Duration
	waiting bool
	cpu     bool
}

// NewProfile returns the command profile.
func NewProfile(e *cli.Env) *cobra.Command {
	f := profileFlags{}
	cmd := &cobra.Command{
		Use:   "profile PID|MEMBER...",
		Short: "Take a profile of processes from outside, in any language: CPU time and waits",
		Long: `Take a profile of processes without a change to them, in any language: the kernel
samples where their CPU time goes, 99 times a second, and adds up what their threads
wait for, with the reason: the other end of a socket, a lock, a disk, a timer. Of
programs of Go, goroutines are seen: locks, channels, pools of connections, queries.

A MEMBER of the service that runs here is named by its role or program, as
` + "`kasoku doctor`" + ` lists it: application, database, "web server", nginx. Processes that
they start meanwhile count too. Ctrl-C ends it early with what it has.

Functions have names in Go (stripped programs too), in programs and libraries with
symbols, in the kernel, and of JIT compilers that write a perf map: node
--perf-basic-prof, python -X perf, ruby --yjit-perf. Stacks are walked along frame
pointers: of C that was built without, the function is right, and those that called
it may be missing.

It takes root, or CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH, and a
kernel of 5.15 or newer. Nothing stays in the kernel, however kasoku ends.`,
		Example: `  kasoku profile application --for 10s
  kasoku profile 812 --waiting
  kasoku profile mariadbd -o pprof > cpu.pb.gz && go tool pprof -http=: cpu.pb.gz
  kasoku profile 812 --waiting -o collapsed > waits.folded
  kasoku profile nginx application --html profile.html`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), e, args) },
	}
	fl := cmd.Flags()
	cli.RegisterFormats(cmd, &f.Format, formats)
	fl.StringVar(&f.HTML, "html", "", "also write the report, with flame graphs, as one HTML file to `FILE`")
	fl.DurationVar(&f.length, "for", 10*time.Second, "how long")
	fl.BoolVar(&f.waiting, "waiting", false, "waits alone")
	fl.BoolVar(&f.cpu, "cpu", false, "CPU time alone")
	return cmd
}

func (f *profileFlags) check(e *cli.Env) error {
	switch {
	case !slices.Contains(formats, f.Format):
		return cli.Usagef("", "-o %q: want %s", f.Format, strings.Join(formats, ", "))
	case f.length < leastFor || f.length > mostFor:
		return cli.Usagef("", "--for %s: want %s to %s", f.length, leastFor, mostFor)
	case f.waiting && f.cpu:
		return cli.Usagef("", "--waiting and --cpu: give one")
	case f.Format == "pprof" && e.StdoutTTY:
		return cli.Usagef("write it into a file: > profile.pb.gz; then `go tool pprof -http=: profile.pb.gz`", "a profile is not for a terminal")
	}
	return nil
}

// single reports whether the format holds one profile alone: CPU time, unless waits are asked
// for.
func (f *profileFlags) single() bool { return f.Format == "pprof" || f.Format == "collapsed" }

func (f *profileFlags) run(parent context.Context, e *cli.Env, args []string) error {
	if err := f.check(e); err != nil {
		return err
	}
	groups, err := groupsOf(parent, args)
	if err != nil {
		return err
	}
	if f.single() && len(groups) > 1 {
		return cli.Usagef("name one", "-o %s holds the profile of one program, and these are %d", f.Format, len(groups))
	}
	ctx, _, stop := cli.Interruptible(parent)
	defer stop()
	o := stacks.Options{For: f.length, CPU: !f.waiting, Waits: f.waiting || !f.cpu && !f.single()}
	for _, g := range groups {
		o.PIDs = append(o.PIDs, g.PIDs...)
	}
	p, err := stacks.Take(ctx, o)
	if err != nil {
		return err
	}
	host, _ := os.Hostname() // without it the host has no name
	made, warnings := outside.Profiles(p, groups, host, 0)
	for _, n := range p.Notes {
		warnings = append(warnings, kasoku.Warning{Code: "profile", Text: n})
	}
	return f.print(e, p, made, warnings)
}

func (f *profileFlags) print(e *cli.Env, p *stacks.Profile, made []kasoku.Profile, warnings []kasoku.Warning) error {
	switch {
	case f.single() && len(made) == 0:
		e.Warn(warnings)
		return errors.New("nothing was sampled: the process did not run, or has ended")
	case f.Format == "pprof":
		e.Warn(warnings)
		if len(made[0].Data) == 0 {
			return errors.New(made[0].Note)
		}
		_, err := terminal.Raw(e.Stdout).Write(made[0].Data)
		return err
	case f.Format == "collapsed":
		e.Warn(warnings)
		return profile.WriteFolded(e.Stdout, &made[0])
	}
	return f.Print(e, cli.Printer{Doc: document(p, made, warnings), JSON: func(w io.Writer) error {
		return encode.ProfilesJSON(w, encode.TakenProfiles{Began: p.Began, Length: p.Length, Profiles: made, Queues: queues(p), Warnings: warnings})
	}})
}

// groupsOf returns the processes that the arguments name: by number, or as members of the
// service.
func groupsOf(ctx context.Context, args []string) (out []outside.Group, err error) {
	var service *kasoku.Service
	for _, arg := range args {
		if pid, err := strconv.Atoi(arg); err == nil {
			name, err := os.ReadFile("/proc/" + arg + "/comm")
			if pid <= 0 || errors.Is(err, fs.ErrNotExist) {
				return nil, cli.Usagef("", "no process %s", arg)
			}
			out = append(out, outside.Group{Name: cmp.Or(cli.PlainLine(strings.TrimSpace(string(name))), arg), PIDs: []int{pid}})
			continue
		}
		if service == nil {
			if service, err = theService(ctx); err != nil {
				return nil, err
			}
		}
		found := membersBy(service, arg)
		if len(found) == 0 {
			return nil, cli.Usagef(membersHint(service), "no member %q", arg)
		}
		for _, g := range found {
			if !slices.ContainsFunc(out, func(o outside.Group) bool { return slices.Equal(o.PIDs, g.PIDs) }) {
				out = append(out, g)
			}
		}
	}
	return out, nil
}

// theService returns the service of the kasoku.toml here, without one the only one that runs
// on this host.
func theService(ctx context.Context) (*kasoku.Service, error) {
	c, err := cli.ReadConfig("")
	if err != nil {
		return nil, err
	}
	if c != nil {
		if s, err := record.ServiceNow(ctx, c); err != nil || s.Known() {
			return &s, err
		}
	}
	all, err := find.Services(ctx)
	switch {
	case err != nil:
		return nil, fmt.Errorf("look for the service: %w", err)
	case len(all) == 0:
		return nil, cli.Usagef("name a process by its number; `kasoku doctor` shows what is seen", "no service runs here")
	case len(all) > 1:
		return nil, cli.Usagef("`kasoku init` writes which one is measured into kasoku.toml; or name a process by its number", "%d services run here", len(all))
	}
	return &all[0].Service, nil
}

// membersBy returns the members that a word names: their role, program or id.
func membersBy(s *kasoku.Service, word string) []outside.Group {
	var some kasoku.Service
	for i := range s.Members {
		m := &s.Members[i]
		for _, name := range []string{string(m.Role), m.Program, m.ID, m.Unit, m.Framework} {
			if name != "" && strings.EqualFold(name, word) {
				some.Members = append(some.Members, *m)
				break
			}
		}
	}
	return outside.Members(&some)
}

func membersHint(s *kasoku.Service) string {
	var words []string
	for i := range s.Members {
		m := &s.Members[i]
		words = append(words, string(m.Role)+" "+m.Program)
	}
	if len(words) == 0 {
		return "name a process by its number"
	}
	return "the service has " + strings.Join(words, ", ")
}

func document(p *stacks.Profile, made []kasoku.Profile, warnings []kasoku.Warning) *report.Document {
	d := &report.Document{Kind: report.KindProfile, Title: "kasoku profile", Verdict: verdict(p, made),
		Head: []string{"kasoku profile", unit.Fixed(p.Length.Seconds(), 1) + " s", fmt.Sprintf("%d processes", len(p.Processes))}}
	if blocks := profiles.Tables(made); len(blocks) > 0 {
		d.Sections = append(d.Sections, report.Section{ID: profiles.SectionProfiles, Title: "Profiles", Count: len(made), Blocks: blocks,
			Sub: "**Flat** is in the function itself, **cum** with all that it calls; of waits, flat is in the function that waits."})
	}
	notes := &report.Notes{}
	for _, w := range warnings {
		notes.List = append(notes.List, report.Note{Sign: "·", Tone: report.Dim, Label: w.Code, Text: report.Sentence(w.Text) + "."})
	}
	if len(notes.List) > 0 {
		d.Sections = append(d.Sections, report.Section{ID: "limits", Title: "Limits", Count: len(notes.List), Blocks: []report.Block{notes}})
	}
	return d
}

// verdict says in a sentence what was seen.
func verdict(p *stacks.Profile, made []kasoku.Profile) string {
	var words []string
	for i := range made {
		m := &made[i]
		seconds := time.Duration(m.Total).Seconds()
		switch m.Kind {
		case kasoku.ProfileCPU:
			words = append(words, fmt.Sprintf("%s used %s cores", m.Program, unit.Sig3(seconds/p.Length.Seconds())))
		case kasoku.ProfileWaiting:
			if list := profile.Reasons(m); len(list) > 0 {
				words = append(words, fmt.Sprintf("%s waited most for %s (%s)", m.Program, list[0].Name, unit.Percent(m.Share(list[0].Cum))))
			}
		}
	}
	var queued time.Duration
	for _, q := range p.Queues {
		queued += q.Time
	}
	if share := queued.Seconds() / p.Length.Seconds(); share >= 0.01 {
		words = append(words, unit.Sig3(share)+" threads were ready on average and had no CPU")
	}
	if len(words) == 0 {
		return "Nothing was sampled: the processes did not run."
	}
	return strings.Join(words, "; ") + "."
}

// queues returns how long threads of each process were ready and had no CPU.
func queues(p *stacks.Profile) (out []encode.RunQueue) {
	for i := range p.Processes {
		x := &p.Processes[i]
		if q, ok := p.Queues[x.PID]; ok {
			out = append(out, encode.RunQueue{PID: x.PID, Name: x.Name, Queued: q.Time.Seconds(), Times: q.Times, Forced: q.Forced, Routines: q.Routines.Seconds()})
		}
	}
	return out
}
