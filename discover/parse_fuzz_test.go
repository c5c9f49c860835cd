package discover

import (
	"os"
	"testing"
)

// FuzzNginx: no panic, no empty directive, and no more bytes than came in.
func FuzzNginx(f *testing.F) {
	seed, err := os.ReadFile("testdata/contest.txtar")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(seed))
	f.Add("a 'b\\")
	f.Add("a ${")
	f.Add("\\")
	f.Fuzz(func(t *testing.T, text string) {
		n := 0
		for _, d := range parseNginx(text) {
			if len(d.words) == 0 || d.depth < 0 {
				t.Errorf("%q: %+v", text, d)
			}
			for _, w := range d.words {
				n += len(w)
			}
		}
		if n > len(text) {
			t.Errorf("%q: %d bytes of words", text, n)
		}
	})
}

// FuzzProc: no panic, whatever the kernel's files hold.
func FuzzProc(f *testing.F) {
	f.Add([]byte("   0: 0100007F:1F90 00000000:0000 0A 0:0 0:0 0 1000 0 103 1\n"))
	f.Add([]byte("0: 00000002 00000000 00010000 0001 01 120 /run/a.sock\n"))
	f.Add([]byte("0::/system.slice/nginx.service\n"))
	f.Add([]byte("Name:\tx\nPPid:\t1\nUid:\t1\t1\t1\t1\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, s := range append(parseTCP(text), parseUnix(text)...) {
			if s.network == "tcp" && !s.local.IsValid() {
				t.Errorf("%q: %+v", text, s)
			}
		}
		parseCgroup(text)
		parseStatus(text)
		parseArgs(text)
	})
}
