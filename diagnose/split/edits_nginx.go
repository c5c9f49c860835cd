package split

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/internal/nginxconf"
)

// listens has an application listen where other hosts reach it.
func (e *editor) listens(to *Member, x *Edge) {
	at := x.Of.At
	if at.Network == "tcp" && anyAddress(at.Address) {
		return
	}
	for _, k := range e.hostsOf(to) {
		web := e.hostsOf(&e.Service.Members[x.From])
		if slices.Equal(web, []int{k}) {
			continue
		}
		port := at.Port()
		text := fmt.Sprintf("# %s listens at %s, which other hosts do not reach: %s:%d instead", to.Of.Program,
			at.Address, e.address(k), port)
		if at.Network == "unix" {
			text = fmt.Sprintf("# %s listens at the socket %s, which other hosts do not reach: at %s and a port "+
				"instead", to.Of.Program,
				at.Address, e.address(k))
		}
		e.add(Edit{rank: rankListen, Host: e.Hosts[k].Name, Title: to.Of.Program + " listens at the private address",
			Where: "in the environment or the configuration of " + to.Of.Program, Text: text +
				"\n", Back: "the value of before, and a restart"})
	}
}

// anyAddress reports whether a listener is open to all interfaces, or to one that is no loopback.
func anyAddress(address string) bool {
	host, _, err := net.SplitHostPort(address)
	ip := net.ParseIP(host)
	return err == nil && (host == "" || host == "*" || ip != nil && !ip.IsLoopback())
}

// upstream has the web server pass requests on to the hosts of an application.
func (e *editor) upstream(web, app *Member, x *Edge) {
	var servers []string
	for _, k := range e.hostsOf(app) {
		port := x.Of.At.Port()
		if port == 0 {
			port = 8000
		}
		host := e.address(k)
		if slices.Contains(e.hostsOf(web), k) {
			host = "127.0.0.1"
			if a, _, err := net.SplitHostPort(x.Of.At.Address); err == nil && net.ParseIP(a) != nil &&
				!net.ParseIP(a).IsUnspecified() {
				host = a
			}
		}
		servers = append(servers, net.JoinHostPort(host, strconv.Itoa(port)))
	}
	title := web.Of.Program + " passes requests on to " + strings.Join(servers, " and ")
	found := false
	for i := range e.rec.Configs {
		c := &e.rec.Configs[i]
		if c.Kind != "nginx" || c.Host != web.Of.Host && c.Host != "" || !c.Known() || c.Note != "" ||
			!safeName().MatchString(c.Name) {
			continue
		}
		text, ok := passTo(c.Text, x.Of.At, servers)
		if !ok {
			continue
		}
		if _, err := nginxconf.Parse(text, c.Name); err != nil {
			continue
		}
		found = true
		hunks, _, _ := compare.Unified(c.Text, text)
		e.add(Edit{rank: rankPass, Host: e.Hosts[web.Host].Name, Title: title, File: c.Name, Patch: true,
			Text: "--- " + c.Name + "\n+++ " + c.Name + "\n" +
				hunks, Check: "nginx -t", Apply: "nginx -s reload", Back: "patch -R with the same patch, and " +
				"nginx -s reload",
			Note: maskedText(c)})
	}
	if !found {
		e.add(Edit{rank: rankPass, Host: e.Hosts[web.Host].Name, Title: title,
			Where: "in the configuration of " + web.Of.Program, Check: "nginx -t",
			Text: "upstream app {\n    server " + strings.Join(servers, ";\n    server ") + ";\n    keepalive 64;\n}\n",
			Back: "the lines of before, and a reload", Note: "Which lines pass requests on to " + x.Of.At.Address +
				" is not in the run."})
	}
}

func maskedText(c *kasoku.Config) string {
	if c.Masked > 0 {
		return "Secrets of the file are masked in the lines around."
	}
	return ""
}

// passTo returns a configuration whose lines that pass requests on to a listener name servers instead; false
// where no line does. Of several servers, a proxy_pass with an address gets the first alone unless it names an
// upstream.
func passTo(text string, at kasoku.Listener, servers []string) (string, bool) {
	conf, err := nginxconf.Parse(text, "")
	if err != nil {
		return "", false
	}
	lines := strings.SplitAfter(text, "\n")
	changed := false
	for i := range conf {
		d := &conf[i]
		if len(d.Words) < 2 || d.Line < 1 || d.Line > len(lines) {
			continue
		}
		upstream := d.Name() == "server" && !d.Block && d.Parent >= 0 && conf[d.Parent].Name() == "upstream"
		pass := strings.HasSuffix(d.Name(), "_pass")
		token, ok := leads(d.Words[1], at)
		if !ok || !upstream && !pass {
			continue
		}
		line := &lines[d.Line-1]
		if !strings.Contains(*line, token) {
			continue
		}
		switch now, ok := severalServers(*line, token, servers); {
		case len(servers) == 1:
			*line = strings.Replace(*line, token, servers[0], 1)
		case upstream && ok:
			*line = now
		default:
			continue
		}
		changed = true
	}
	return strings.Join(lines, ""), changed
}

// severalServers returns a line with its directive "server" of an address once for each of some servers; false
// where not all of the directive is in the line.
func severalServers(line, token string, servers []string) (string, bool) {
	at := strings.Index(line, token)
	from := strings.LastIndex(line[:at], "server")
	end := strings.IndexByte(line[at:], ';')
	if from < 0 || end < 0 {
		return "", false
	}
	whole := line[from : at+end+1]
	if strings.TrimSpace(line[:from]) == "" { // a line of its own: so is each, with what is said after it
		whole = line
	}
	var out strings.Builder
	for i, s := range servers {
		if i > 0 && whole != line {
			out.WriteString(" ")
		}
		out.WriteString(strings.Replace(whole, token, s, 1))
	}
	return strings.Replace(line, whole, out.String(), 1), true
}

// leads returns the part of an address in a configuration that is the listener.
func leads(word string, at kasoku.Listener) (token string, ok bool) {
	if at.Network == "unix" {
		token = "unix:" + at.Address
		return token, strings.Contains(word, token)
	}
	port := strconv.Itoa(at.Port())
	host, _, _ := net.SplitHostPort(at.Address)
	for _, h := range []string{host, "127.0.0.1", "localhost", "[::1]", "0.0.0.0"} {
		token := h + ":" + port
		if _, after, found := strings.Cut(word, token); h != "" && found && (after == "" || after[0] < '0' ||
			after[0] > '9') {
			return token, true
		}
	}
	return "", false
}
