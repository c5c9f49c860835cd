package webserver

import (
	"errors"
	"fmt"
	"net"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/internal/lazyregexp"
	"github.com/kasoku/kasoku/internal/nginxconf"
)

// A Config is what a run keeps of nginx's configuration.
//
// Sources: nginx, ngx_http_core_module (location, inheritance), ngx_http_proxy_module
// (proxy_set_header is inherited only by blocks that have none), ngx_http_upstream_module.
type Config struct {
	Directives nginxconf.Config
	// Locations are those of the server block that answers the load; none where it is not
	// known which of several does that pass requests on.
	Locations []Location
	Host      string // of the file

	servers []int // server blocks that may answer, of which one does
}

// A Location is a block of nginx that answers requests.
type Location struct {
	At       int    // index in the configuration
	Modifier string // =, ~, ~*, ^~ or none
	Path     string
	Context  string // "location /api/", as an edit names it
}

// ErrNoNginx means that the run has no file of the configuration of the service's nginx.
var ErrNoNginx = errors.New("nginx's configuration was not captured")

// ConfigOf reads the captured configuration of the nginx that is a member of the service;
// where the members are not known, of the first. It fails when the service has web servers
// and no file of theirs was captured: another's is not quoted.
func ConfigOf(rec *kasoku.Recording) (*Config, error) {
	files, hosts := map[string]string{}, map[string]string{}
	var names []string
	for _, f := range rec.Configs {
		if f.Kind == capture.KindNginx && f.Text != "" && rec.Service.HasWebConfig(&f) {
			if _, ok := files[f.Name]; !ok {
				names = append(names, f.Name)
			}
			files[f.Name], hosts[f.Name] = f.Text, f.Host
		}
	}
	if len(names) == 0 {
		return nil, ErrNoNginx
	}
	fs := nginxconf.Files{
		Read: func(_, p string) ([]byte, error) {
			text, ok := files[p]
			if !ok {
				return nil, fmt.Errorf("%s was not captured", p)
			}
			return []byte(text), nil
		},
		Glob: func(_, pattern string) (out []string) {
			for _, n := range names {
				if ok, _ := path.Match(pattern, n); ok {
					out = append(out, n)
				}
			}
			return out
		},
		Unread: func(string, error) {}, // what is missing is not captured; the rest counts
	}
	for _, n := range names {
		conf, _ := nginxconf.ReadFrom(fs, n) // what can be read of a bad one
		w := &Config{Directives: conf, Host: hosts[n]}
		w.findServers(rec)
		if !slices.ContainsFunc(conf, func(d nginxconf.Directive) bool { return d.Depth == 0 && d.Name() == "http" }) {
			continue // a file that another one includes
		}
		w.findLocations()
		return w, nil
	}
	return nil, errors.New("no captured file of nginx has an http block")
}

// findServers chooses the server blocks that may answer: those that the members' search found,
// else all; of these the ones that pass requests on, as others answer with files and redirects.
func (w *Config) findServers(rec *kasoku.Recording) {
	var all, found []int
	for i, d := range w.Directives {
		if d.Name() != "server" || !d.Block || len(d.Words) != 1 {
			continue
		}
		all = append(all, i)
		at := kasoku.ConfigBlock{File: d.File, Line: d.Line}
		if slices.ContainsFunc(rec.Service.Of(kasoku.RoleWeb), func(m *kasoku.Member) bool {
			return slices.Contains(m.Blocks, at)
		}) {
			found = append(found, i)
		}
	}
	if w.servers = found; len(found) == 0 {
		w.servers = all
	}
	if passing := slices.DeleteFunc(slices.Clone(w.servers), func(at int) bool { return !w.passesIn(at) }); len(passing) > 0 {
		w.servers = passing
	}
}

// Undecided returns why the locations are not known; nil where they are.
func (w *Config) Undecided() error {
	if len(w.servers) < 2 || !w.passesIn(w.servers[0]) {
		return nil
	}
	return fmt.Errorf("which of %d server blocks of nginx that pass requests on answers is not known", len(w.servers))
}

// Place names the server block that answers, where there are others: "server block at
// /etc/nginx/sites-enabled/shop.conf:1". It is empty where there is one alone.
func (w *Config) Place() string {
	others := slices.ContainsFunc(w.Directives, func(d nginxconf.Directive) bool {
		return d.Name() == "server" && d.Block && len(d.Words) == 1 &&
			(len(w.servers) != 1 || d.File != w.Directives[w.servers[0]].File || d.Line != w.Directives[w.servers[0]].Line)
	})
	if len(w.servers) != 1 || !others {
		return ""
	}
	d := w.Directives[w.servers[0]]
	return fmt.Sprintf("server block at %s:%d", d.File, d.Line)
}

// passes are the directives by which nginx passes requests on.
var passes = []string{"proxy_pass", "fastcgi_pass", "uwsgi_pass", "scgi_pass", "grpc_pass"}

// passesIn reports whether a block or one in it passes requests on.
func (w *Config) passesIn(block int) bool {
	return slices.ContainsFunc(w.Directives, func(d nginxconf.Directive) bool {
		return slices.Contains(passes, d.Name()) && w.isIn(d, block)
	})
}

// isIn reports whether a directive stands in a block or one in it.
func (w *Config) isIn(d nginxconf.Directive, block int) bool {
	for p := d.Parent; p >= 0; p = w.Directives[p].Parent {
		if p == block {
			return true
		}
	}
	return false
}

func (w *Config) findLocations() {
	if w.Undecided() != nil {
		return
	}
	for i, d := range w.Directives {
		if d.Name() != "location" || !d.Block || len(d.Words) < 2 ||
			!slices.ContainsFunc(w.servers, func(at int) bool { return w.isIn(d, at) }) {
			continue
		}
		l := Location{At: i, Path: d.Words[len(d.Words)-1], Context: strings.Join(d.Words, " ")}
		if len(d.Words) > 2 {
			l.Modifier = d.Words[1]
		}
		w.Locations = append(w.Locations, l)
	}
}

// In returns the directives of that name that stand in a block itself.
func (w *Config) In(block int, name string) (out []nginxconf.Directive) {
	for i := range w.Directives {
		if d := w.Directives[i]; d.Parent == block && d.Name() == name {
			out = append(out, d)
		}
	}
	return out
}

// InForce returns the directives of that name that hold in a block: its own, else
// those of the nearest block around it that has some.
func (w *Config) InForce(block int, name string) []nginxconf.Directive {
	for {
		if out := w.In(block, name); len(out) > 0 || block < 0 {
			return out
		}
		block = w.Directives[block].Parent
	}
}

// Value returns the first argument of a directive that holds in a block, empty
// when none does.
func (w *Config) Value(block int, name string) string {
	if d := w.InForce(block, name); len(d) > 0 && len(d[len(d)-1].Words) > 1 {
		return d[len(d)-1].Words[1]
	}
	return ""
}

// A Pass is how a location passes requests on.
type Pass struct {
	Directive string // proxy_pass, fastcgi_pass …
	To        string // http://app, 127.0.0.1:9000
	Own       bool   // it stands in the location itself, not in a block such as if
}

// Prefix returns how the directives begin that change this: "fastcgi_".
func (p Pass) Prefix() string { return strings.TrimSuffix(p.Directive, "pass") }

// PassOf returns how a location passes requests on; false when it answers itself. Blocks
// inside of it, such as if, count.
func (w *Config) PassOf(l Location) (Pass, bool) {
	for i := range w.Directives {
		d := w.Directives[i]
		if !slices.Contains(passes, d.Name()) || len(d.Words) < 2 {
			continue
		}
		for p := d.Parent; p >= 0; p = w.Directives[p].Parent {
			if p == l.At {
				return Pass{d.Name(), d.Words[1], d.Parent == l.At}, true
			}
			if w.Directives[p].Name() == "location" {
				break
			}
		}
	}
	return Pass{}, false
}

// Passes returns where a location passes requests on to by proxy_pass, "http://app"; empty
// when it does not.
func (w *Config) Passes(l Location) string {
	if p, ok := w.PassOf(l); ok && p.Directive == "proxy_pass" {
		return p.To
	}
	return ""
}

// parameter is a part of a route that stands for many.
var parameter = lazyregexp.New(`:[A-Za-z_]+`)

// Passing returns the location that passes on the requests of a route: the one that answers
// them, or to which its try_files leads. It is false where that is not known, as where the
// paths of the route may have different ones.
func (w *Config) Passing(route string) (Location, bool) {
	var out Location
	for i, name := range []string{"1", "x"} { // most patterns of locations ask for one of these
		l, ok := w.passingPath(parameter().ReplaceAllString(route, name))
		if !ok || i > 0 && l.At != out.At {
			return Location{}, false
		}
		out = l
	}
	return out, true
}

// passingPath is Passing of one path.
func (w *Config) passingPath(uri string) (Location, bool) {
	l, ok := w.LocationOf(uri)
	for range 3 { // /index.php may lead on to another
		if !ok {
			return Location{}, false
		}
		if _, passes := w.PassOf(l); passes {
			return l, true
		}
		try := w.InForce(l.At, "try_files")
		if len(try) != 1 || len(try[0].Words) < 3 {
			return Location{}, false
		}
		to := try[0].Words[len(try[0].Words)-1]
		if strings.HasPrefix(to, "@") {
			i := slices.IndexFunc(w.Locations, func(l Location) bool { return l.Path == to })
			if ok = i >= 0; ok {
				l = w.Locations[i]
			}
			continue
		}
		path, _, _ := strings.Cut(to, "?")
		if !strings.HasPrefix(path, "/") || strings.Contains(path, "$") {
			return Location{}, false
		}
		l, ok = w.LocationOf(path)
	}
	return Location{}, false
}

// Upstream returns the block of an upstream, -1 when there is none of that name.
func (w *Config) Upstream(name string) int {
	for i, d := range w.Directives {
		if d.Name() == "upstream" && d.Block && len(d.Words) > 1 && d.Words[1] == name {
			return i
		}
	}
	return -1
}

// PortsOf returns the ports of this host to which requests go that are passed to a place, as [Config.Passes] names
// it: "http://app". None where one of its servers is another host or a socket.
func (w *Config) PortsOf(to string) (ports []int) {
	_, host, ok := strings.Cut(to, "://")
	if !ok || strings.Contains(host, "$") {
		return nil
	}
	host, _, _ = strings.Cut(host, "/")
	servers := []string{host}
	if at := w.Upstream(host); at >= 0 {
		servers = nil
		for _, d := range w.In(at, "server") {
			if len(d.Words) > 1 {
				servers = append(servers, d.Words[1])
			}
		}
	}
	for _, s := range servers {
		name, port, err := net.SplitHostPort(s)
		n, bad := strconv.Atoi(port)
		if ip := net.ParseIP(name); err != nil || bad != nil || name != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return nil
		}
		ports = append(ports, n)
	}
	return ports
}

// Number returns the value of a directive anywhere that is a number, 0 when there
// is none.
func (w *Config) Number(name string) int {
	for _, d := range w.Directives {
		if d.Name() == name && len(d.Words) > 1 {
			n, _ := strconv.Atoi(d.Words[1])
			return n
		}
	}
	return 0
}

// CheckLogLevel reports why nginx's error log cannot show what nginx says at a level; nil when
// it can: it was read, and all that is configured has that level or a more verbose one. A
// message of nginx itself is proof.
func CheckLogLevel(c *diagnose.Case, level string) error {
	read := slices.ContainsFunc(c.Logs, func(w kasoku.LogWindow) bool {
		return w.Kind == "errorlog" &&
			(w.Files > 0 || w.Lines > 0)
	})
	logged := slices.ContainsFunc(c.Messages, func(m kasoku.Message) bool {
		return m.Kind == kasoku.MessageNginx &&
			m.Level == level
	})
	if !read && !logged {
		return errors.New("nginx's error log was not recorded; kasoku.toml names it: logs.error")
	}
	w, err := ConfigOf(c.Recording)
	if err != nil {
		if logged {
			return nil
		}
		return fmt.Errorf("the level of nginx's error log is not known: %w", err)
	}
	if w.Directives.Logs(level) || level == "error" || logged {
		return nil
	}
	return fmt.Errorf("the level of nginx's error log is too high to know: it is error, and %s is needed (error_log PATH %s;)", level, level)
}

// Edit is a change of directives of nginx.
func Edit(context string, lines ...string) kasoku.Edit {
	return kasoku.Edit{Kind: kasoku.EditNginx, Context: context, Lines: strings.Join(lines, "\n")}
}

// Fix is a fix of nginx's configuration by edits, shown as code.
func Fix(text, note string, risk kasoku.Risk, edits ...kasoku.Edit) kasoku.Fix {
	return kasoku.Fix{Text: text, Where: "nginx.conf, then nginx -s reload", Code: Code(edits...),
		Note: note, Risk: risk, Lang: "nginx", Edits: edits}
}

// Fix is a fix of the server block that answers. Where the configuration has others it names
// this one, and has no edits: those name a block by its words alone.
func (w *Config) Fix(text, note string, risk kasoku.Risk, edits ...kasoku.Edit) kasoku.Fix {
	f := Fix(text, note, risk, edits...)
	if at := w.Place(); at != "" {
		f.Where, f.Edits = "nginx's "+at+", then nginx -s reload", nil
	}
	return f
}

// Code shows edits, each in the block that it belongs to.
func Code(edits ...kasoku.Edit) string {
	var code []string
	for _, e := range edits {
		if e.Context == "" { // the top
			code = append(code, e.Lines)
			continue
		}
		code = append(code, Block(e.Context, e.Lines))
	}
	return strings.Join(code, "\n")
}

// Block is a block of nginx's configuration with these lines.
func Block(context string, lines ...string) string {
	return context + " {\n    " + strings.ReplaceAll(strings.Join(lines, "\n"), "\n", "\n    ") + "\n}"
}

// besidePass are directives that a second location needs too to pass requests on as the
// first one does: to the same server, for the same clients.
var besidePass = []string{"proxy_", "client_", "auth_", "limit_", "allow", "deny", "satisfy", "add_header", "access_log",
	"error_log", "root", "index", "charset", "gzip", "send_timeout", "keepalive_", "sendfile", "tcp_", "expires"}

// PassesAs returns the directives of a location by which another one passes requests on as it
// does: to a server alone by proxy_pass, with what else the location has of its own. It returns
// none where it does more than that, such as rewriting paths, or stands in another location, of
// which it has more.
func (w *Config) PassesAs(l Location) (out []string) {
	scheme, host, known := strings.Cut(w.Passes(l), "://")
	if host, path, _ := strings.Cut(host, "/"); !known || w.outer(l) >= 0 || path != "" || strings.Contains(host, "$") {
		return nil
	}
	name, slash := strings.CutSuffix(host, "/")
	if slash && l.Path != "/" {
		return nil // the slash takes the place of the location's path
	}
	for i := range w.Directives {
		d := &w.Directives[i]
		switch {
		case d.Parent != l.At:
		case d.Block || !slices.ContainsFunc(besidePass, func(p string) bool { return strings.HasPrefix(d.Name(), p) }):
			return nil
		case d.Name() == "proxy_pass":
			out = append([]string{"proxy_pass " + scheme + "://" + name + ";"}, out...)
		case strings.HasPrefix(d.Name(), "proxy_cache") || d.Name() == "proxy_no_cache":
		default:
			out = append(out, Lines([]nginxconf.Directive{*d})...)
		}
	}
	return out
}

// Lines prints directives as they stand in a configuration.
func Lines(directives []nginxconf.Directive) (out []string) {
	for i := range directives {
		var words []string
		for _, x := range directives[i].Words[1:] {
			words = append(words, strconv.Quote(x))
		}
		out = append(out, directives[i].Name()+" "+strings.Join(words, " ")+";")
	}
	return out
}
