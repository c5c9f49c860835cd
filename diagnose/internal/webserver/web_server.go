package webserver

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/internal/nginxconf"
)

// A Config is what a run keeps of nginx's configuration.
//
// Sources: nginx, ngx_http_core_module (location, inheritance), ngx_http_proxy_module
// (proxy_set_header is inherited only by blocks that have none), ngx_http_upstream_module.
type Config struct {
	Directives nginxconf.Config
	Locations  []Location
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
	files := map[string]string{}
	var names []string
	for _, f := range rec.Configs {
		if f.Kind == capture.KindNginx && f.Text != "" && ofService(rec, f) {
			if _, ok := files[f.Name]; !ok {
				names = append(names, f.Name)
			}
			files[f.Name] = f.Text
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
		w := &Config{Directives: conf}
		if !slices.ContainsFunc(conf, func(d nginxconf.Directive) bool { return d.Depth == 0 && d.Name() == "http" }) {
			continue // a file that another one includes
		}
		w.findLocations()
		return w, nil
	}
	return nil, errors.New("no captured file of nginx has an http block")
}

// ofService reports whether a file is of a web server of the service, as far as is known.
func ofService(rec *kasoku.Recording, f kasoku.Config) bool {
	webs := rec.Service.Of(kasoku.RoleWeb)
	if len(webs) == 0 {
		return len(rec.Service.Of(kasoku.RoleApplication)) == 0 // else the load goes to the application
	}
	return slices.ContainsFunc(webs, func(m *kasoku.Member) bool {
		return (m.Host == f.Host || f.Host == "" || m.Host == "") &&
			(len(m.Configs) == 0 || slices.Contains(m.Configs, f.Name))
	})
}

func (w *Config) findLocations() {
	for i, d := range w.Directives {
		if d.Name() != "location" || !d.Block || len(d.Words) < 2 {
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

// Passes returns where a location passes requests on to, "http://app"; empty when
// it answers itself. Blocks inside of it, such as if, count.
func (w *Config) Passes(l Location) string {
	for i := range w.Directives {
		d := w.Directives[i]
		if d.Name() != "proxy_pass" || len(d.Words) < 2 {
			continue
		}
		for p := d.Parent; p >= 0; p = w.Directives[p].Parent {
			if p == l.At {
				return d.Words[1]
			}
			if w.Directives[p].Name() == "location" {
				break
			}
		}
	}
	return ""
}

// LocationOf returns the location that answers requests for a path, as nginx
// chooses it: an exact one, else the longest prefix unless a pattern matches.
func (w *Config) LocationOf(uri string) (Location, bool) {
	best, found := Location{}, false
	for _, l := range w.Locations {
		if l.Modifier == "=" && l.Path == uri {
			return l, true
		}
		prefix := l.Modifier == "" || l.Modifier == "^~"
		if prefix && strings.HasPrefix(uri, l.Path) && !strings.HasPrefix(l.Path, "@") &&
			(!found || len(l.Path) > len(best.Path)) {
			best, found = l, true
		}
	}
	if found && best.Modifier == "^~" {
		return best, true
	}
	for _, l := range w.Locations {
		if l.Modifier != "~" && l.Modifier != "~*" {
			continue
		}
		pattern := l.Path
		if l.Modifier == "~*" {
			pattern = "(?i)" + pattern
		}
		if re, err := regexp.Compile(pattern); err == nil && re.MatchString(uri) {
			return l, true
		}
	}
	return best, found
}

// HasLocation reports whether there is a location of that path in any server.
func (w *Config) HasLocation(path string) bool {
	return slices.ContainsFunc(w.Locations, func(l Location) bool { return l.Path == path })
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

// errorLevels are the levels of nginx's error log, the most verbose first.
var errorLevels = []string{"debug", "info", "notice", "warn", "error", "crit", "alert", "emerg"}

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
	for _, d := range w.Directives {
		if d.Name() == "error_log" && len(d.Words) > 2 && slices.Index(errorLevels,
			d.Words[2]) <= slices.Index(errorLevels, level) {
			return nil
		}
	}
	if level == "error" || logged {
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
// none where it does more than that, such as rewriting paths.
func (w *Config) PassesAs(l Location) (out []string) {
	scheme, host, known := strings.Cut(w.Passes(l), "://")
	if host, path, _ := strings.Cut(host, "/"); !known || path != "" || strings.Contains(host, "$") {
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
			var words []string
			for _, x := range d.Words[1:] {
				words = append(words, strconv.Quote(x))
			}
			out = append(out, d.Name()+" "+strings.Join(words, " ")+";")
		}
	}
	return out
}
