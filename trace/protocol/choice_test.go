package protocol

import (
	"testing"

	"github.com/kasoku/kasoku/trace"
)

// TestChoice: what a query chooses is read with the path, by HTTP and by FastCGI; not where it may be cut.
func TestChoice(t *testing.T) {
	f := func(head, want string) {
		t.Helper()
		r, ok := ReadHead([]byte(head))
		if !ok || r.Path+"?"+r.Choice != want {
			t.Errorf("%q: %+v %v, want %q", head, r, ok, want)
		}
	}
	f("GET /i.php?id=7&action=list#x HTTP/1.1\r\nHost: h\r\n\r\n", "/i.php?action=list")
	f("GET http://h/i.php?action=list HTTP/1.1\r\n\r\n", "/i.php?action=list")
	f("GET /i.php?q=kim&page=7 HTTP/1.1\r\n\r\n", "/i.php?")
	f("GET /i.php?action=lis", "/i.php?")
	var asked []trace.Request
	var c FastCGI
	var params []byte
	for _, p := range [][2]string{{"REQUEST_METHOD", "POST"}, {"REQUEST_URI", "/i.php?action=save&id=3"}, {"SCRIPT_NAME", "/i.php"}} {
		params = append(append(append(params, byte(len(p[0])), byte(len(p[1]))), p[0]...), p[1]...)
	}
	record := func(kind byte, content []byte) []byte {
		return append([]byte{1, kind, 0, 1, 0, byte(len(content)), 0, 0}, content...)
	}
	all := append(append(record(fastBegin, make([]byte, 8)), record(fastParams, params)...), record(fastParams, nil)...)
	c.Feed(all, len(all), func(r trace.Request) { asked = append(asked, r) })
	if len(asked) != 1 || asked[0].Path != "/i.php" || asked[0].Choice != "action=save" {
		t.Errorf("%+v", asked)
	}
}
