package initcmd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/config"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

const sitesConf = `{user}
pid "{dir}/nginx.pid"; error_log "{dir}/error.log"; events {}
http { access_log "{dir}/access.log"; server { listen 127.0.0.1:{port} default_server; server_name shop.test; root "{dir}"; include {dir}/shop-snippet; }
  include {dir}/sites*.conf; }`

// TestInit_Sites: of the files of an nginx with many sites those are written that the named one needs,
// and no other's, nor a pattern that has them.
func TestInit_Sites(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{"shop-snippet": "gzip on;\n", "blog-snippet": "gzip off;\n"}
	web := sandboxtest.Nginx(t, sandbox.NginxOptions{Dir: dir, Config: strings.Replace(sitesConf, "include {dir}/shop-snippet;", "", 1)})
	for n := range 2 * mostFiles {
		files[fmt.Sprintf("sites-blog%d.conf", n)] = fmt.Sprintf("server { listen 127.0.0.1:%d; server_name blog%d.test; root %s; include %s; }\n",
			web.Port, n, dir, filepath.Join(dir, "blog-snippet"))
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := web.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	web = sandboxtest.Nginx(t, sandbox.NginxOptions{Dir: dir, Port: web.Port, Config: sitesConf})
	text, _, stderr, err := run(t, "--url", web.URL()+"/")
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	c, err := config.Parse([]byte(text), config.Name)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(c.Capture.Files, " ")
	if !strings.Contains(got, web.ConfigFile) || !strings.Contains(got, "shop-snippet") || strings.Contains(text, "blog") ||
		strings.Contains(got, "*") {
		t.Errorf("files %q", c.Capture.Files)
	}
}
