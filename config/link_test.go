package config

import "testing"

func TestLink(t *testing.T) {
	l, err := ParseLink("Grafana =https://g.example/d/{id}?from={from_ms}&to={to_ms}&var-label={label}")
	if err != nil || l.Name != "Grafana" {
		t.Fatalf("%+v, %v", l, err)
	}
	got := l.At(map[string]string{"id": "../x y", "from_ms": "5", "label": "a&b#c"})
	if want := "https://g.example/d/..%2Fx%20y?from=5&to={to_ms}&var-label=a%26b%23c"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, bad := range []string{"", "x", "=https://a/", "x=javascript:alert(1)", "x=//a/", "x=https://",
		"x=https://{host}/", "x=https://a{id}?", "x={label}://a/", "x=https://u:p@a/", "x=https://a/{secret}", "x=https://a/%zz"} {
		if l, err := ParseLink(bad); err == nil {
			t.Errorf("%q is a link: %+v", bad, l)
		}
	}
}
