package find

import (
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/nginxconf"
	"github.com/kasoku/kasoku/topology"
	"github.com/kasoku/kasoku/topology/members"
)

// passes are the directives by which nginx passes requests on.
var passes = []string{"proxy_pass", "fastcgi_pass", "uwsgi_pass", "scgi_pass", "grpc_pass",
	"memcached_pass", "redis_pass"}

// webOf returns the server blocks of a configuration. number returns the address of a
// name, or the name.
func webOf(conf *topology.NginxConfig, number func(host string) string) members.Web {
	w := members.Web{Version: conf.Version}
	for _, f := range conf.Files {
		w.Configs = append(w.Configs, f.Path)
	}
	upstreams := upstreamsOf(conf.Config)
	for i := range conf.Config {
		if d := &conf.Config[i]; d.Block && d.Words[0] == "server" && len(d.Words) == 1 {
			b := blockOf(conf.Config, i, upstreams, number)
			b.Logs = logsOf(conf, i)
			b.At = kasoku.ConfigBlock{File: d.File, Line: d.Line}
			w.Blocks = append(w.Blocks, b)
		}
	}
	return w
}

// upstreamsOf returns the servers of each upstream block.
func upstreamsOf(conf nginxconf.Config) map[string][]string {
	out := map[string][]string{}
	for i := range conf {
		d := &conf[i]
		if !d.Block || d.Words[0] != "upstream" || len(d.Words) < 2 {
			continue
		}
		for j := i + 1; j < len(conf) && conf[j].Depth > d.Depth; j++ {
			if e := &conf[j]; e.Words[0] == "server" && len(e.Words) > 1 && !slices.Contains(e.Words, "down") {
				out[d.Words[1]] = append(out[d.Words[1]], e.Words[1])
			}
		}
	}
	return out
}

// blockOf reads one server block.
func blockOf(conf nginxconf.Config, at int, upstreams map[string][]string, number func(string) string) members.Block {
	b := members.Block{}
	listens := false
	for i := at + 1; i < len(conf) && conf[i].Depth > conf[at].Depth; i++ {
		d := &conf[i]
		switch name := d.Words[0]; {
		case len(d.Words) < 2:
		case name == "listen":
			listens = true
			if port := listenPort(d.Words[1]); port != 0 && !slices.Contains(b.Ports, port) {
				b.Ports = append(b.Ports, port)
			}
			b.Default = b.Default || slices.Contains(d.Words[2:], "default_server") || slices.Contains(d.Words[2:], "default")
		case name == "server_name":
			b.Names = append(b.Names, d.Words[1:]...)
		case slices.Contains(passes, name):
			passTo(&b, d.Words[1], upstreams, number)
		}
	}
	if !listens {
		b.Ports = []int{80, 8000} // the default of root, of others
	}
	return b
}

// logsOf returns the logs that a server block writes: its own, those of its locations, and
// what it inherits where it has none. It is empty where one of them is not known.
//
// Source: nginx's documentation, access_log and error_log: "inherited from the previous
// configuration level if not defined on the current one".
func logsOf(conf *topology.NginxConfig, at int) []string {
	depth := conf.Config[at].Depth
	var out []string
	unknown := false
	for _, name := range []string{"access_log", "error_log"} {
		own := false
		take := func(d *nginxconf.Directive) {
			path := d.Words[1]
			switch {
			case path == "off" || path == "stderr" || strings.HasPrefix(path, "syslog:") || strings.HasPrefix(path, "memory:"):
			case strings.Contains(path, "$"):
				unknown = true
			default:
				out = appendNew(out, conf.Resolve(path))
			}
		}
		for i := at + 1; i < len(conf.Config) && conf.Config[i].Depth > depth; i++ {
			if d := &conf.Config[i]; d.Words[0] == name && len(d.Words) > 1 {
				own = own || d.Depth == depth+1
				take(d)
			}
		}
		for outer := depth; outer >= 0 && !own; outer-- {
			for i := range conf.Config {
				if d := &conf.Config[i]; d.Words[0] == name && len(d.Words) > 1 && d.Depth == outer {
					own = true
					take(d)
				}
			}
		}
		if built := conf.Built[map[string]string{"access_log": "http-log-path", "error_log": "error-log-path"}[name]]; !own && built != "" {
			out = appendNew(out, conf.Resolve(built))
		}
	}
	if unknown {
		return nil
	}
	return out
}

// listenPort returns the port of a listen directive's first word, 0 for a Unix socket.
func listenPort(word string) int {
	if strings.HasPrefix(word, "unix:") {
		return 0
	}
	if n, err := strconv.Atoi(word[strings.LastIndexByte(word, ':')+1:]); err == nil {
		return n
	}
	return 80
}

// passTo adds what a request is passed on to.
func passTo(b *members.Block, target string, upstreams map[string][]string, number func(string) string) {
	port := "80"
	if scheme, rest, ok := strings.Cut(target, "://"); ok {
		target = rest
		if scheme == "https" || scheme == "grpcs" {
			port = "443"
		}
	}
	if !strings.HasPrefix(target, "unix:") {
		target, _, _ = strings.Cut(target, "/")
	}
	all, ok := upstreams[target]
	if !ok {
		all = []string{target}
	}
	for _, to := range all {
		if strings.Contains(to, "$") {
			b.Variable = true
			continue
		}
		if path, ok := strings.CutPrefix(to, "unix:"); ok {
			path, _, _ = strings.Cut(path, ":")
			b.Upstreams = appendNew(b.Upstreams, members.Place{Network: "unix", Address: path})
			continue
		}
		host, p, err := net.SplitHostPort(to)
		if err != nil {
			host, p = to, port
		}
		host = number(host)
		if _, err := netip.ParseAddr(host); err != nil && host != "localhost" {
			b.Variable = true // a name that is not known here
			continue
		}
		b.Upstreams = appendNew(b.Upstreams, members.Place{Network: "tcp", Address: net.JoinHostPort(host, p)})
	}
}
