package scrub

import "testing"

func TestAppendWithoutPersons(t *testing.T) {
	f := func(want, text string) {
		t.Helper()
		if got := string(appendWithoutPersons(nil, []byte(text))); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	f("to *** and ***", "to a.b+c@d.example and a%40b.example.org")
	f("*** 127.0.0.1:3306 10.0.0.3 1.2.3", "198.51.100.7 127.0.0.1:3306 10.0.0.3 1.2.3")
	f("*** [::1]:80 12:30:45", "2001:db8::7 [::1]:80 12:30:45")
	f("the server's log is app's", "the server's log is app's")
	f("a = '***' AND b = '?' AND c = '' AND `d` = 1", "a = 'it\\'s' AND b = '?' AND c = '' AND `d` = 1")
	f("1234567 of 10737418240 bytes at 2026-11-22, ***, ***", "1234567 of 10737418240 bytes at 2026-11-22, 4111-1111-1111-1111, +81 90 1234 5678")
	f("GET /search?***", "GET /search?q=name&page=2")
}
