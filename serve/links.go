package serve

import (
	"html/template"
	"strconv"
	"time"

	"github.com/kasoku/kasoku"
)

// links lead from a run to pages about the same time. Seconds that are selected are filled in by the page.
func (s *Server) links(rec *kasoku.Recording, length time.Duration) template.HTML {
	if len(s.Links) == 0 {
		return ""
	}
	words := map[string]string{"label": rec.Run.Label, "id": rec.Run.ID, "host": ""}
	if len(rec.Run.Hosts) > 0 {
		words["host"] = rec.Run.Hosts[0].Name
	}
	type link struct{ Name, Template, Address string }
	var all []link
	for _, l := range s.Links {
		all = append(all, link{Name: l.Name, Template: l.At(words)})
	}
	from, to := rec.Run.Started, rec.Run.Started.Add((length + time.Second - 1).Truncate(time.Second))
	words["from_ms"], words["to_ms"] = strconv.FormatInt(from.UnixMilli(), 10), strconv.FormatInt(to.UnixMilli(), 10)
	words["from_s"], words["to_s"] = strconv.FormatInt(from.Unix(), 10), strconv.FormatInt(to.Unix(), 10)
	for i, l := range s.Links {
		all[i].Address = l.At(words)
	}
	return panel("links", struct {
		Start int64
		Links []link
	}{from.UnixMilli(), all})
}
