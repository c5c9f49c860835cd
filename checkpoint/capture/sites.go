package capture

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/nginxconf"
	"github.com/kasoku/kasoku/topology/find"
)

// saidOfSites stands where a server block of another site was.
const saidOfSites = "kasoku: of another site, left out"

// WithoutOthersSites returns texts of configuration without what they have of other sites of the
// service's nginx: files of nothing else, those that only blocks of others include, and in other files
// server blocks that answer no load, by no name of those that do, with upstreams that only they pass
// requests to. Lines keep their numbers. Nothing is left out of what nginx has read where it is not
// known which blocks answer.
//
// Files that the user named are treated alike. Of those that are no file of an nginx that is known the
// blocks stay that answer the load, by its targets as find.Target writes them, or the only one.
func WithoutOthersSites(ctx context.Context, all []kasoku.Config, s *kasoku.Service, targets []string) []kasoku.Config {
	sites := make([]site, len(all))
	for i := range all {
		sites[i] = siteOf(&all[i], s)
	}
	settleNamed(ctx, all, sites, s, targets)
	names, ports, used := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for i := range sites {
		sites[i].answers(names, ports)
	}
	for i := range sites {
		sites[i].choose(names, ports)
		sites[i].passes(used)
	}
	others := othersFiles(sites)
	out := make([]kasoku.Config, 0, len(all))
	for i, c := range all {
		if !others[i] && sites[i].without(&c, used) {
			out = append(out, c)
		}
	}
	return out
}

// A site is a file of nginx, of which it may be known which server blocks answer.
type site struct {
	path  string // in the file system of its nginx
	conf  nginxconf.Config
	known bool         // it is one of the service's nginx, and which blocks answer is known
	named bool         // it was named by the user, and no nginx that is known has read it
	own   map[int]bool // lines of server blocks that answer
	leave map[int]bool // directives that are others' server blocks
}

// siteOf reads a file. A file that reads otherwise than when the service was looked at is as good as unknown.
func siteOf(c *kasoku.Config, s *kasoku.Service) (w site) {
	if c.Kind != KindNginx && c.Kind != KindFile || c.Text == "" {
		return w
	}
	path := strings.TrimPrefix(c.Name, "container:")
	conf, err := nginxconf.Parse(c.Text, path)
	if err != nil || nginxconf.IsDump(c.Text) {
		return w
	}
	w = site{path: path, conf: conf, own: map[int]bool{}, leave: map[int]bool{}}
	if c.Kind == KindFile { // without a server block it may be of any program
		w.named = slices.ContainsFunc(conf, func(d nginxconf.Directive) bool { return w.isServer(&d) })
	}
	for _, m := range s.Of(kasoku.RoleWeb) {
		if !slices.Contains(m.Configs, path) || m.Host != c.Host && m.Host != "" && c.Host != "" {
			continue
		}
		w.named = false
		if w.known = len(m.Blocks) > 0; !w.known {
			return w
		}
		for _, b := range m.Blocks {
			if b.File == path {
				w.own[b.Line] = true
				w.known = w.known && w.servesAt(b.Line)
			}
		}
		if !w.known {
			return w
		}
	}
	return w
}

// servesAt reports whether a server block stands in a line.
func (w *site) servesAt(line int) bool {
	return slices.ContainsFunc(w.conf, func(d nginxconf.Directive) bool { return d.Line == line && w.isServer(&d) })
}

// settleNamed decides which blocks answer in files that the user named and that no nginx has read as
// far as is known: those of a file that it has read with the same text; none, where its
// files are known; else those that answer the load's targets.
func settleNamed(ctx context.Context, all []kasoku.Config, sites []site, s *kasoku.Service, targets []string) {
	known := slices.ContainsFunc(s.Of(kasoku.RoleWeb), func(m *kasoku.Member) bool { return len(m.Blocks) > 0 })
	var open []*site
	var conf []nginxconf.Config
	servers := 0
	for i := range sites {
		w := &sites[i]
		if !w.named {
			continue
		}
		at := -1
		for k := range sites {
			if o := &sites[k]; o.known && all[k].Text == all[i].Text { // by another name too, as in sites-available
				at = k
				break
			}
		}
		switch {
		case at >= 0:
			w.known, w.own = true, sites[at].own
		case known:
			w.known = true
		default:
			open = append(open, w)
			conf = append(conf, w.conf)
			for k := range w.conf {
				if w.isServer(&w.conf[k]) {
					servers++
				}
			}
		}
	}
	if servers < 2 {
		return // the only one is the service's
	}
	answering := find.Answering(ctx, conf, targets)
	for _, w := range open {
		w.known = true
		for _, b := range answering {
			if b.File == w.path {
				w.own[b.Line] = true
			}
		}
	}
}

// othersFiles returns which files only others' server blocks include, by their places.
func othersFiles(sites []site) map[int]bool {
	out := map[int]bool{}
	for {
		kept, left := map[int]bool{}, map[int]bool{}
		for i := range sites {
			sites[i].includes(sites, out[i], kept, left)
		}
		fresh := false
		for i := range left {
			if !kept[i] && !out[i] {
				out[i], fresh = true, true
			}
		}
		if !fresh {
			return out
		}
	}
}

// includes adds the files that a file includes: to left where that is in blocks that are left out.
func (w *site) includes(sites []site, others bool, kept, left map[int]bool) {
	end := -1
	for i := range w.conf {
		d := &w.conf[i]
		if w.leave[i] {
			for end = i; end+1 < len(w.conf) && w.conf[end+1].Depth > d.Depth; end++ {
			}
		}
		if d.Name() != "include" || len(d.Words) != 2 {
			continue
		}
		for k := range sites {
			if !sites[k].isNamedBy(d.Words[1]) {
				continue
			}
			if i <= end || others || w.isOthersFile() {
				left[k] = true
			} else {
				kept[k] = true
			}
		}
	}
}

// isNamedBy reports whether an include may mean a file: of a relative one the directory is that of the
// main file, which is not looked for here.
func (w *site) isNamedBy(pattern string) bool {
	if w.path == "" {
		return false
	}
	if !filepath.IsAbs(pattern) {
		pattern = filepath.Join("/", pattern)
		for dir := filepath.Dir(w.path); ; dir = filepath.Dir(dir) {
			if rest, ok := strings.CutPrefix(w.path, strings.TrimSuffix(dir, "/")); ok {
				if hit, err := filepath.Match(pattern, rest); err == nil && hit {
					return true
				}
			}
			if dir == "/" || dir == "." {
				return false
			}
		}
	}
	hit, err := filepath.Match(pattern, w.path)
	return err == nil && hit
}

// isServer reports whether a directive is a server block of http.
func (w *site) isServer(d *nginxconf.Directive) bool {
	return d.Block && d.Name() == "server" && (d.Parent < 0 || w.conf[d.Parent].Name() == "http")
}

// inside calls f with each directive of a block.
func (w *site) inside(i int, f func(d *nginxconf.Directive)) {
	for k := i + 1; k < len(w.conf) && w.conf[k].Depth > w.conf[i].Depth; k++ {
		f(&w.conf[k])
	}
}

// answers adds the names of the server blocks that answer, and the ports that they pass requests on
// to: another block of the same nginx may listen there.
func (w *site) answers(names, ports map[string]bool) {
	for i := range w.conf {
		if d := &w.conf[i]; !w.isServer(d) || !w.own[d.Line] {
			continue
		}
		w.inside(i, func(d *nginxconf.Directive) {
			for _, word := range d.Words[1:] {
				switch {
				case d.Name() == "server_name" && isName(word):
					names[word] = true
				case isPass(d):
					_, rest, _ := strings.Cut(word, "://")
					host, _, _ := strings.Cut(rest, "/")
					ports[portIn(host)] = true
				}
			}
		})
	}
}

// portIn returns the port of what listen or an address of *_pass says.
func portIn(place string) string { return place[strings.LastIndexByte(place, ':')+1:] }

// choose finds the server blocks that are others'. One that names a name of those that answer, or
// shows what nginx counts, is not; one that only sends clients elsewhere is by a name of its own.
func (w *site) choose(names, ports map[string]bool) {
	for i := range w.conf {
		d := &w.conf[i]
		if !w.known || !w.isServer(d) || w.own[d.Line] {
			continue
		}
		others, kept := false, false
		w.inside(i, func(d *nginxconf.Directive) {
			serves := isPass(d) || d.Name() == "root" || d.Name() == "alias"
			named := d.Name() == "server_name" && len(names) > 0 && slices.ContainsFunc(d.Words[1:], isName)
			others = others || serves || named
			kept = kept || d.Name() == "listen" && len(d.Words) > 1 && ports[portIn(d.Words[1])]
			kept = kept || d.Name() == "stub_status" || slices.ContainsFunc(d.Words[1:],
				func(word string) bool { return hasOne(word, names) })
		})
		if others && !kept {
			w.leave[i] = true
		}
	}
}

// isName reports whether a name of a server is one that clients ask for.
func isName(name string) bool { return name != "" && name != "_" && name != "localhost" }

// hasOne reports whether a word has one of some names in it.
func hasOne(word string, names map[string]bool) bool {
	for name := range names {
		if strings.Contains(word, name) {
			return true
		}
	}
	return false
}

// isPass reports whether a directive passes requests on.
func isPass(d *nginxconf.Directive) bool {
	return strings.HasSuffix(d.Name(), "_pass") && len(d.Words) > 1
}

// passes adds to what requests of blocks that stay may be passed: words of any directive, as a map may choose one.
func (w *site) passes(used map[string]bool) {
	end := -1
	for i := range w.conf {
		d := &w.conf[i]
		if w.leave[i] {
			for end = i; end+1 < len(w.conf) && w.conf[end+1].Depth > d.Depth; end++ {
			}
		}
		if i <= end || d.Block && d.Name() == "upstream" {
			continue
		}
		for _, word := range d.Words[1:] {
			for _, part := range strings.FieldsFunc(word, func(r rune) bool { return r == '/' || r == ':' || r == '"' }) {
				used[part] = true
			}
		}
	}
}

// isOthersFile reports whether a file has nothing but server blocks that answer no load, with upstreams,
// as one in sites-enabled.
func (w *site) isOthersFile() bool {
	servers := 0
	for i := range w.conf {
		switch d := &w.conf[i]; {
		case d.Depth > 0 || d.Block && d.Name() == "upstream":
		case w.isServer(d) && !w.own[d.Line]:
			servers++
		default:
			return false
		}
	}
	return w.known && servers > 0
}

// without takes what is others' out of a text; false where nothing else is in it.
func (w *site) without(c *kasoku.Config, used map[string]bool) bool {
	if w.isOthersFile() {
		return false
	}
	if len(w.leave) == 0 {
		return true
	}
	leave := func(conf nginxconf.Config, i int) bool {
		d := &conf[i]
		return w.leave[i] || d.Block && d.Name() == "upstream" && len(d.Words) == 2 && !used[d.Words[1]]
	}
	text, err := nginxconf.Without(c.Text, leave, saidOfSites)
	if err != nil {
		return false
	}
	c.Text = text
	if c.Note == "" {
		c.Note = fmt.Sprintf("%d server blocks of other sites are left out", len(w.leave))
	}
	return true
}
