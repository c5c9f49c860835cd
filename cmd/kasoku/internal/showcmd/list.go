package showcmd

import (
	"cmp"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report/encode"
	"github.com/kasoku/kasoku/report/runlist"
	"github.com/kasoku/kasoku/store"
	"github.com/spf13/cobra"
)

// listFlags are the flags of list.
type listFlags struct {
	out     cli.Output
	project string
	label   string
	limit   int
	reverse bool
}

// NewList returns the command list, which lists the runs of a directory.
func NewList(e *cli.Env) *cobra.Command {
	var f listFlags
	cmd := &cobra.Command{
		Use:   "list [DIRECTORY]",
		Short: "List the runs: the story of the tuning",
		Long: `List the runs as the story of the tuning: score or throughput, what was changed,
how each run did against the one before and against the best so far, and what
held it up. Runs that repeat one another are one line, with their median.

It reads from the top, the newest last.`,
		Example: "  kasoku list\n  kasoku list -n 10 --project shop\n  kasoku list -o md > tuning.md\n  kasoku list --html tuning.html",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := f.out.Check(); err != nil {
				return err
			}
			if f.limit < 0 {
				return cli.Usagef("", "-n %d: want 0 or more", f.limit)
			}
			all, err := f.runs(args)
			if err != nil {
				return err
			}
			o := runlist.ListOptions{Options: e.ReportOptions(""), Limit: f.limit, Reverse: f.reverse}
			if f.out.Format == "md" || f.out.HTML != "" { // they describe each step in words
				o.Changes = changesBetween()
			}
			return f.out.Print(e, cli.Printer{
				Doc:  runlist.List(all, o),
				JSON: func(w io.Writer) error { return listJSON(w, runlist.ListSteps(all, o)) },
			})
		},
	}
	fl := cmd.Flags()
	f.out.Register(cmd)
	fl.StringVar(&f.project, "project", "", "only runs of the project `NAME`")
	fl.StringVar(&f.label, "label", "", "only runs with the label `NAME`")
	fl.IntVarP(&f.limit, "limit", "n", 0, "only the newest `N` lines")
	fl.BoolVar(&f.reverse, "reverse", false, "the newest first")
	return cmd
}

// runs reads what is to be listed.
func (f *listFlags) runs(args []string) ([]store.Info, error) {
	dirs := cli.RunDirs(f.out.Dir)
	if len(args) == 1 {
		dirs = args
	}
	if err := cli.CheckDir(cmp.Or(slices.Concat(args, []string{f.out.Dir})...)); err != nil {
		return nil, err
	}
	var out, all []store.Info
	for _, dir := range dirs {
		infos, err := store.List(dir)
		if err != nil {
			return nil, err
		}
		all = append(all, infos...)
		for _, i := range infos {
			if (f.project == "" || i.Project == f.project) && (f.label == "" || i.Label == f.label) {
				out = append(out, i)
			}
		}
	}
	if len(out) == 0 {
		return nil, f.unmatched(all)
	}
	return out, nil
}

// unmatched refuses a project or a label that no run has, and says which there are.
func (f *listFlags) unmatched(all []store.Info) error {
	for _, x := range []struct {
		flag, name string
		of         func(store.Info) string
	}{
		{"project", f.project, func(i store.Info) string { return i.Project }},
		{"label", f.label, func(i store.Info) string { return i.Label }},
	} {
		var names []string
		for _, i := range all {
			if n := x.of(i); n != "" && i.Err == nil {
				names = append(names, strconv.Quote(n))
			}
		}
		slices.Sort(names)
		names = slices.Compact(names)
		if x.name == "" || slices.Contains(names, strconv.Quote(x.name)) {
			continue
		}
		hint := "no run has a " + x.flag
		if len(names) > 0 {
			near := unit.Nearby(strconv.Quote(x.name), names, mostNames)
			if len(near) == 0 {
				near = names[:min(mostNames, len(names))]
			}
			hint = "there is " + strings.Join(near, ", ")
		}
		return cli.Usagef(hint, "--%s %q: no run has it", x.flag, x.name)
	}
	if f.project != "" && f.label != "" {
		return cli.Usagef("", "no run of the project %q has the label %q", f.project, f.label)
	}
	return nil
}

// mostNames bounds the names that a hint lists.
const mostNames = 5

// changesBetween reads what was changed between runs from their files, each once. A
// file that cannot be read is listed as such already.
func changesBetween() func(before, after store.Info) []compare.Changed {
	read := map[string]*kasoku.Recording{}
	conditions := func(path string) *kasoku.Recording {
		rec, ok := read[path]
		if !ok {
			rec, _ = store.Conditions(path)
			read[path] = rec
		}
		return rec
	}
	return func(before, after store.Info) []compare.Changed {
		b, a := conditions(before.Path), conditions(after.Path)
		if b == nil || a == nil {
			return nil
		}
		return compare.Changes(b, a)
	}
}

// listedRuns is the JSON of list.
type listedRuns struct {
	Schema int      `json:"schema"`
	Kind   string   `json:"kind"`
	Runs   []listed `json:"runs"`
}

// listed is one run in the JSON of list; docs/json.md has the fields.
type listed struct {
	Path          string         `json:"path"`
	ID            string         `json:"id"`
	Project       string         `json:"project"`
	Label         string         `json:"label"`
	Note          string         `json:"note"`
	State         string         `json:"state"`
	StopReason    string         `json:"stop_reason,omitempty"`
	Started       time.Time      `json:"started"`
	LengthSeconds float64        `json:"length_s"`
	Load          string         `json:"load"`
	Verdict       string         `json:"verdict"`
	SizeBytes     int64          `json:"size_bytes"`
	Error         string         `json:"error,omitempty"`
	Revision      string         `json:"revision"`
	Dirty         bool           `json:"dirty"`
	Group         string         `json:"group,omitempty"`
	Repeat        int            `json:"repeat,omitempty"`
	Base          string         `json:"base,omitempty"`
	Observers     string         `json:"observers"`
	PricePerHour  float64        `json:"price_per_hour,omitempty"`
	Currency      string         `json:"currency,omitempty"`
	Score         *listedScore   `json:"score,omitempty"`
	Summary       *listedSummary `json:"summary,omitempty"`

	Step        int    `json:"step"`
	StepVerdict string `json:"step_verdict"`
	AgainstBest string `json:"against_best,omitempty"`
}

type listedScore struct {
	Value   *float64 `json:"value"`
	Outcome string   `json:"outcome"`
	Source  string   `json:"source"`

	Requests uint64 `json:"requests,omitempty"`
	Failures uint64 `json:"failures,omitempty"`
}

type listedSummary struct {
	Source      string   `json:"source"`
	Requests    uint64   `json:"requests"`
	Succeeded   uint64   `json:"succeeded"`
	PerSec      *float64 `json:"per_s"`
	AskedPerSec *float64 `json:"asked_per_s"`
	P50         *float64 `json:"p50_s"`
	P99         *float64 `json:"p99_s"`
	CPU         *float64 `json:"cpu_s"`
	LoadTime    *float64 `json:"load_s"`
	Bottleneck  string   `json:"bottleneck"`
}

func listJSON(w io.Writer, steps []runlist.ListStep) error {
	out := listedRuns{Schema: 1, Kind: "list", Runs: []listed{}}
	for _, s := range steps {
		for _, i := range s.Runs {
			out.Runs = append(out.Runs, listedOf(i, s))
		}
	}
	return encode.JSON(w, out)
}

func listedOf(i store.Info, s runlist.ListStep) listed {
	l := listed{
		Path: i.Path, ID: i.ID, Project: i.Project, Label: i.Label, Note: i.Note, State: string(i.State), StopReason: i.StopReason,
		Started: i.Started, LengthSeconds: i.Length.Seconds(), Load: i.Load, Verdict: i.Verdict, SizeBytes: i.SizeBytes,
		Revision: i.Revision, Dirty: i.Dirty, Group: i.Group, Repeat: i.Repeat, Base: i.Base, Observers: i.Observers,
		PricePerHour: i.Price.PerHour, Currency: i.Price.Currency, Summary: summaryOf(i.Summary),
		Step: s.Number, StepVerdict: s.Verdict, AgainstBest: s.AgainstBest,
	}
	if i.Err != nil {
		l.Error = i.Err.Error()
	}
	if i.Score != nil {
		l.Score = &listedScore{numberOrNil(i.Score.Value), string(i.Score.Outcome), i.Score.Source, i.Score.Requests, i.Score.Failures}
	}
	return l
}

// numberOrNil is nil, and so null, for what JSON has no number for.
func numberOrNil(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// measuredOrNil is nil for what was not measured, which a summary keeps as 0.
func measuredOrNil(v float64) *float64 {
	if v == 0 {
		return nil
	}
	return numberOrNil(v)
}

func summaryOf(s *kasoku.Summary) *listedSummary {
	if s == nil {
		return nil
	}
	l := &listedSummary{
		Source: s.Source, Requests: s.Requests, Succeeded: s.Succeeded, AskedPerSec: measuredOrNil(s.Asked),
		P50: measuredOrNil(s.P50.Seconds()), P99: measuredOrNil(s.P99.Seconds()), CPU: measuredOrNil(s.CPU.Seconds()), LoadTime: measuredOrNil(s.LoadTime.Seconds()),
		Bottleneck: s.Bottleneck,
	}
	if s.Source != "" {
		l.PerSec = numberOrNil(s.PerSec)
	}
	return l
}
