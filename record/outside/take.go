package outside

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/profile"
	"github.com/kasoku/kasoku/record/mask"
	"github.com/kasoku/kasoku/trace/stacks"
)

// Options configure the profiles of a run's members.
type Options struct {
	Groups []Group
	CPU    []time.Duration // as package profile has it; the kernel takes them as one
	Over   <-chan struct{} // ends them early
	Host   string
	From   time.Duration // when they begin, on the run's clock
}

// Take has the kernel watch the members of a service. What it refuses is a warning.
func Take(ctx context.Context, o Options) (out profile.Taken) {
	fail := func(text, hint string) profile.Taken {
		return profile.Taken{Warnings: []kasoku.Warning{{Code: "profile", Text: "no profiles from outside: " + text, Hint: hint}}}
	}
	if len(o.Groups) == 0 {
		return fail("no process is known to be the service's", "")
	}
	watch := stacks.Options{CPU: true, Waits: true, Over: o.Over}
	for _, d := range o.CPU {
		watch.For += d
	}
	for _, g := range o.Groups {
		watch.PIDs = append(watch.PIDs, g.PIDs...)
	}
	taken, err := stacks.Take(ctx, watch)
	if err != nil {
		var r *stacks.Refusal
		if errors.As(err, &r) {
			return fail(err.Error(), r.Hint())
		}
		return fail(err.Error(), "")
	}
	out.Profiles, out.Warnings = Profiles(taken, o.Groups, o.Host, o.From)
	if len(out.Profiles) > 0 && len(taken.Notes) > 0 {
		out.Profiles[0].Note = mask.Text(strings.Join(taken.Notes, "; "))
	}
	return out
}

// WithoutTwice drops the CPU time from outside of programs that have reported it themselves.
func WithoutTwice(all []kasoku.Profile) []kasoku.Profile {
	own := map[string]bool{}
	for i := range all {
		if all[i].Kind == kasoku.ProfileCPU && !fromOutside(&all[i]) {
			own[all[i].Program] = true
		}
	}
	return slices.DeleteFunc(all, func(p kasoku.Profile) bool {
		return p.Kind == kasoku.ProfileCPU && fromOutside(&p) && own[p.Program]
	})
}

// fromOutside reports whether a profile was taken so.
func fromOutside(p *kasoku.Profile) bool { return strings.HasPrefix(p.Address, pidPrefix) }
