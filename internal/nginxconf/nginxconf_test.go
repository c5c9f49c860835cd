package nginxconf

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// describe returns a configuration, a directive a line.
func describe(c Config) string {
	var out []string
	for i, d := range c {
		context := ""
		for p := c[i].Parent; p >= 0; p = c[p].Parent {
			context = path.Join(c[p].Name(), context)
		}
		s := fmt.Sprintf("%s:%d %s %s", filepath.Base(d.File), d.Line, context, strings.Join(d.Words, "|"))
		if d.Block {
			s += " {"
		}
		out = append(out, s)
	}
	return strings.Join(out, "\n")
}

func TestParse_Success(t *testing.T) {
	f := func(text string, want ...string) {
		t.Helper()
		c, err := Parse(text, "f")
		if got := describe(c); err != nil || got != strings.Join(want, "\n") {
			t.Errorf("%s\nerr  %v\ngot  %s\nwant %s", text, err, got, strings.Join(want, "\n"))
		}
	}
	f("")
	f("a b;", "f:1  a|b")
	f("http { a 'b c' \"d\\t\\\"e\";\n}", "f:1  http {", "f:1 http a|b c|d\t\"e")
	f("a b # c;\n d; # e", "f:1  a|b|d")
	f("a ${b}c; x{y z;}", "f:1  a|${b}c", "f:1  x {", "f:1 x y|z")
	f("# configuration file /etc/a.conf:\nx 1;\n\n# configuration file /etc/b.conf:\ny {\nz;\n}", "a.conf:1  x|1", "b.conf:1  y {", "b.conf:2 y z")
	f(`location ~ \.php$ { a; }`, `f:1  location|~|\.php$ {`, "f:1 location a")
	f("http {\n log_format main '$a '\n\t\"b\";\n server { access_log /l main; } }",
		"f:1  http {", "f:2 http log_format|main|$a |b", "f:4 http server {", "f:4 http/server access_log|/l|main")
	f("a '\n\n' b;\nc\\\nd;\ne;", "f:1  a|\n\n|b", "f:4  c\\\nd", "f:6  e")
	f(`a '\q\'' "\\";`, `f:1  a|\q'|\`)
}

func TestParse_Failure(t *testing.T) {
	f := func(text, want, says string) {
		t.Helper()
		c, err := Parse(text, "f")
		var syntax *SyntaxError
		if got := describe(c); !errors.As(err, &syntax) || got != want || err.Error() != "nginx configuration f:"+says {
			t.Errorf("%s\ngot  %s, %v\nwant %s, %s", text, got, err, want, says)
		}
	}
	f("a 'b", "f:1  a|b", "1: a quote is not closed")
	f("}}a;", "f:1  a", `1: unexpected "}"`)
	f("a;\n{b;}", "f:1  a\nf:2   {\nf:2  b", `2: unexpected "{"`)
	f("a {\nb;", "f:1  a {\nf:2 a b", `1: the block of "a" is not closed by "}"`)
	f("a {\nb }\nc", "f:1  a {\nf:2 a b\nf:3  c", `2: "b" is not terminated by ";"`)
	f("\n;", "", `2: unexpected ";"`)
}

// write puts files into a directory: their names, each before its text.
func write(t *testing.T, pairs ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for i := 0; i < len(pairs); i += 2 {
		path := filepath.Join(dir, pairs[i])
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(pairs[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestRead(t *testing.T) {
	dir := write(t, "nginx.conf", "http {\n include conf.d/*.conf;\n include log.conf;\n last;\n}\n",
		"conf.d/b.conf", "server { include snippets/x; }", "conf.d/a.conf", "a;", "log.conf", "log_format x y;", "snippets/x", "x;")
	want := "nginx.conf:1  http {\nnginx.conf:2 http include|conf.d/*.conf\na.conf:1 http a\nb.conf:1 http server {\n" +
		"b.conf:1 http/server include|snippets/x\nx:1 http/server x\nnginx.conf:3 http include|log.conf\nlog.conf:1 http log_format|x|y\nnginx.conf:4 http last"
	for _, path := range []string{dir, filepath.Join(dir, "nginx.conf")} {
		c, err := Read(path)
		if got := describe(c); err != nil || got != want {
			t.Errorf("%v\ngot %s\nwant %s", err, got, want)
		}
		if c[5].Depth != 2 {
			t.Errorf("depth %d", c[5].Depth)
		}
	}
}

func TestRead_Failure(t *testing.T) {
	if _, err := Read(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	dir := write(t, "nginx.conf", "include missing;\ninclude nginx.conf;\ninclude [;\ninclude bad;\na;", "bad", "x")
	c, err := Read(dir)
	if n := len(c); n != 6 || err == nil {
		t.Fatalf("%d directives, error %v", n, err)
	}
	for _, want := range []string{"nginx.conf:1: include: ", "missing: no such file", "nginx.conf:2: include: ", "included by itself", `bad:1: "x" is not terminated`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nlacks %q", err, want)
		}
	}
	if strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("errors: %v", err)
	}
}

// A dump has all files in it: what it includes is not read again.
func TestRead_Dump(t *testing.T) {
	dir := write(t, "dump", "# configuration file /x/nginx.conf:\nhttp { include /x/a.conf; }\n\n# configuration file /x/a.conf:\na;\n")
	c, err := Read(filepath.Join(dir, "dump"))
	if got := describe(c); err != nil || got != "nginx.conf:1  http {\nnginx.conf:1 http include|/x/a.conf\na.conf:1  a" {
		t.Errorf("%v\n%s", err, got)
	}
}

// FuzzParse: no panic, no directive without a name or with a parent that follows it,
// and no more bytes than came in.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"a 'b\\", "a ${", "\\", "http { log_format x '$a' \"\\t\"; server { access_log /l x; } }", "}{;", "# configuration file a:\nb {",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, _ := Parse(text, "f")
		n := 0
		for i, d := range c {
			if len(d.Words) == 0 || d.Depth < 0 || d.Parent >= i || d.Parent < 0 != (d.Depth == 0) || d.Line < 0 || d.Line > strings.Count(text, "\n")+1 {
				t.Errorf("%q: %+v", text, d)
			}
			for _, w := range d.Words {
				n += len(w)
			}
		}
		if n > len(text) {
			t.Errorf("%q: %d bytes of words", text, n)
		}
	})
}
