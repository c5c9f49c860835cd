package serve

import (
	"html/template"
	"net/url"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/findings"
	"github.com/kasoku/kasoku/store"
)

// before returns the last run of the same project that ended before this one began, with its diagnosis; nil without.
func (s *Server) before(rec *kasoku.Recording) (*kasoku.Recording, string) {
	infos, err := s.runs.list()
	if err != nil {
		return nil, ""
	}
	var last *store.Info
	for i := range infos {
		x := &infos[i]
		if x.Err == nil && x.Project == rec.Run.Project && x.State == kasoku.Finished && x.ID != rec.Run.ID &&
			!x.Started.Add(x.Length).After(rec.Run.Started) && (last == nil || x.Started.After(last.Started)) {
			last = x
		}
	}
	if last == nil {
		return nil, ""
	}
	name := NameOf(last.Path)
	old, _, err := s.runs.run(name)
	if err != nil || old.Diagnosis == nil {
		return nil, ""
	}
	return old, name
}

// A sinceLine is a finding that another run had.
type sinceLine struct{ ID, Title, Why string }

// since says what became of the findings of the run before: in the document's findings, and in a panel.
func (s *Server) since(rec *kasoku.Recording, path string, d *report.Document) template.HTML {
	if rec.Diagnosis == nil || rec.Run.State == kasoku.Running {
		return ""
	}
	old, name := s.before(rec)
	if old == nil {
		return ""
	}
	said := map[string]string{}
	var view struct {
		Name, Compare string
		Gone, Unseen  []sinceLine
		Left, New     int
	}
	view.Name = name
	view.Compare = "/compare?" + url.Values{"a": {name}, "b": {NameOf(path)}}.Encode()
	for _, c := range compare.Findings(old.Diagnosis, rec.Diagnosis) {
		switch c.State {
		case compare.Gone:
			view.Gone = append(view.Gone, sinceLine{c.ID, c.Title, ""})
		case compare.Unseen:
			view.Unseen = append(view.Unseen, sinceLine{c.ID, c.Title, c.Why})
		case compare.Left:
			view.Left++
			said[findings.Key(c.After)] = "still there"
		case compare.New:
			view.New++
			said[findings.Key(c.After)] = "new"
		}
	}
	for i := range d.Sections {
		for _, b := range d.Sections[i].Blocks {
			if f, ok := b.(*report.Findings); ok {
				for k := range f.List {
					f.List[k].Said = said[f.List[k].Key]
				}
			}
		}
	}
	return panel("since", view)
}
