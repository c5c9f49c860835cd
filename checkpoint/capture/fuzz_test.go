package capture

import (
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
)

// Whatever the text, the lines stay, and what is not masked is the text's own.
func FuzzMask(f *testing.F) {
	kinds := []string{KindFile, KindNginx, KindMySQL, KindVCL, KindUnit, KindSchema, KindGit}
	for i, c := range maskCases {
		f.Add(uint8(i), strings.NewReplacer("«", "", "»", "").Replace(c.text))
	}
	f.Fuzz(func(t *testing.T, k uint8, text string) {
		kind := kinds[int(k)%len(kinds)]
		got, n := Mask(kind, text)
		lines, masked := strings.Split(text, "\n"), strings.Split(got, "\n")
		if len(lines) != len(masked) {
			t.Fatalf("%d lines of %d", len(masked), len(lines))
		}
		if strings.Contains(text, kasoku.MaskedSecret) {
			return
		}
		if c := strings.Count(got, kasoku.MaskedSecret); c != n {
			t.Fatalf("%d marks of %d secrets", c, n)
		}
		for i := range lines {
			rest := lines[i]
			for _, part := range strings.Split(masked[i], kasoku.MaskedSecret) {
				at := strings.Index(rest, part)
				if at < 0 {
					t.Fatalf("line %q became %q", lines[i], masked[i])
				}
				rest = rest[at+len(part):]
			}
		}
	})
}

func FuzzParseNginx(f *testing.F) {
	f.Add("# configuration file /etc/nginx/nginx.conf:\nuser www;\n\n# configuration file /etc/nginx/mime.types:\ntypes {}\n\n")
	f.Add("nginx: ok\n# configuration file relative:\n")
	f.Fuzz(func(t *testing.T, out string) {
		n := 0
		for _, p := range parseNginx(out) {
			if !strings.HasPrefix(p.path, "/") {
				t.Fatalf("path %q", p.path)
			}
			n += len(p.path) + len(p.text)
		}
		if n > len(out) {
			t.Fatalf("%d bytes of %d", n, len(out))
		}
	})
}

func FuzzParseLimits(f *testing.F) {
	f.Add("Limit                     Soft Limit           Hard Limit           Units     \nMax open files            1024                 524288               files     \n")
	f.Fuzz(func(t *testing.T, text string) {
		for name, soft := range parseLimits(text) {
			if name == "" || soft == "" || !strings.Contains(text, soft) {
				t.Fatalf("%q %q", name, soft)
			}
		}
	})
}
