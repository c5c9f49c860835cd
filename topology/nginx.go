package topology

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kasoku/kasoku/internal/foreign"
	"github.com/kasoku/kasoku/internal/mounts"
	"github.com/kasoku/kasoku/internal/nginxconf"
)

// A WebServer is what the configuration of an nginx defines.
type WebServer struct {
	Formats   map[string]string
	Upstreams []string // where requests are passed on to: 127.0.0.1:8080, unix:/run/app.sock
	Status    string   // URL of a page of stub_status that answered on loopback; empty without

	roots map[string][]string // by upstream of FastCGI: directories of the files that it is asked for
}

// nginx looks at the configuration of each nginx that runs.
func (l *looker) nginx() {
	all := l.of(Nginx)
	for _, s := range all {
		l.describeNginx(s)
	}
	if len(all) == 0 && l.view.tree.exists("/etc/nginx/nginx.conf") {
		l.view.note("nginx", "it is installed and does not run", "")
	}
}

func (l *looker) describeNginx(s *subject) {
	s.Nginx = &WebServer{Formats: map[string]string{}, roots: map[string][]string{}}
	conf, err := l.view.readNginx(s)
	if err != nil {
		l.view.unreadable("configuration of nginx", err)
		return
	}
	for _, err := range conf.Unread {
		l.view.unreadable("configuration of nginx", err)
	}
	how := "read from " + conf.Path
	s.How += "; " + how
	n := nginxFile{service: s.Service, prefix: conf.Prefix, built: conf.Built, how: how, mayName: conf.MayName}
	n.read(conf.Config)
	if !s.elsewhere() {
		s.Config = n.files
		l.found.Logs = append(l.found.Logs, n.logs...)
	} else if !l.logsElsewhere(s, n.logs) {
		l.view.note("logs of "+s.Label(), "it sees another file system than this host's", "run kasoku in its container")
	}
	s.Nginx.Status = l.ask.of(s.Service).stubStatus(s.Service, conf.Config)
	for _, name := range n.unopened {
		l.view.note("nginx "+name, "nginx does not have it open: who may write that file could name any", "")
	}
	for _, name := range n.unknown {
		l.view.note("nginx "+name, "not known whether nginx has it open: who may write that file could name any", "")
	}
	for _, skipped := range n.skipped {
		l.view.note("nginx "+skipped, "it goes to no file that kasoku can read", "")
	}
}

// logsElsewhere keeps the logs of an nginx in a container by their names on this host, as those
// of a directory that is bound into it, and reports whether all have one.
func (l *looker) logsElsewhere(s *subject, logs []Log) bool {
	here, all := mounts.OpenFiles(s.PID), true
	for _, log := range logs {
		if log.Path = here[log.Path]; log.Path == "" {
			all = false
			continue
		}
		log.Twin = here[log.Twin]
		l.found.Logs = append(l.found.Logs, log)
	}
	return all
}

// readNginx reads the configuration of an nginx as it sees its files.
func (v *view) readNginx(s *subject) (*NginxConfig, error) {
	if s.held != nil {
		return ReadNginx(v.ctx, s.held)
	}
	return readNginx(nginxFiles{
		args: s.args, built: func() map[string]string { return nginxDefaults },
		read: func(_ *foreign.Writer, path string) (foreign.File, error) {
			data, err := v.tree.read(path)
			return foreign.File{Data: data, Regular: err == nil}, err
		},
		glob:   func(_ *foreign.Writer, pattern string) []string { return v.tree.glob(pattern) },
		writer: func(foreign.File, *foreign.Writer) *foreign.Writer { return nil },
	})
}

// A nginxFile gathers what a configuration says.
type nginxFile struct {
	service *Service
	prefix  string
	built   map[string]string
	how     string

	files    []string
	logs     []Log
	skipped  []string
	unopened []string // named by others than root and nginx's user, and not open
	unknown  []string // as those, where it is not known whether they are open
	mayName  func(file, log string) (ok, known bool)

	block int      // counts up wherever another block may begin
	twins struct { // the first access log of a block
		block int
		path  string
	}
}

func (n *nginxFile) read(text nginxconf.Config) {
	web := n.service.Nginx
	for i, d := range text {
		if d.File != "" && (i == 0 || d.File != text[i-1].File) && !slices.Contains(n.files, d.File) {
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
	upstream := map[string][]string{} // servers by the name of their block
	inUpstream, group := -1, ""
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
			upstream[args[0]] = nil
			inUpstream, group = d.Depth, args[0]
		case name == "server" && inUpstream >= 0:
			upstream[group] = append(upstream[group], n.upstream(args[0]))
		case strings.HasSuffix(name, "_pass"):
			at := n.upstream(args[0])
			if root := rootOf(text, i); name == "fastcgi_pass" && root != "" {
				web.roots[at] = append(web.roots[at], root)
			}
		}
	}
	web.Upstreams = slices.DeleteFunc(web.Upstreams, func(a string) bool {
		servers, ok := upstream[a]
		if !ok {
			servers, ok = upstream[strings.TrimSuffix(a, ":80")]
		}
		for _, to := range servers {
			web.roots[to] = append(web.roots[to], web.roots[a]...)
		}
		return ok
	})
	if !access {
		n.add(Log{Kind: AccessLog, Path: below(n.prefix, n.built["http-log-path"]), Format: "combined",
			How: "nginx's default; " + n.how})
	}
	if !errors {
		n.add(Log{Kind: ErrorLog, Path: below(n.prefix, n.built["error-log-path"]), Format: "error",
			How: "nginx's default; " + n.how})
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
		Kind: AccessLog, Path: below(n.prefix, path), Format: format, Spec: n.service.Nginx.Formats[format],
		RequestTime: strings.Contains(n.service.Nginx.Formats[format], "request_time"),
		How:         "access_log in " + cmp.Or(d.File, n.how),
	}
	conditional := slices.ContainsFunc(d.Words, func(w string) bool { return strings.HasPrefix(w, "if=") })
	switch {
	case conditional: // of some requests only
	case n.twins.block != n.block:
		n.twins.block, n.twins.path = n.block, log.Path
	case n.twins.path != log.Path:
		log.Twin = n.twins.path
	}
	n.addNamed(d, log)
	return true
}

// addNamed adds a log that a directive names.
func (n *nginxFile) addNamed(d nginxconf.Directive, log Log) {
	ok, known := true, true
	if n.mayName != nil {
		ok, known = n.mayName(d.File, log.Path)
	}
	switch name := d.Words[0] + " " + log.Path + " in " + d.File; {
	case ok:
		n.add(log)
	case known:
		n.unopened = append(n.unopened, name)
	default:
		n.unknown = append(n.unknown, name)
	}
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
	n.addNamed(d, Log{Kind: ErrorLog, Path: below(n.prefix, path), Format: level, How: "error_log in " + cmp.Or(d.File, n.how)})
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

// upstream keeps host:port of http://host:port/path or a unix socket, each once, and returns it.
func (n *nginxFile) upstream(at string) string {
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
	return at
}

// Label names a service in a phrase: shop, unit shop.service, pid 1204.
func (s *Service) Label() string {
	name := s.Name
	if s.Unit != "" {
		return fmt.Sprintf("%s, unit %s, pid %d", name, s.Unit, s.PID)
	}
	return fmt.Sprintf("%s, pid %d", name, s.PID)
}
