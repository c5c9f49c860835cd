package discover

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kasoku/kasoku/nginxconf"
)

// A WebServer is what an nginx's configuration says.
type WebServer struct {
	Dump      []string // command that prints the whole configuration, ending in -T
	Formats   map[string]string
	Upstreams []string // where requests are passed on to: 127.0.0.1:8080, unix:/run/app.sock
	Status    string   // URL of a page of stub_status that answered on loopback; empty without
}

// nginxDefaults are Debian's, where the program does not tell its own (nginx -V).
var nginxDefaults = map[string]string{
	"prefix": "/usr/share/nginx", "conf-path": "/etc/nginx/nginx.conf",
	"http-log-path": "/var/log/nginx/access.log", "error-log-path": "/var/log/nginx/error.log",
}

// nginx looks at the configuration of each nginx that runs.
func (l *looker) nginx() {
	for _, s := range l.found.Of(Nginx) {
		l.oneNginx(s)
	}
	if len(l.found.Of(Nginx)) == 0 && l.tree.exists("/etc/nginx/nginx.conf") {
		l.note("nginx", "it is installed and does not run", "")
	}
}

func (l *looker) oneNginx(s *Service) {
	call := l.nginxCall(s)
	built := l.nginxBuild(call.program, s)
	if call.conf == "" {
		call.conf = built["conf-path"]
	}
	prefix := built["prefix"]
	if call.prefix != "" {
		prefix = call.prefix
	}
	call.conf = below(prefix, call.conf)
	s.Nginx = &WebServer{Dump: call.dump(), Formats: map[string]string{}}
	text, how := l.nginxText(s, call)
	if text == nil {
		return
	}
	s.How += "; " + how
	n := nginxFile{service: s, prefix: prefix, built: built, how: how}
	n.read(text)
	s.Config = n.files
	l.found.Logs = append(l.found.Logs, n.logs...)
	l.stubStatus(s, text)
	for _, skipped := range n.skipped {
		l.note("nginx "+skipped, "it goes to no file that kasoku can read", "")
	}
}

// below makes a path absolute.
func below(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// A nginxCall is how a running nginx was called.
type nginxCall struct {
	program, conf, prefix string
}

// dump returns the command that prints the configuration.
func (c nginxCall) dump() []string {
	out := []string{c.program}
	if c.prefix != "" {
		out = append(out, "-p", c.prefix)
	}
	if c.conf != "" {
		out = append(out, "-c", c.conf)
	}
	return append(out, "-T")
}

// nginxCall reads the arguments of the master, which shows them in one string:
// nginx: master process /usr/sbin/nginx -c /etc/nginx/nginx.conf.
func (l *looker) nginxCall(s *Service) nginxCall {
	args := s.args
	if len(args) == 1 {
		_, line, _ := strings.Cut(args[0], "process ")
		args = strings.Fields(line)
	}
	c := nginxCall{program: s.Exe}
	if c.program == "" && len(args) > 0 && filepath.IsAbs(args[0]) {
		c.program = args[0]
	}
	if c.program == "" {
		c.program = "nginx"
	}
	for i, a := range args {
		switch {
		case a == "-c" && i+1 < len(args):
			c.conf = args[i+1]
		case a == "-p" && i+1 < len(args):
			c.prefix = args[i+1]
		}
	}
	return c
}

// nginxBuild asks the program for the paths that were compiled into it.
func (l *looker) nginxBuild(program string, s *Service) map[string]string {
	out := map[string]string{}
	for name, path := range nginxDefaults {
		out[name] = path
	}
	if l.run == nil || s.Container != "" {
		return out
	}
	said, err := l.run(l.ctx, program, "-V")
	if err != nil {
		return out
	}
	for _, word := range strings.Fields(string(said)) {
		name, value, ok := strings.Cut(strings.TrimPrefix(word, "--"), "=")
		if _, known := out[name]; ok && known {
			out[name] = value
		}
	}
	return out
}

// nginxText returns the configuration: as nginx prints it, which takes the right
// to open its logs, else from the files.
func (l *looker) nginxText(s *Service, call nginxCall) (text nginxconf.Config, how string) {
	if s.Container != "" {
		l.note("configuration of nginx", "it runs in container "+s.Container, "docker exec "+s.Container+" nginx -T")
		return nil, ""
	}
	why := ""
	if l.run != nil {
		dump := s.Nginx.Dump
		said, err := l.run(l.ctx, dump[0], dump[1:]...)
		if err == nil && nginxconf.IsDump(string(said)) {
			text, _ := nginxconf.Parse(string(said), "") // nginx found nothing wrong
			return text, strings.Join(dump, " ")
		}
		why = "; nginx -T was refused"
	}
	text, err := l.nginxFiles(call.conf)
	if err != nil {
		l.unreadable("configuration of nginx", err)
		return nil, ""
	}
	return text, "read from " + call.conf + why
}

// nginxFiles reads a configuration with the files that it includes. What is wrong
// in it does not keep nginx from running: it runs.
func (l *looker) nginxFiles(path string) (nginxconf.Config, error) {
	files := nginxconf.Files{Read: l.tree.read, Glob: l.tree.glob, Unread: func(file string, err error) {
		var syntax *nginxconf.SyntaxError
		if !errors.As(err, &syntax) {
			l.unreadable(file, err)
		}
	}}
	text, err := nginxconf.ReadFrom(files, path)
	if len(text) > 0 {
		return text, nil
	}
	return nil, err
}

// A nginxFile gathers what a configuration says.
type nginxFile struct {
	service *Service
	prefix  string
	built   map[string]string
	how     string

	files   []string
	logs    []Log
	skipped []string

	block int      // counts up wherever another block may begin
	twins struct { // the first access log of a block
		block int
		path  string
	}
}

func (n *nginxFile) read(text nginxconf.Config) {
	web := n.service.Nginx
	for _, d := range text {
		if d.File != "" && !slices.Contains(n.files, d.File) {
			n.files = append(n.files, d.File)
		}
		if d.Words[0] == "log_format" && len(d.Words) > 2 {
			parts := d.Words[2:]
			if strings.HasPrefix(parts[0], "escape=") {
				parts = parts[1:]
			}
			web.Formats[d.Words[1]] = strings.Join(parts, "")
		}
	}
	access, errors := false, false
	upstream := map[string]bool{} // names of upstream blocks
	inUpstream := -1
	for i, d := range text {
		if i == 0 || d.File != text[i-1].File || d.Depth != text[i-1].Depth {
			n.block++
		}
		if inUpstream >= 0 && d.Depth <= inUpstream {
			inUpstream = -1
		}
		name, args := d.Words[0], d.Words[1:]
		switch {
		case len(args) == 0:
		case name == "access_log":
			access = n.accessLog(d) || access
		case name == "error_log":
			errors = n.errorLog(d) || errors
		case name == "upstream":
			upstream[args[0]] = true
			inUpstream = d.Depth
		case name == "server" && inUpstream >= 0:
			n.upstream(args[0])
		case strings.HasSuffix(name, "_pass"):
			n.upstream(args[0])
		}
	}
	web.Upstreams = slices.DeleteFunc(web.Upstreams, func(a string) bool { return upstream[a] || upstream[strings.TrimSuffix(a, ":80")] })
	if !access {
		n.add(Log{Kind: AccessLog, Path: below(n.prefix, n.built["http-log-path"]), Format: "combined", How: "nginx's default; " + n.how})
	}
	if !errors {
		n.add(Log{Kind: ErrorLog, Path: below(n.prefix, n.built["error-log-path"]), Format: "error", How: "nginx's default; " + n.how})
	}
}

// accessLog takes "access_log PATH [FORMAT …]" and reports whether the default
// is out of force.
func (n *nginxFile) accessLog(d nginxconf.Directive) bool {
	path := d.Words[1]
	if path == "off" {
		return d.Depth <= 1 // in http: for all; deeper: for a part
	}
	if strings.HasPrefix(path, "syslog:") || strings.ContainsAny(path, "$|") {
		n.skipped = append(n.skipped, "access_log "+path)
		return true
	}
	format := "combined"
	if len(d.Words) > 2 && !strings.Contains(d.Words[2], "=") {
		format = d.Words[2]
	}
	log := Log{
		Kind: AccessLog, Path: below(n.prefix, path), Format: format,
		RequestTime: strings.Contains(n.service.Nginx.Formats[format], "request_time"), How: "access_log in " + cmp.Or(d.File, n.how),
	}
	conditional := slices.ContainsFunc(d.Words, func(w string) bool { return strings.HasPrefix(w, "if=") })
	switch {
	case conditional: // of some requests only
	case n.twins.block != n.block:
		n.twins.block, n.twins.path = n.block, log.Path
	case n.twins.path != log.Path:
		log.Twin = n.twins.path
	}
	n.add(log)
	return true
}

// errorLog takes "error_log PATH [LEVEL]"; the level is error when none is given.
func (n *nginxFile) errorLog(d nginxconf.Directive) bool {
	path := d.Words[1]
	if path == "stderr" || strings.HasPrefix(path, "syslog:") || strings.HasPrefix(path, "memory:") {
		n.skipped = append(n.skipped, "error_log "+path)
		return true
	}
	level := "error"
	if len(d.Words) > 2 {
		level = d.Words[2]
	}
	n.add(Log{Kind: ErrorLog, Path: below(n.prefix, path), Format: level, How: "error_log in " + cmp.Or(d.File, n.how)})
	return true
}

// add keeps each file once.
func (n *nginxFile) add(log Log) {
	log.Service = n.service.Label()
	if log.Path == "/dev/null" {
		return
	}
	if !slices.ContainsFunc(n.logs, func(o Log) bool { return o.Kind == log.Kind && o.Path == log.Path }) {
		n.logs = append(n.logs, log)
	}
}

// upstream keeps host:port of http://host:port/path or a unix socket, each once.
func (n *nginxFile) upstream(at string) {
	if _, rest, ok := strings.Cut(at, "://"); ok {
		at = rest
	}
	if path, ok := strings.CutPrefix(at, "unix:"); ok {
		path, _, _ = strings.Cut(path, ":") // unix:/run/app.sock:/uri
		at = "unix:" + path
	} else {
		at, _, _ = strings.Cut(at, "/")
		if !strings.Contains(at, ":") {
			at += ":80"
		}
	}
	web := n.service.Nginx
	if !slices.Contains(web.Upstreams, at) && !strings.Contains(at, "$") {
		web.Upstreams = append(web.Upstreams, at)
	}
}

// Label names a service in a phrase: shop, unit shop.service, pid 1204.
func (s *Service) Label() string {
	name := s.Name
	if s.Unit != "" {
		return fmt.Sprintf("%s, unit %s, pid %d", name, s.Unit, s.PID)
	}
	return fmt.Sprintf("%s, pid %d", name, s.PID)
}
