package webserver

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestLocationOf: in servers made at random, with locations in locations, the location is the
// one that nginx itself takes.
func TestLocationOf(t *testing.T) {
	m := &locationMaker{random: rand.New(rand.NewPCG(1, 2))}
	var servers []string
	var conf strings.Builder
	conf.WriteString("{user}\npid \"{dir}/nginx.pid\";\nevents { worker_connections 64; }\nhttp {\naccess_log off;\n")
	for i := range 40 {
		servers = append(servers, m.block(2, "/"))
		fmt.Fprintf(&conf, "server { listen 127.0.0.1:{port}; server_name s%d; %s}\n", i, servers[i])
	}
	nginx := sandboxtest.Nginx(t, sandbox.NginxOptions{Config: conf.String() + "}\n"})
	for i, text := range servers {
		w, err := ConfigOf(&kasoku.Recording{Configs: []kasoku.Config{{Kind: "nginx", Name: "/n", Text: "http { server {\n" + text + "}}"}}})
		if err != nil {
			t.Fatal(err)
		}
		for _, uri := range []string{"/", "/a", "/a/", "/a/a", "/a/x.css", "/a/b", "/b", "/b/", "/b/c", "/b/c/a", "/b/c/x.json",
			"/a/a/x.php", "/c.php", "/b/a/b", "/a/b/c"} {
			got := ""
			if l, ok := w.LocationOf(uri); ok {
				got = w.Value(l.At, "add_header")
			}
			if want := takenBy(t, nginx.URL()+uri, fmt.Sprintf("s%d", i)); got != want {
				t.Errorf("%s: %q, nginx takes %q\n%s", uri, got, want, text)
			}
		}
	}
	w, err := ConfigOf(&kasoku.Recording{Configs: []kasoku.Config{{Kind: "nginx", Name: "/n",
		Text: `http { server { location /a { proxy_pass http://app; } location ~ ^/(?!b) { proxy_pass http://other; } } }`}}})
	if err != nil {
		t.Fatal(err)
	}
	if l, ok := w.LocationOf("/a"); ok {
		t.Errorf("a pattern that is not understood: %+v", l)
	}
}

// takenBy returns the name of the location that answers.
func takenBy(t *testing.T, url, host string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = host
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		t.Fatal(err)
	}
	for name := range res.Header {
		if number, ok := strings.CutPrefix(name, "X-"); ok {
			return "X-" + number
		}
	}
	return ""
}

// A locationMaker writes locations, each with a header of its own number.
type locationMaker struct {
	random *rand.Rand
	made   int
}

// block returns locations within the paths that begin with base, and within each some more.
func (m *locationMaker) block(depth int, base string) string {
	var out strings.Builder
	var had []string
	below := strings.TrimSuffix(base, "/")
	for range 1 + m.random.IntN(4) {
		modifier, path := "", below+[]string{"/", "/a", "/a/", "/b", "/b/c", "/a/x.css"}[m.random.IntN(6)]
		switch m.random.IntN(6) {
		case 0:
			modifier, path = "~ ", []string{`\.php$`, `\.json$`, `\.css$`}[m.random.IntN(3)]
		case 1:
			modifier, path = "~* ", "^"+below+"/(A|b)"
		case 2:
			modifier = "= "
		case 3:
			modifier = "^~ "
		}
		if m.made++; strings.Contains(strings.Join(had, " "), path) {
			continue // two of one name are refused
		}
		had = append(had, path)
		fmt.Fprintf(&out, "location %s%s { add_header X-%d 1; return 200;\n", modifier, path, m.made)
		if depth > 0 && modifier != "= " && modifier[:min(len(modifier), 1)] != "~" {
			out.WriteString(m.block(depth-1, path))
		}
		out.WriteString("}\n")
	}
	return out.String()
}
