package topology

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku/internal/nginxconf"
)

// A CacheServer is a Redis, or a server that speaks its protocol.
type CacheServer struct {
	Address  string // host:port, a path or rediss://host:port, where it answers this host; empty: nowhere
	Password bool   // it wants one
	TLS      bool   // it answers over TLS alone
	Stranger bool   // over TLS it wants a certificate of its clients, and said nothing
}

// A VarnishServer is a Varnish whose counters varnishstat can read.
type VarnishServer struct {
	Name    string // of the instance, varnishd's -n; empty: the default one
	Answers bool   // varnishstat gave its numbers
}

// A CarbonServer is a carbon or a go-carbon.
type CarbonServer struct {
	Query   string // host:port where its cache is asked; empty: not known
	Storage string // directory of its whisper files; empty: not known
}

// findStatusPages finds where services publish numbers about themselves, and asks whether they do.
func (l *looker) findStatusPages() {
	for _, s := range l.subjects {
		switch s.Kind {
		case Redis:
			s.Redis = l.ask.of(s.Service).redis(s.Service)
		case Varnish:
			s.Varnish = l.ask.of(s.Service).varnish(s, l.found.User)
		case Carbon:
			s.Carbon = l.view.carbon(s)
		}
	}
}

// An asker asks services on this host. What is nil is not asked.
type asker struct {
	view *view
	own  func(*Service) bool // nil: all but applications
	run  func(ctx context.Context, name string, args ...string) ([]byte, error)
	get  func(ctx context.Context, url string) (int, []byte, error)
	ask  func(ctx context.Context, network, address, text string) (string, error)
}

// of returns who asks a service: of one that may not be asked, no one does.
func (a asker) of(s *Service) asker {
	if a.own == nil && s.Kind == App || a.own != nil && !a.own(s) {
		return asker{view: a.view}
	}
	return a
}

// redis asks a Redis on loopback, or on its socket, for a sign of life.
func (a asker) redis(s *Service) *CacheServer {
	out := &CacheServer{}
	if a.ask == nil {
		return out
	}
	for _, at := range s.Listen {
		if at.Network == "unix" && (!strings.HasPrefix(at.Address, "/") || silentAt(at.Address) != nil) {
			continue
		}
		address := at.Address
		if at.Private || at.Network == "tcp" && !at.Loopback {
			if address = onLoopback(at); at.Private || address == "" {
				continue
			}
		}
		said, err := a.ask(a.view.ctx, at.Network, address, "PING\r\n")
		if err != nil && at.Network == "tcp" {
			if said, err = a.ask(a.view.ctx, overTLS, address, "PING\r\n"); err == nil {
				out.TLS, address = true, "rediss://"+address
			}
		}
		switch {
		case err != nil:
			continue
		case out.TLS && said == "":
			out.Stranger = true
		case strings.HasPrefix(said, "+PONG"):
		case strings.HasPrefix(said, "-NOAUTH"):
			out.Password = true
		default:
			out.TLS = false
			continue
		}
		out.Address = address
		return out
	}
	return out
}

// onLoopback is how this host reaches a listener on all addresses.
func onLoopback(at Listener) string {
	a, err := netip.ParseAddrPort(at.Address)
	if err != nil || !a.Addr().IsUnspecified() {
		return ""
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(at.Port))
}

// varnish runs varnishstat for one counter; user is who asks.
func (a asker) varnish(s *subject, user string) *VarnishServer {
	out := &VarnishServer{}
	for i, arg := range s.args {
		if arg == "-n" && i+1 < len(s.args) {
			out.Name = s.args[i+1]
		} else if name, ok := strings.CutPrefix(arg, "-n"); ok && name != "" {
			out.Name = name
		}
	}
	if a.run == nil || s.Container != "" || s.elsewhere() || strings.HasPrefix(out.Name, "-") {
		return out
	}
	args := []string{"-1", "-f", "MAIN.uptime"}
	if out.Name != "" {
		args = append(args, "-n", out.Name)
	}
	said, err := a.run(a.view.ctx, "varnishstat", args...)
	if err == nil && bytes.Contains(said, []byte("MAIN.uptime")) {
		out.Answers = true
	} else {
		a.view.note("numbers of "+s.Label(), "varnishstat does not show them",
			"members of its group may ask: usermod -aG varnish "+user)
	}
	return out
}

// carbonConfigs are where carbon's configuration lies when its call does not say.
var carbonConfigs = map[bool][]string{
	false: {"/etc/carbon/carbon.conf", "/opt/graphite/conf/carbon.conf"},
	true:  {"/etc/go-carbon/go-carbon.conf"},
}

// carbon reads where a carbon-cache or a go-carbon keeps its series and lets its
// cache be asked.
func (v *view) carbon(s *subject) *CarbonServer {
	out := &CarbonServer{}
	isGo := strings.HasPrefix(s.Name, "go-carbon")
	files := carbonConfigs[isGo]
	for i, a := range s.args {
		for _, name := range []string{"-config", "-c", "--config"} {
			if a == name && i+1 < len(s.args) {
				files = []string{below(s.Dir, s.args[i+1])}
			} else if path, ok := strings.CutPrefix(a, name+"="); ok {
				files = []string{below(s.Dir, path)}
			}
		}
	}
	if s.Container != "" || s.elsewhere() {
		v.note("configuration of "+s.Label(), "it sees another file system than this host's",
			"run kasoku in its container")
		return out
	}
	for _, file := range files {
		text, err := v.filesOf(s).read(file)
		if err != nil {
			v.unreadable(file, err)
			continue
		}
		s.Config = append(s.Config, file)
		query := ""
		out.Storage, query = carbonSettings(text, isGo)
		if storage := out.Storage; storage != "" && !v.filesOf(s).isDir(storage) {
			out.Storage = ""
		}
		for _, at := range s.Listen {
			if strconv.Itoa(at.Port) != query || at.Private {
				continue
			}
			out.Query = at.Address
			if !at.Loopback {
				out.Query = onLoopback(at)
			}
			break
		}
		break
	}
	return out
}

// carbonSettings reads the directory of whisper files and the port of the cache from
// carbon.conf, or from go-carbon.conf. A port that is not there is the default, as is
// go-carbon's directory.
func carbonSettings(text []byte, isGo bool) (storage, port string) {
	section := ""
	say := map[string]string{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		if line[0] == '[' {
			section = strings.Trim(line, "[]")
			continue
		}
		if name, value, ok := strings.Cut(line, "="); ok {
			say[section+"."+strings.TrimSpace(name)] = strings.Trim(strings.TrimSpace(value), `"'`)
		}
	}
	if isGo {
		if say["carbonlink.enabled"] != "false" {
			port = cmp.Or(say["carbonlink.listen"], ":7002")
			port = port[strings.LastIndexByte(port, ':')+1:]
		}
		return cmp.Or(say["whisper.data-dir"], "/var/lib/graphite/whisper/"), port
	}
	storage = say["cache.LOCAL_DATA_DIR"]
	if storage == "" && say["cache.STORAGE_DIR"] != "" {
		storage = filepath.Join(say["cache.STORAGE_DIR"], "whisper")
	}
	if storage != "" {
		storage = filepath.Clean(storage)
	}
	if port = say["cache.CACHE_QUERY_PORT"]; port == "" {
		port = "7002"
	}
	return storage, port
}

// mostStatusPages is how many directives of stub_status, and addresses of each, are asked.
const mostStatusPages = 8

// stubStatus finds the page of stub_status of an nginx, asks it on loopback and returns
// the URL that answered; empty when none did.
func (a asker) stubStatus(s *Service, text nginxconf.Config) string {
	left := mostStatusPages
	for i, d := range text {
		if d.Words[0] != "stub_status" || a.view.ctx.Err() != nil {
			continue
		}
		if left--; left < 0 {
			a.view.note("stub_status of "+s.Label(), fmt.Sprintf("of many only the first %d are asked", mostStatusPages), "")
			break
		}
		urls := statusURLs(text, i)
		if len(urls) == 0 {
			a.view.note("stub_status of "+s.Label(), "it stands where no plain URL on loopback leads to", "")
			continue
		}
		if a.get == nil {
			continue
		}
		for _, url := range urls {
			status, body, err := a.get(a.view.ctx, url)
			if err == nil && status == http.StatusOK && bytes.HasPrefix(body, []byte("Active connections:")) {
				return url
			}
		}
		a.view.note("stub_status of "+s.Label(), "it does not answer at "+strings.Join(urls, ", "), "")
	}
	return ""
}

// serves asks the loopback ports of a program for a page with a word in it. Ports
// that are open to other hosts are left alone.
func (a asker) serves(s *Service, path, word string) string {
	for _, at := range s.Listen {
		if at.Port == 0 || at.Private || !at.Loopback {
			continue
		}
		url := "http://" + at.Address + path
		status, body, err := a.get(a.view.ctx, url)
		if err == nil && status == http.StatusOK && bytes.Contains(body, []byte(word)) {
			return url
		}
	}
	return ""
}

// pprof asks a Go program for its profiles.
func (a asker) pprof(s *Service) string { return a.serves(s, "/debug/pprof/", "goroutine") }

// vars asks a Go program for what package expvar publishes: at least the program's
// command line and memory.
func (a asker) vars(s *Service) string { return a.serves(s, "/debug/vars", `"cmdline"`) }

// statusURLs are the URLs on loopback of the location that a directive stands in.
func statusURLs(text nginxconf.Config, at int) []string {
	path, server := "", -1
	for i := text[at].Parent; i >= 0; i = text[i].Parent {
		switch w := text[i].Words; w[0] {
		case "location":
			if path == "" && len(w) == 2 && strings.HasPrefix(w[1], "/") {
				path = w[1]
			} else if path == "" && len(w) == 3 && (w[1] == "=" || w[1] == "^~") {
				path = w[2]
			}
		case "server":
			if server < 0 {
				server = i
			}
		}
	}
	if !strings.HasPrefix(path, "/") || server < 0 {
		return nil
	}
	var out []string
	listens := false
	for _, d := range text {
		if len(out) == mostStatusPages {
			break
		}
		if d.Parent != server || d.Words[0] != "listen" || len(d.Words) < 2 {
			continue
		}
		listens = true
		host := listenHost(d.Words[1])
		if host == "" || slices.Contains(d.Words, "ssl") || slices.Contains(d.Words, "quic") {
			continue
		}
		if url := "http://" + host + path; !slices.Contains(out, url) {
			out = append(out, url)
		}
	}
	if !listens {
		out = append(out, "http://127.0.0.1"+path) // nginx's default
	}
	return out
}

// listenHost is the host of a URL that reaches what nginx listens at from this host:
// 80, *:80, 127.0.0.1:8080, [::]:80; empty for others.
func listenHost(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		host, port = listen, "80"
		if _, err := strconv.ParseUint(listen, 10, 16); err == nil {
			host, port = "", listen
		}
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return ""
	}
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	switch {
	case host == "" || host == "*" || host == "localhost" || err == nil && a.IsUnspecified():
		host = "127.0.0.1"
	case err != nil || !a.IsLoopback():
		return ""
	default:
		host = a.String()
		if a.Is6() {
			host = "[" + host + "]"
		}
	}
	if port == "80" {
		return host
	}
	return host + ":" + port
}

// overTLS is what a network is called that is asked over TLS.
const overTLS = "tls"

// askLoopback connects, sends a text and returns the start of the answer. Over TLS any
// certificate will do, since nothing secret is sent, and an empty answer counts as one,
// since the handshake succeeded.
func askLoopback(ctx context.Context, network, address, text string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 300*time.Millisecond) // loopback answers in one
	defer cancel()
	var d net.Dialer
	secure := network == overTLS
	if secure {
		network = "tcp"
	}
	conn, err := d.DialContext(ctx, network, address)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if secure {
		over := tls.Client(conn, &tls.Config{InsecureSkipVerify: true})
		if err := over.HandshakeContext(ctx); err != nil {
			return "", err
		}
		conn = over
	}
	deadline, _ := ctx.Deadline()
	if err := conn.SetDeadline(deadline); err != nil {
		return "", err
	}
	if _, err := conn.Write([]byte(text)); err != nil {
		return "", err
	}
	var b [256]byte
	n, err := conn.Read(b[:])
	if secure {
		err = nil
	}
	return string(b[:n]), err
}
