package topology

import "testing"

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
	})
}
