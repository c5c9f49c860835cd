package webserver

import (
	"testing"
	"time"
)

func TestKeepingOf(t *testing.T) {
	sub := func(body string) string {
		return "vcl 4.1;\nsub vcl_recv { set req.x = \"}\"; }\nsub vcl_backend_response {" + body + "}"
	}
	for _, tt := range []struct {
		vcl, path  string
		ttl, grace time.Duration
		ok         bool
	}{
		{"", "/a", 0, 0, true},
		{sub("set beresp.ttl = 0.7s; set beresp.grace = 2m;"), "/a", 700 * time.Millisecond, 2 * time.Minute, true},
		{sub("set beresp.ttl = 1s; # set beresp.ttl = 3s;\n if (bereq.url ~ \"^/a\") { set beresp.ttl = 500ms; }"), "/a", 500 * time.Millisecond, 0, true},
		{sub("set beresp.ttl = 1s; if (bereq.url ~ \"^/b\") { set beresp.ttl = 500ms; } else { set beresp.grace = 1s; }"), "/a", time.Second, time.Second, true},
		{sub("if (bereq.url == \"/a\") { set beresp.ttl = 1s; } elsif (bereq.url == \"/b\") { set beresp.ttl = 2s; } else { set beresp.ttl = 3s; }"), "/b", 2 * time.Second, 0, true},
		{sub("if (bereq.url ~ \"^/a(\\?|$)\" && !bereq.http.Authorization) { set beresp.ttl = 1s; }"), "/a", time.Second, 0, true},
		{sub("if (bereq.url ~ \"^/b\" || bereq.url ~ \"^/a\") { set beresp.ttl = 1s; return (deliver); } set beresp.ttl = 9s;"), "/a", time.Second, 0, true},
		{sub("set beresp.ttl = 1s;") + "\nsub vcl_backend_response { set beresp.ttl = 2s; }", "/a", 2 * time.Second, 0, true},
		{sub("if (beresp.status == 200) { set beresp.ttl = 1s; }"), "/a", 0, 0, false},
		{sub("if (beresp.status == 200) { set beresp.http.x = \"1\"; } set beresp.ttl = 1s;"), "/a", time.Second, 0, true},
		{sub("if (beresp.status >= 500) { return (deliver); } set beresp.ttl = 1s;"), "/a", 0, 0, false},
		{sub("set beresp.ttl = std.duration(beresp.http.x, 1s);"), "/a", 0, 0, false},
		{sub("set beresp.uncacheable = true;"), "/a", 0, 0, false},
		{"sub vcl_backend_response {", "/a", 0, 0, true},
		{"sub vcl_backend_response { if (", "/a", 0, 0, false},
	} {
		k, err := KeepingOf(tt.vcl, tt.path)
		if (err == nil) != tt.ok || k.TTL != tt.ttl || k.Grace != tt.grace {
			t.Errorf("%s\n%s: %+v, %v; want %s and %s, decided %t", tt.vcl, tt.path, k, err, tt.ttl, tt.grace, tt.ok)
		}
	}
}

func FuzzKeepingOf(f *testing.F) {
	f.Add("sub vcl_backend_response { if (bereq.url ~ \"^/a\") { set beresp.ttl = 1s; } else { return (pass); } }")
	f.Fuzz(func(t *testing.T, vcl string) {
		if k, err := KeepingOf(vcl, "/a"); err != nil && k != (Keeping{}) {
			t.Errorf("%+v beside %v", k, err)
		}
	})
}

func TestTakesBack(t *testing.T) {
	for vcl, want := range map[string]bool{
		"sub vcl_recv { if (req.url == \"/i\") { ban(\"req.url ~ .\"); } }":                      true,
		"sub vcl_recv { if (req.method == \"PURGE\") { return (purge); } }":                      true,
		"sub vcl_deliver { if (std.ban(\"obj.age > 1s\")) { return (deliver); } }":               true,
		"# ban(\"req.url ~ .\");\nsub vcl_recv { set req.http.ban = \"ban(1)\"; }":               false,
		"sub vcl_recv { unset req.http.cookie; } sub vcl_backend_response { return (deliver); }": false,
	} {
		if got := TakesBack(vcl); got != want {
			t.Errorf("%s: %t", vcl, got)
		}
	}
}
