package nginxconf

import (
	"fmt"
	"strings"
	"testing"
)

// FuzzWithout: what is left can be read, and all of it stands in its line with its words.
func FuzzWithout(f *testing.F) {
	for _, text := range []string{
		before, "server{a b;}server{}", "# theirs\nserver { # one\n listen 1;\n} # end\nserver {\n listen 2;\n}\n",
		"http {\n # a\n # b\n server {\n  if ($x) { return 503; }\n } server { c d; }\n}", "a \"x;\ny\"; server {\n}", "server { a 'b\n}';\n}#x\r\nc;",
	} {
		f.Add(text, uint8(0))
		f.Add(text, uint8(1))
	}
	f.Fuzz(func(t *testing.T, text string, which uint8) {
		c, err := Parse(text, "")
		if err != nil {
			return
		}
		gone := func(c Config, i int) bool { return c[i].Words[0] == "server" && uint8(i%2) == which%2 }
		got, err := Without(text, gone, "left out")
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		var want []string
		inside := map[int]bool{}
		for i, d := range c {
			if inside[i] = gone(c, i) || d.Parent >= 0 && inside[d.Parent]; !inside[i] {
				want = append(want, fmt.Sprintf("%d %q", d.Line, d.Words))
			}
		}
		left, err := Parse(got, "")
		var have []string
		for _, d := range left {
			have = append(have, fmt.Sprintf("%d %q", d.Line, d.Words))
		}
		if err != nil || strings.Join(have, "\n") != strings.Join(want, "\n") || strings.Count(got, "\n") != strings.Count(text, "\n") {
			t.Fatalf("%q: %v\nleft %q\nhas  %s\nwant %s", text, err, got, have, want)
		}
	})
}
