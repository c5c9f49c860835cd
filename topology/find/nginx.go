package find

import (
	"context"
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

// mostPlaces is how many servers of an upstream, and places that a server block passes
// requests on to, are kept: with more some are not known, as with variables.
const mostPlaces = 256

// webOf returns the server blocks of a configuration, as many as ctx allows. number returns
// the address of a name, or the name.
func webOf(ctx context.Context, conf *topology.NginxConfig, number func(host string) string) members.Web {
	w := members.Web{Version: conf.Version}
	for _, f := range conf.Files {
		w.Configs = append(w.Configs, f.Path)
	}
	upstreams, logs := upstreamsOf(conf.Config), logsByBlock(conf)
	for i, end := 0, 0; i < len(conf.Config) && ctx.Err() == nil; i = max(i+1, end) { // nginx has no server in a server
		if d := &conf.Config[i]; d.Block && d.Words[0] == "server" && len(d.Words) == 1 {
			end = endOf(conf.Config, i)
			b := blockOf(conf.Config[:end], i, upstreams, number)
			b.Logs = logs.of(conf, i, end)
			b.At = kasoku.ConfigBlock{File: d.File, Line: d.Line}
			w.Blocks = append(w.Blocks, b)
		}
	}
	return w
}

// Answering returns the server blocks of some texts of nginx's configuration that answer the load,
// by its targets as [Target] writes them; nil where that is not known.
func Answering(ctx context.Context, conf []nginxconf.Config, targets []string) (out []kasoku.ConfigBlock) {
	w := members.Web{}
	for _, one := range conf {
		for i := range one {
			if d := &one[i]; d.Block && d.Words[0] == "server" && len(d.Words) == 1 {
				b := blockOf(one[:endOf(one, i)], i, nil, func(host string) string { return host })
				b.At = kasoku.ConfigBlock{File: d.File, Line: d.Line}
				w.Blocks = append(w.Blocks, b)
			}
		}
	}
	asked := map[string]bool{} // a load may have a thousand URLs of one site
	for _, target := range targets {
		at, name, _ := strings.Cut(target, " ")
		scheme, rest, _ := strings.Cut(at, "://")
		host, _, _ := strings.Cut(rest, "/")
		if key := scheme + "://" + host + " " + name; asked[key] {
			continue
		} else if rest != "" {
			asked[key] = true
		}
		p := placeOf(ctx, target)
		if p.Address == "" {
			return nil
		}
		if host, port, err := net.SplitHostPort(p.Address); err == nil && host != "localhost" && net.ParseIP(host) == nil {
			p.Address = net.JoinHostPort("127.0.0.1", port) // a name that is not known here: it is asked by that
		}
		blocks, known := w.Answering(p)
		if !known {
			return nil
		}
		for i := range blocks {
			out = appendNew(out, blocks[i].At)
		}
	}
	return out
}

// endOf returns where a block ends.
func endOf(conf nginxconf.Config, at int) int {
	end := at + 1
	for end < len(conf) && conf[end].Depth > conf[at].Depth {
		end++
	}
	return end
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
				if all := out[d.Words[1]]; len(all) <= mostPlaces {
					out[d.Words[1]] = appendNew(all, e.Words[1])
				}
			}
		}
	}
	return out
}

// blockOf reads one server block.
func blockOf(conf nginxconf.Config, at int, upstreams map[string][]string, number func(string) string) members.Block {
	b := members.Block{}
	passed := map[string]bool{}
	for i := at + 1; i < len(conf) && conf[i].Depth > conf[at].Depth; i++ {
		d := &conf[i]
		switch name := d.Words[0]; {
		case len(d.Words) < 2:
		case name == "listen":
			b.Listens = append(b.Listens, listensOf(d.Words[1:], number)...)
		case name == "server_name":
			b.Names = append(b.Names, d.Words[1:]...)
		case slices.Contains(passes, name) && !passed[d.Words[1]]:
			passed[d.Words[1]] = true
			passTo(&b, d.Words[1], upstreams, number)
		}
	}
	if len(b.Listens) == 0 { // nginx's default of root, of others
		b.Listens = append(listensOf([]string{"80"}, number), listensOf([]string{"8000"}, number)...)
	}
	return b
}

// logDirectives name logs; built is the argument of nginx's configure for the default.
var logDirectives = [2]struct{ name, built string }{{"access_log", "http-log-path"}, {"error_log", "error-log-path"}}

// mostLogs is how many logs of one block are kept: with more they are not known.
const mostLogs = 256

// A logList is the logs that one directive names in a block.
type logList struct {
	paths   []string
	unknown bool // a path is made of variables, there are too many, or one may be no log
}

// take adds what a directive names.
func (l *logList) take(conf *topology.NginxConfig, d *nginxconf.Directive) {
	path := d.Words[1]
	switch {
	case path == "off" || path == "stderr" || strings.HasPrefix(path, "syslog:") || strings.HasPrefix(path, "memory:"):
	case strings.Contains(path, "$") || len(l.paths) >= mostLogs:
		l.unknown = true
	default:
		ok, known := conf.MayName(d.File, conf.Resolve(path))
		if l.unknown = l.unknown || !known; ok {
			l.paths = appendNew(l.paths, conf.Resolve(path))
		}
	}
}

// blockLogs are the logs that stand in each block itself, by its index, -1 for none: of
// each of the logDirectives.
type blockLogs [2]map[int]*logList

func logsByBlock(conf *topology.NginxConfig) blockLogs {
	out := blockLogs{{}, {}}
	for i := range conf.Config {
		d := &conf.Config[i]
		for k, of := range logDirectives {
			if d.Words[0] == of.name && len(d.Words) > 1 {
				if out[k][d.Parent] == nil {
					out[k][d.Parent] = new(logList)
				}
				out[k][d.Parent].take(conf, d)
			}
		}
	}
	return out
}

// of returns the logs that a server block writes: its own, those of its locations, and
// what it inherits where it has none. It is empty where one of them is not known.
//
// Source: nginx's documentation, access_log and error_log: "inherited from the previous
// configuration level if not defined on the current one".
func (l blockLogs) of(conf *topology.NginxConfig, at, end int) []string {
	var all logList
	for k, of := range logDirectives {
		for i := at + 1; i < end; i++ {
			if d := &conf.Config[i]; d.Words[0] == of.name && len(d.Words) > 1 {
				all.take(conf, d)
			}
		}
		from := at
		for l[k][from] == nil && from >= 0 {
			from = conf.Config[from].Parent
		}
		switch inherited := l[k][from]; {
		case inherited == nil:
			if built := conf.Built[of.built]; built != "" {
				all.paths = appendNew(all.paths, conf.Resolve(built))
			}
		case from != at:
			all.unknown = all.unknown || inherited.unknown
			for _, path := range inherited.paths {
				all.paths = appendNew(all.paths, path)
			}
		}
	}
	if all.unknown {
		return nil
	}
	return all.paths
}

// listensOf reads the words of a listen directive.
//
// Source: nginx's documentation, listen: "If only address is given, the port 80 is used".
func listensOf(words []string, number func(string) string) (out []members.Listen) {
	l := members.Listen{Both: slices.Contains(words, "ipv6only=off"),
		Default: slices.Contains(words, "default_server") || slices.Contains(words, "default")}
	if path, ok := strings.CutPrefix(words[0], "unix:"); ok {
		l.Path = path
		return []members.Listen{l}
	}
	host, ports, err := net.SplitHostPort(words[0])
	first, last, ok := portRange(words[0])
	switch {
	case err == nil:
		first, last, _ = portRange(ports)
	case ok:
		host = "*"
	default:
		host, first, last = strings.Trim(words[0], "[]"), 80, 80
	}
	at := make([]netip.Addr, 1, 2)
	switch host {
	case "*":
		at[0] = netip.IPv4Unspecified()
	case "localhost":
		at = append(at[:0], netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback())
	default:
		at[0], _ = netip.ParseAddr(number(host)) // a name of no known address has the zero Addr
	}
	for _, a := range at {
		l.At, l.Last = netip.AddrPortFrom(a, first), last
		out = append(out, l)
	}
	return out
}

// portRange reads a port, or the first and the last of some: "8000-8010".
func portRange(text string) (first, last uint16, ok bool) {
	from, to, several := strings.Cut(text, "-")
	if !several {
		to = from
	}
	a, err1 := strconv.ParseUint(from, 10, 16)
	b, err2 := strconv.ParseUint(to, 10, 16)
	return uint16(a), uint16(b), err1 == nil && err2 == nil
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
		if strings.Contains(to, "$") || len(b.Upstreams) >= mostPlaces {
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
