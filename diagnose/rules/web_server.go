package rules

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

// A webServer is what a run keeps of nginx's configuration.
//
// Sources: nginx, ngx_http_core_module (location, inheritance), ngx_http_proxy_module
// (proxy_set_header is inherited only by blocks that have none), ngx_http_upstream_module.
type webServer struct {
	conf      nginxconf.Config
	locations []location
}

// A location is a block of nginx that answers requests.
type location struct {
	at       int    // index in the configuration
	modifier string // =, ~, ~*, ^~ or none
	path     string
	context  string // "location /api/", as an edit names it
}

var errNoNginx = errors.New("nginx's configuration was not captured")

// webServerOf reads the captured configuration of the first nginx.
func webServerOf(rec *kasoku.Recording) (*webServer, error) {
	files := map[string]string{}
	var names []string
	for _, f := range rec.Configs {
		if f.Kind == capture.KindNginx && f.Text != "" {
			if _, ok := files[f.Name]; !ok {
				names = append(names, f.Name)
			}
			files[f.Name] = f.Text
		}
	}
	if len(names) == 0 {
		return nil, errNoNginx
	}
	fs := nginxconf.Files{
		Read: func(p string) ([]byte, error) {
			text, ok := files[p]
			if !ok {
				return nil, fmt.Errorf("%s was not captured", p)
			}
			return []byte(text), nil
		},
		Glob: func(pattern string) (out []string) {
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
		w := &webServer{conf: conf}
		if !slices.ContainsFunc(conf, func(d nginxconf.Directive) bool { return d.Depth == 0 && d.Name() == "http" }) {
			continue // a file that another one includes
		}
		w.findLocations()
		return w, nil
	}
	return nil, errors.New("no captured file of nginx has an http block")
}

func (w *webServer) findLocations() {
	for i, d := range w.conf {
		if d.Name() != "location" || !d.Block || len(d.Words) < 2 {
			continue
		}
		l := location{at: i, path: d.Words[len(d.Words)-1], context: strings.Join(d.Words, " ")}
		if len(d.Words) > 2 {
			l.modifier = d.Words[1]
		}
		w.locations = append(w.locations, l)
	}
}

// in returns the directives of that name that stand in a block itself.
func (w *webServer) in(block int, name string) (out []nginxconf.Directive) {
	for i := range w.conf {
		if d := w.conf[i]; d.Parent == block && d.Name() == name {
			out = append(out, d)
		}
	}
	return out
}

// inForce returns the directives of that name that hold in a block: its own, else
// those of the nearest block around it that has some.
func (w *webServer) inForce(block int, name string) []nginxconf.Directive {
	for {
		if out := w.in(block, name); len(out) > 0 || block < 0 {
			return out
		}
		block = w.conf[block].Parent
	}
}

// value returns the first argument of a directive that holds in a block, empty
// when none does.
func (w *webServer) value(block int, name string) string {
	if d := w.inForce(block, name); len(d) > 0 && len(d[len(d)-1].Words) > 1 {
		return d[len(d)-1].Words[1]
	}
	return ""
}

// passes returns where a location passes requests on to, "http://app"; empty when
// it answers itself. Blocks inside of it, such as if, count.
func (w *webServer) passes(l location) string {
	for i := range w.conf {
		d := w.conf[i]
		if d.Name() != "proxy_pass" || len(d.Words) < 2 {
			continue
		}
		for p := d.Parent; p >= 0; p = w.conf[p].Parent {
			if p == l.at {
				return d.Words[1]
			}
			if w.conf[p].Name() == "location" {
				break
			}
		}
	}
	return ""
}

// locationOf returns the location that answers requests for a path, as nginx
// chooses it: an exact one, else the longest prefix unless a pattern matches.
func (w *webServer) locationOf(uri string) (location, bool) {
	best, found := location{}, false
	for _, l := range w.locations {
		if l.modifier == "=" && l.path == uri {
			return l, true
		}
		prefix := l.modifier == "" || l.modifier == "^~"
		if prefix && strings.HasPrefix(uri, l.path) && !strings.HasPrefix(l.path, "@") &&
			(!found || len(l.path) > len(best.path)) {
			best, found = l, true
		}
	}
	if found && best.modifier == "^~" {
		return best, true
	}
	for _, l := range w.locations {
		if l.modifier != "~" && l.modifier != "~*" {
			continue
		}
		pattern := l.path
		if l.modifier == "~*" {
			pattern = "(?i)" + pattern
		}
		if re, err := regexp.Compile(pattern); err == nil && re.MatchString(uri) {
			return l, true
		}
	}
	return best, found
}

// upstream returns the block of an upstream, -1 when there is none of that name.
func (w *webServer) upstream(name string) int {
	for i, d := range w.conf {
		if d.Name() == "upstream" && d.Block && len(d.Words) > 1 && d.Words[1] == name {
			return i
		}
	}
	return -1
}

// number returns the value of a directive anywhere that is a number, 0 when there
// is none.
func (w *webServer) number(name string) int {
	for _, d := range w.conf {
		if d.Name() == name && len(d.Words) > 1 {
			n, _ := strconv.Atoi(d.Words[1])
			return n
		}
	}
	return 0
}

// errorLevels are the levels of nginx's error log, from the most talkative on.
var errorLevels = []string{"debug", "info", "notice", "warn", "error", "crit", "alert", "emerg"}

// nginxTells says why nginx's error log cannot show what nginx says at a level; nil
// when it can: it was read, and all that is configured has that level or a more
// talkative one. A message of nginx itself is proof.
func nginxTells(c *diagnose.Case, level string) error {
	read := slices.ContainsFunc(c.Logs, func(w kasoku.LogWindow) bool {
		return w.Kind == "errorlog" &&
			(w.Files > 0 || w.Lines > 0)
	})
	told := slices.ContainsFunc(c.Messages, func(m kasoku.Message) bool {
		return m.Kind == kasoku.MessageNginx &&
			m.Level == level
	})
	if !read && !told {
		return errors.New("nginx's error log was not recorded; kasoku.toml names it: logs.error")
	}
	w, err := webServerOf(c.Recording)
	if err != nil {
		if told {
			return nil
		}
		return fmt.Errorf("the level of nginx's error log is not known: %w", err)
	}
	for _, d := range w.conf {
		if d.Name() == "error_log" && len(d.Words) > 2 && slices.Index(errorLevels,
			d.Words[2]) <= slices.Index(errorLevels, level) {
			return nil
		}
	}
	if level == "error" || told {
		return nil
	}
	return fmt.Errorf("the level of nginx's error log is too high to know: it is error, and %s is needed (error_log PATH %s;)", level, level)
}

// nginxEdit is a change of directives of nginx.
func nginxEdit(context string, lines ...string) kasoku.Edit {
	return kasoku.Edit{Kind: kasoku.EditNginx, Context: context, Lines: strings.Join(lines, "\n")}
}

// nginxFix is a fix of nginx's configuration by edits, shown as code.
func nginxFix(text, note string, risk kasoku.Risk, edits ...kasoku.Edit) kasoku.Fix {
	var code []string
	for _, e := range edits {
		if e.Context == "" { // the top
			code = append(code, e.Lines)
			continue
		}
		code = append(code, e.Context+" {\n    "+strings.ReplaceAll(e.Lines, "\n", "\n    ")+"\n}")
	}
	return kasoku.Fix{Text: text, Where: "nginx.conf, then nginx -s reload", Code: strings.Join(code, "\n"),
		Note: note, Risk: risk, Lang: "nginx", Edits: edits}
}
