package settings

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/contain"
)

// A Result is what all checks said.
type Result struct {
	Server  string          // MariaDB 10.11.19
	Advice  []kasoku.Advice // worst first
	Unseen  []Unseen
	Quiet   []Quiet
	Persist bool // the server has SET PERSIST
}

// An Unseen is a check that could not look.
type Unseen struct {
	ID    string
	Title string // what it would have checked
	Why   string
	Grant string // what would show it, to be pasted; may be empty
}

// A Quiet is a check that found nothing to do.
type Quiet struct {
	ID        string
	Title     string
	Formula   string
	Measured  string // or why there is nothing to look at on this server
	Threshold string
}

// Examine runs all checks.
func Examine(in Input) Result {
	s := newState(in)
	r := Result{Persist: s.mysqlFrom(8, 0, 0)}
	if in.Variables["version"] != "" {
		v := s.version
		r.Server = strings.TrimSpace(string(s.flavor) + " " + number3(v.Major, v.Minor, v.Patch))
	}
	var all []ranked
	for _, c := range checks() {
		var l *look
		if bug := contain.Run(contain.Part{Kind: contain.Rule, Name: c.id}, func() { l = c.look(s) }); bug != nil {
			r.Unseen = append(r.Unseen, Unseen{ID: c.id, Title: c.title, Why: bug.Error()})
			continue
		}
		switch {
		case l.blind != nil:
			r.Unseen = append(r.Unseen, *l.blind)
		case len(l.advice) > 0:
			all = append(all, l.advice...)
		default:
			r.Quiet = append(r.Quiet, *l.quiet)
		}
	}
	slices.SortStableFunc(all, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.weight, b.weight), cmp.Compare(orderKey(a.ID), orderKey(b.ID)))
	})
	for _, a := range all {
		r.Advice = append(r.Advice, a.Advice)
	}
	slices.SortStableFunc(r.Unseen, func(a, b Unseen) int { return cmp.Compare(orderKey(a.ID), orderKey(b.ID)) })
	slices.SortStableFunc(r.Quiet, func(a, b Quiet) int { return cmp.Compare(orderKey(a.ID), orderKey(b.ID)) })
	return r
}

// orderKey sorts ids as people count: the checks, then the settings of durability.
func orderKey(id string) string {
	if strings.HasPrefix(id, "MYS") {
		return "0" + id
	}
	return "1" + id
}
