package sshhost

import (
	"strings"
	"testing"
)

// TestNamed: what ssh takes is a host with a name, and none of it is an option.
func TestNamed(t *testing.T) {
	for text, want := range map[string]string{
		"gen1": "gen1 gen1", "user@10.0.0.7": "10-0-0-7 user@10.0.0.7", "web=deploy@10.0.0.7": "web deploy@10.0.0.7",
		"ssh://user@gen1.example.org:2222": "gen1 ssh://user@gen1.example.org:2222",
		"":                                 "", "-oProxyCommand=id": "", "a=-oProxyCommand=id": "", "a b": "", "a=b\nc": "",
		"UP/../x=gen1": "", "=gen1": "",
	} {
		h, err := Named(text)
		if got := strings.TrimSpace(h.Name + " " + h.Dest); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
}

// TestFoundIn: what a host says of itself leads to a socket in a directory of its own, or nowhere.
func TestFoundIn(t *testing.T) {
	said := func(dir string) string {
		return "Last login: today\nkasoku-dir " + dir + "\nkasoku-system Linux x86_64\nkasoku-sum 1f\nkasoku-first 2e\n"
	}
	f, err := foundIn("gen1", []byte(said("/home/a/.local/state/kasoku/fleet")))
	if err != nil || f != (found{"/home/a/.local/state/kasoku/fleet", "Linux", "x86_64", "1f", "2e"}) {
		t.Errorf("%+v, %v", f, err)
	}
	for _, text := range []string{"", "kasoku-dir\n", said("home"), said("/a:127.0.0.1:22"), said("/[::1]"), said("/a b"),
		said("/a\x1b[2J"), said("/" + strings.Repeat("a", 120))} {
		f, err := foundIn("gen1", []byte(text))
		if err == nil || !strings.HasPrefix(err.Error(), "gen1: no directory for a socket") {
			t.Errorf("%q: %+v, %v", text, f, err)
		}
	}
}

// FuzzFoundIn: whatever a host says, its directory is the name of one.
func FuzzFoundIn(f *testing.F) {
	f.Add("kasoku-dir /a\nkasoku-system Linux x86_64\nkasoku-sum 1f\n")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := foundIn("gen1", []byte(text))
		if err == nil && (got.dir[0] != '/' || strings.ContainsAny(got.dir, ":[] \n")) {
			t.Errorf("%q", got.dir)
		}
	})
}
