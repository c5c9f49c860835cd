package capture

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/nginxconf"
)

// What stands where a server block was that is of another site, or may be.
const (
	saidOfSites = "kasoku: of another site, left out"
	saidOfDoubt = "kasoku: it may be of another site, left out"
)

// WithoutOthersSites returns texts of configuration without what they have of other sites of the
// service's nginx: files of nothing else, and in other files server blocks that answer no load, by
// no name of those that do, with upstreams that only they pass requests to and files that only they
// include. What stays keeps its lines and columns. Nothing is left out where it is not known which
// blocks answer; of blocks that begin on one line, all where it is not known which of them do.
func WithoutOthersSites(all []kasoku.Config, s *kasoku.Service) []kasoku.Config {
	var sites []site
	for i := range all {
		sites = append(sites, siteOf(&all[i], s))
	}
	names, ports := map[string]bool{}, map[string]bool{}
	used, theirs := map[string]bool{}, map[string]bool{}
	for i := range sites {
		sites[i].answers(names, ports)
	}
	for i := range sites {
		sites[i].choose(names, ports)
	}
	stays := staying(sites)
	for i := range sites {
		sites[i].passes(stays[i], used, theirs)
	}
	out := make([]kasoku.Config, 0, len(all))
	for i, c := range all {
		if stays[i] && sites[i].without(&c, func(name string) bool { return theirs[name] && !used[name] }) {
			out = append(out, c)
		}
	}
	return out
}

// staying reports of each file whether it stays: not those of others' server blocks alone, nor those that
// only such blocks include, or files that do not stay.
func staying(sites []site) []bool {
	by, stays := make([][]int, len(sites)), make([]bool, len(sites)) // by: files that include it where all stays
	included := make([]bool, len(sites))
	for k := range sites {
		sites[k].includes(func(pattern string, stays bool) {
			for i := range sites {
				if ok, err := path.Match(pattern, sites[i].path); err == nil && ok && sites[i].host == sites[k].host {
					included[i] = true
					if stays {
						by[i] = append(by[i], k)
					}
				}
			}
		})
	}
	for changed := true; changed; {
		changed = false
		for i := range sites {
			if !stays[i] && !sites[i].isOthersFile() &&
				(!included[i] || slices.ContainsFunc(by[i], func(k int) bool { return stays[k] })) {
				stays[i], changed = true, true
			}
		}
	}
	return stays
}

// A site is a file of nginx, of which it may be known which server blocks answer.
type site struct {
	host, path string
	dir        string // that names of files are below
	conf       nginxconf.Config
	known      bool         // it is one of the service's nginx, and which blocks answer is known
	own        map[int]bool // directives that are server blocks which answer
	leave      map[int]bool // directives that are others' server blocks
	unsure     int          // line of which it is not known whose server blocks are; 0: none
}

// siteOf reads a file. A file that reads otherwise than when the service was looked at is as good as unknown.
func siteOf(c *kasoku.Config, s *kasoku.Service) (w site) {
	if c.Kind != KindNginx || c.Text == "" {
		return w
	}
	file := strings.TrimPrefix(c.Name, "container:")
	conf, err := nginxconf.Parse(c.Text, file)
	if err != nil || nginxconf.IsDump(c.Text) {
		return w
	}
	w = site{host: c.Host, path: file, conf: conf, own: map[int]bool{}, leave: map[int]bool{}}
	for _, m := range s.Of(kasoku.RoleWeb) {
		if !slices.Contains(m.Configs, file) || m.Host != c.Host && m.Host != "" && c.Host != "" {
			continue
		}
		w.dir = path.Dir(m.Configs[0]) // the first is the one that nginx is given
		if w.known = len(m.Blocks) > 0; !w.known {
			return w
		}
		for _, b := range m.Blocks {
			if w.known = w.known && (b.File != file || w.findOwn(b)); !w.known {
				return w
			}
		}
	}
	return w
}

// findOwn finds a server block that answers; false where none begins on its line. Of several on that
// line it is the one at its column; where what was masked before it moved that, none of them stays.
func (w *site) findOwn(b kasoku.ConfigBlock) (found bool) {
	var there []int
	for i := range w.conf {
		if d := &w.conf[i]; d.Line == b.Line && w.isServer(d) {
			there = append(there, i)
		}
	}
	at := slices.IndexFunc(there, func(i int) bool { return w.conf[i].Column == b.Column })
	switch {
	case len(there) == 1:
		w.own[there[0]] = true
	case at >= 0:
		w.own[there[at]] = true
	default:
		w.unsure = b.Line
		for _, i := range there {
			w.leave[i] = true
		}
	}
	return len(there) > 0
}

// includes calls f with each pattern of files that a file includes, and whether what it stands in stays.
func (w *site) includes(f func(pattern string, stays bool)) {
	end := -1
	for i := range w.conf {
		d := &w.conf[i]
		if w.leave[i] {
			end = w.endOf(i)
		}
		if d.Name() != "include" || len(d.Words) != 2 {
			continue
		}
		pattern := d.Words[1]
		if !path.IsAbs(pattern) {
			pattern = path.Join(w.dir, pattern)
		}
		f(path.Clean(pattern), i > end)
	}
}

// endOf returns the last directive of a block.
func (w *site) endOf(i int) int {
	end := i
	for end+1 < len(w.conf) && w.conf[end+1].Depth > w.conf[i].Depth {
		end++
	}
	return end
}

// isServer reports whether a directive is a server block of http.
func (w *site) isServer(d *nginxconf.Directive) bool {
	return d.Block && d.Name() == "server" && (d.Parent < 0 || w.conf[d.Parent].Name() == "http")
}

// inside calls f with each directive of a block.
func (w *site) inside(i int, f func(d *nginxconf.Directive)) {
	for k, end := i+1, w.endOf(i); k <= end; k++ {
		f(&w.conf[k])
	}
}

// answers adds the names of the server blocks that answer, and the ports that they pass requests on
// to: another block of the same nginx may listen there.
func (w *site) answers(names, ports map[string]bool) {
	for i := range w.conf {
		if d := &w.conf[i]; !w.isServer(d) || !w.own[i] {
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
		if !w.known || !w.isServer(d) || w.own[i] {
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

// passes adds to what requests of a file's blocks that stay may be passed, and those of others': words of any
// directive, as a map may choose one.
func (w *site) passes(stays bool, used, theirs map[string]bool) {
	end := -1
	for i := range w.conf {
		d := &w.conf[i]
		if w.leave[i] {
			end = w.endOf(i)
		}
		if d.Block && d.Name() == "upstream" {
			continue
		}
		to := used
		if !stays || i <= end {
			to = theirs
		}
		for _, word := range d.Words[1:] {
			for _, part := range strings.FieldsFunc(word, func(r rune) bool { return r == '/' || r == ':' || r == '"' }) {
				to[part] = true
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
		case w.isServer(d) && !w.own[i]:
			servers++
		default:
			return false
		}
	}
	return w.known && servers > 0 && w.unsure == 0
}

// without takes what is others' out of a text, upstreams by their names; false where it cannot be read.
func (w *site) without(c *kasoku.Config, theirs func(upstream string) bool) bool {
	upstreams := 0
	for i := range w.conf {
		d := &w.conf[i]
		if w.known && d.Block && d.Name() == "upstream" && len(d.Words) == 2 && theirs(d.Words[1]) {
			w.leave[i] = true
			upstreams++
		}
	}
	if len(w.leave) == 0 {
		return true
	}
	servers := len(w.leave) - upstreams
	note, say := fmt.Sprintf("%d server blocks of other sites are left out", servers), saidOfSites
	switch {
	case w.unsure > 0:
		note = fmt.Sprintf("%d server blocks are left out: which of those that begin on line %d answers is not known",
			servers, w.unsure)
		say = saidOfDoubt
	case servers == 0:
		note = fmt.Sprintf("%d upstreams of other sites are left out", upstreams)
	}
	text, err := nginxconf.Without(c.Text, func(_ nginxconf.Config, i int) bool { return w.leave[i] }, say)
	if err != nil {
		return false
	}
	if c.Text = text; c.Note == "" {
		c.Note = note
	}
	return true
}
