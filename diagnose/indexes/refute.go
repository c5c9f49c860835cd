package indexes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
)

// refute takes out what a private server refuted: classes of statements that an index does
// not serve, and indexes that serve none. What was not asked stays.
func (w *work) refute() {
	w.advice.Proposals = slices.DeleteFunc(w.advice.Proposals, func(p Proposal) bool {
		k := w.checkOf(&p)
		if k == nil || k.Note != "" || helped(k) > 0 {
			return false
		}
		w.advice.Refused = append(w.advice.Refused, Refused{p.Table, columnsText(p.Columns),
			fmt.Sprintf("%s does not use it, or reads as many rows with it: asked with a copy of %d rows", k.Server, k.Rows)})
		return true
	})
	for i := range w.advice.Proposals {
		p := &w.advice.Proposals[i]
		p.Check = w.checkOf(p)
		if p.Check == nil || p.Check.Note != "" {
			continue
		}
		p.Serves = slices.DeleteFunc(p.Serves, func(s Served) bool {
			k := p.Check.Class(s.QueryID)
			if k == nil || k.Note != "" || k.Helps {
				return false
			}
			p.Saved -= s.Saved
			return true
		})
		p.Saved = max(0, p.Saved)
	}
}

func (w *work) checkOf(p *Proposal) *kasoku.IndexCheck {
	for _, t := range w.tables {
		if t.def.Host != p.Host || t.def.Schema != p.Schema || t.def.Name != p.Table {
			continue
		}
		for i := range t.def.Checks {
			if t.def.Checks[i].DDL == p.DDL {
				return &t.def.Checks[i]
			}
		}
	}
	return nil
}

func helped(k *kasoku.IndexCheck) (n int) {
	for _, c := range k.Classes {
		if c.Helps {
			n++
		}
	}
	return n
}

func columnsText(parts []Part) string {
	var list []string
	for _, p := range parts {
		list = append(list, p.String())
	}
	return strings.Join(list, ", ")
}
