package unit

import "testing"

func TestParseLeast(t *testing.T) {
	f := func(text string, total, want uint64) {
		t.Helper()
		l, err := ParseLeast(text)
		if got := l.Of(total); err != nil || got != want {
			t.Errorf("%q of %d is %d (%v), want %d", text, total, got, err, want)
		}
	}
	f("5%", 1000, 50)
	f(" 2.5 % ", 1000, 25)
	f("500 MB", 1e12, 500e6)
	f("0", 1e12, 0)
	f("0%", 1e12, 0)
	for _, bad := range []string{"", "%", "101%", "-1%", "5 percent", "NaN%"} {
		if l, err := ParseLeast(bad); err == nil {
			t.Errorf("%q is %+v", bad, l)
		}
	}
	both := Least{Ratio: 0.05, Bytes: 1e9}
	if both.Of(1e9) != 5e7 || both.Of(1e12) != 1e9 {
		t.Errorf("%d, %d", both.Of(1e9), both.Of(1e12))
	}
}
