package record

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/profile"
	"github.com/kasoku/kasoku/record/mask"
	"github.com/kasoku/kasoku/record/outside"
	"github.com/kasoku/kasoku/trace/stacks"
)

// takeOutside has the kernel watch the members that are known by now, until cut is closed.
func (p *profiles) takeOutside(all context.Context, cut <-chan struct{}, parts []time.Duration) (out profile.Taken) {
	fail := func(text, hint string) profile.Taken {
		return profile.Taken{Warnings: []kasoku.Warning{{Code: "profile", Text: "no profiles from outside: " + text, Hint: hint}}}
	}
	groups := outside.Members(p.service.known())
	if len(groups) == 0 {
		return fail("no process is known to be the service's", "")
	}
	ctx, stop := context.WithCancel(all)
	defer stop()
	o := stacks.Options{CPU: true, Waits: true, Over: cut}
	for _, d := range parts {
		o.For += d
	}
	for _, g := range groups {
		o.PIDs = append(o.PIDs, g.PIDs...)
	}
	from := time.Since(p.start)
	taken, err := stacks.Take(ctx, o)
	if err != nil {
		var r *stacks.Refusal
		if errors.As(err, &r) {
			return fail(err.Error(), r.Hint())
		}
		return fail(err.Error(), "")
	}
	out.Profiles, out.Warnings = outside.Profiles(taken, groups, p.host(), from)
	if len(out.Profiles) > 0 && len(taken.Notes) > 0 {
		out.Profiles[0].Note = mask.Text(strings.Join(taken.Notes, "; "))
	}
	return out
}

// withoutTwice drops the CPU time from outside of programs that have reported it themselves.
func withoutTwice(all []kasoku.Profile) []kasoku.Profile {
	own := map[string]bool{}
	for i := range all {
		if all[i].Kind == kasoku.ProfileCPU && !outside.Taken(&all[i]) {
			own[all[i].Program] = true
		}
	}
	return slices.DeleteFunc(all, func(p kasoku.Profile) bool {
		return p.Kind == kasoku.ProfileCPU && outside.Taken(&p) && own[p.Program]
	})
}
