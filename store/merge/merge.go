package merge

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/internal/unit"
)

// Options configure how recordings are put together. The zero value finds all by
// itself.
type Options struct {
	Offsets map[string]time.Duration // a host's wall clock minus the reference's, for those who know it
	Clocks  map[string]Clock         // of hosts whose clocks were compared while the runs were made
	Label   string
	Note    string
}

// A Clock is where a host's recording lies on the clock of the reference.
type Clock struct {
	Shift time.Duration // from the reference's offset 0 to the host's
	Bound time.Duration // that Shift can be wrong by
	Note  string        // how that was found
}

// An Error is a set of recordings that makes no run, with what to do about it.
type Error struct {
	What, Help string
}

// Error returns what is wrong.
func (e *Error) Error() string { return e.What }

// Hint returns what to do.
func (e *Error) Hint() string { return e.Help }

// Merge makes one run of recordings of different hosts. The recordings are not
// changed. It fails with an [*Error] when they were not made at the same time,
// when two of them hold a load, or when an offset names no host.
//
// The merged run holds no diagnosis and no summary: those of the parts did not
// see the whole.
func Merge(recs []*kasoku.Recording, o Options) (*kasoku.Recording, error) {
	if len(recs) < 2 {
		return nil, &Error{"one recording is nothing to merge", "name the recordings of two or more hosts"}
	}
	recs, err := reference(recs)
	if err != nil {
		return nil, err
	}
	parts, err := named(recs)
	if err != nil {
		return nil, err
	}
	if err := place(parts, &o); err != nil {
		return nil, err
	}
	out := &kasoku.Recording{Run: parts[0].rec.Run}
	out.Run.Hosts, out.Run.Length = nil, 0
	back := base(parts)
	out.Run.Started = out.Run.Started.Add(-back)
	for _, p := range parts {
		kasoku.Contained(contain.Part{Kind: contain.Table, Name: "merged run: recording"}, &out.Warnings,
			func() { add(out, p, p.shift+back) })
	}
	kasoku.Contained(contain.Part{Kind: contain.Table, Name: "merged run: order"}, &out.Warnings,
		func() { finish(out, parts, o) })
	return out, nil
}

// A part is one recording on its way into the merged run.
type part struct {
	rec     *kasoku.Recording // a copy
	shift   time.Duration     // from its clock to the reference's
	warning *kasoku.Warning   // about its clock
}

// reference puts the recording whose clock is the merged run's first: the one that
// holds the load.
func reference(recs []*kasoku.Recording) ([]*kasoku.Recording, error) {
	out := slices.Clone(recs)
	at := -1
	for i, r := range out {
		if len(r.Steps) == 0 && len(r.Seconds) == 0 {
			continue
		}
		if at >= 0 {
			return nil, &Error{fmt.Sprintf("both %s and %s hold a load", title(out[at]), title(r)),
				"one of the recordings makes the load, the others watch"}
		}
		at = i
	}
	if at < 0 {
		at = max(0, slices.IndexFunc(out, func(r *kasoku.Recording) bool { return r.Run.Command != nil }))
	}
	out[0], out[at] = out[at], out[0]
	return out, nil
}

// named copies the recordings and distinguishes hosts of one name by the labels of
// their runs.
func named(recs []*kasoku.Recording) ([]*part, error) {
	seen := map[string]*kasoku.Recording{}
	var out []*part
	for _, r := range recs {
		p := &part{rec: moved(r, 0)}
		p.rec.Run.Hosts = slices.Clone(r.Run.Hosts)
		for _, h := range r.Run.Hosts {
			other, taken := seen[h.Name]
			if !taken {
				seen[h.Name] = r
				continue
			}
			if other.Run.Hosts[0].BootID == h.BootID && h.BootID != "" && other.Run.Label == r.Run.Label {
				return nil, &Error{fmt.Sprintf("%s and %s were recorded on the same host, %s", title(other), title(r), h.Name),
					"merge recordings of different hosts"}
			}
			name := h.Name + " (" + cmp.Or(r.Run.Label, r.Run.ID) + ")"
			if seen[name] != nil {
				return nil, &Error{fmt.Sprintf("two recordings are of host %s", name), "record with different --label"}
			}
			seen[name] = r
			if other.Run.Hosts[0].BootID == h.BootID && h.BootID != "" {
				p.warn("same-machine", fmt.Sprintf("%s and %s were recorded on one machine: what they both counted stands twice", title(other), title(r)))
			}
			p.detach()
			renamed(p.rec, h.Name, name)
		}
		out = append(out, p)
	}
	return out, nil
}

// detach makes the lists that renaming changes the copy's own.
func (p *part) detach() {
	r := p.rec
	r.Changes, r.Settings, r.Configs = slices.Clone(r.Changes), slices.Clone(r.Settings), slices.Clone(r.Configs)
	r.Logs, r.Saves, r.RowChecks = slices.Clone(r.Logs), slices.Clone(r.Saves), slices.Clone(r.RowChecks)
	r.Transactions, r.Plans, r.Tables, r.Advice = slices.Clone(r.Transactions), slices.Clone(r.Plans),
		slices.Clone(r.Tables), slices.Clone(r.Advice)
	r.Callers = slices.Clone(r.Callers)
}

// place finds each part's shift to the reference's clock.
func place(parts []*part, o *Options) error {
	ref := parts[0].rec
	unused := map[string]bool{}
	for name := range o.Offsets {
		unused[name] = true
	}
	for _, p := range parts[1:] {
		var offset, off time.Duration
		var note string
		if given, ok := o.Offsets[hostName(p.rec)]; ok {
			offset, note = given, "given"
			delete(unused, hostName(p.rec))
		} else if c, ok := o.Clocks[hostName(p.rec)]; ok {
			offset, off, note = p.rec.Run.Started.Sub(ref.Run.Started)-c.Shift, c.Bound, c.Note
		} else {
			p.contained("clock", func() { offset, off, note, p.warning = offsetOf(ref, p.rec) })
		}
		p.shift = p.rec.Run.Started.Sub(ref.Run.Started) - offset
		for i := range p.rec.Run.Hosts {
			h := &p.rec.Run.Hosts[i]
			h.ClockOffset, h.ClockError, h.ClockNote = h.ClockOffset+offset, off, note
		}
		if from, to := max(0, p.shift), min(ref.Run.Length, p.shift+p.rec.Run.Length); to-from < min(ref.Run.Length,
			p.rec.Run.Length)/2 {
			if _, compared := o.Clocks[hostName(p.rec)]; to <= from && !compared {
				return &Error{fmt.Sprintf("%s and %s were not recorded at the same time", title(ref), title(p.rec)),
					fmt.Sprintf("they began %s apart; `--offset %s=DURATION` corrects a wrong clock",
						unit.Elapsed(p.shift.Abs().Round(time.Second)), unit.ShellQuote(hostName(p.rec)))}
			}
			p.warn("little-overlap", fmt.Sprintf("host %s shares only %s with the reference", hostName(p.rec),
				unit.Elapsed((to-from).Round(time.Second))))
		}
	}
	for name := range unused {
		return &Error{fmt.Sprintf("no recording is of host %q", name), "their hosts are " + strings.Join(hosts(parts), ", ")}
	}
	return nil
}

// contained looks at one thing of a part. A panic is a warning of it.
func (p *part) contained(what string, look func()) {
	warnings := slices.Clone(p.rec.Warnings)
	kasoku.Contained(contain.Part{Kind: contain.Table, Name: "merged run: " + what}, &warnings, look)
	p.rec.Warnings = warnings
}

func (p *part) warn(code, text string) {
	p.rec.Warnings = append(slices.Clone(p.rec.Warnings), kasoku.Warning{Code: code, Text: text})
}

// base is how much earlier than the reference the merged run begins: whole
// seconds, so that the seconds of the load stay whole.
func base(parts []*part) time.Duration {
	var first time.Duration
	for _, p := range parts {
		first = min(first, p.shift)
	}
	return time.Duration(math.Ceil(-first.Seconds())) * time.Second
}

// add puts a part into the merged run, its times moved by shift.
func add(out *kasoku.Recording, p *part, shift time.Duration) {
	r := moved(p.rec, shift)
	run := &out.Run
	run.Hosts = append(run.Hosts, r.Run.Hosts...)
	run.Length = max(run.Length, r.Run.Length+shift)
	if r.Run.State != kasoku.Finished {
		run.State = kasoku.Incomplete
		run.StopReason = cmp.Or(run.StopReason, "recording of "+hostName(r)+": "+cmp.Or(r.Run.StopReason, "incomplete"))
	}
	if run.Score == nil {
		run.Score = r.Run.Score
	}
	if run.Command == nil {
		run.Command = r.Run.Command
	}
	if out.Load == nil {
		out.Load = r.Load
	}
	if len(out.Phases) == 0 {
		out.Phases = r.Phases
	}
	out.Steps = append(out.Steps, r.Steps...)
	out.Seconds = append(out.Seconds, r.Seconds...)
	out.Series = append(out.Series, r.Series...)
	out.Gaps = append(out.Gaps, r.Gaps...)
	out.Events = append(out.Events, r.Events...)
	out.Changes = append(out.Changes, r.Changes...)
	out.Settings = append(out.Settings, r.Settings...)
	out.Configs = append(out.Configs, r.Configs...)
	out.Logs = append(out.Logs, r.Logs...)
	out.Endpoints = append(out.Endpoints, r.Endpoints...)
	out.Queries = append(out.Queries, r.Queries...)
	out.Saves = append(out.Saves, r.Saves...)
	out.Messages = append(out.Messages, r.Messages...)
	out.Slowest = append(out.Slowest, r.Slowest...)
	out.Transactions = append(out.Transactions, r.Transactions...)
	out.Plans = append(out.Plans, r.Plans...)
	out.Tables = append(out.Tables, r.Tables...)
	out.Advice = append(out.Advice, r.Advice...)
	out.Callers = append(out.Callers, r.Callers...)
	out.Joins = append(out.Joins, r.Joins...)
	out.LockWaits = append(out.LockWaits, r.LockWaits...)
	out.Deadlocks = append(out.Deadlocks, r.Deadlocks...)
	out.Profiles = append(out.Profiles, r.Profiles...)
	out.Traces = append(out.Traces, r.Traces...)
	out.Service = joinServices(out.Service, r.Service)
	out.RowChecks = append(out.RowChecks, r.RowChecks...)
	for _, w := range r.Warnings {
		w.Host, w.Text = hostName(r), hostName(r)+": "+w.Text
		out.Warnings = append(out.Warnings, w)
	}
	if p.warning != nil {
		w := *p.warning
		w.Host = hostName(r)
		out.Warnings = append(out.Warnings, w)
	}
	for _, d := range r.Damage {
		out.Warnings = append(out.Warnings, kasoku.Warning{Code: "damage", Text: hostName(r) + ": " + d})
	}
}

// finish sorts what is reported in order and names the run.
func finish(out *kasoku.Recording, parts []*part, o Options) {
	run := &out.Run
	connect(out.Service)
	run.Label, run.Note = cmp.Or(o.Label, run.Label), cmp.Or(o.Note, run.Note)
	run.ID, run.Group, run.Repeat = "", "", 0
	slices.SortStableFunc(out.Events, func(a, b kasoku.Event) int { return cmp.Compare(a.At, b.At) })
	slices.SortStableFunc(out.Series, func(a, b kasoku.Series) int {
		return cmp.Or(strings.Compare(a.Key.Host, b.Key.Host), strings.Compare(a.Key.Source, b.Key.Source),
			strings.Compare(a.Key.Name, b.Key.Name), strings.Compare(a.Key.Instance, b.Key.Instance))
	})
	slices.SortStableFunc(out.Slowest, func(a, b kasoku.SlowRequest) int { return cmp.Compare(b.Latency, a.Latency) })
	run.Price = kasoku.Price{}
	for _, p := range parts {
		run.Price.PerHour += p.rec.Run.Price.PerHour
		run.Price.Currency = cmp.Or(run.Price.Currency, p.rec.Run.Price.Currency)
	}
	run.Hosts[0].ClockError, run.Hosts[0].ClockNote = 0, "the run's clock"
}

func hosts(parts []*part) []string {
	var out []string
	for _, p := range parts {
		out = append(out, hostName(p.rec))
	}
	return out
}

func title(r *kasoku.Recording) string { return cmp.Or(r.Run.Label, r.Run.ID) }
