package recording

import "testing"

func TestQuotes(t *testing.T) {
	for _, x := range []struct {
		text, words string
		want        bool
	}{
		{"GET /users takes 40 %", "GET /users", true},
		{"3 of GET /users, GET /me", "GET /users", true},
		{"requests of GET /users", "GET /users", true},
		{"GET /users: slow", "GET /users", true},
		{"GET /users/:id takes 40 %", "GET /users", false},
		{"GET /@:name takes 40 %", "GET /", false},
		{"GET /{id}", "GET /", false},
		{"GET /users.json", "GET /users", false},
		{"GET /users/:id and GET /users", "GET /users", true},
		{"anything", "", false},
	} {
		if got := quotes(x.text, x.words); got != x.want {
			t.Errorf("%q quotes %q: %t", x.text, x.words, got)
		}
	}
	const fingerprint = "select id, name from users where mail = ? order by id"
	for text, want := range map[string]bool{
		"SELECT id, name FROM users WHERE mail = ? ORDER BY id": true,
		"SELECT id, name FROM users WHERE ma…":                  true,
		"SELECT id, name FROM users WHERE city = …":             false,

		"SEL…": false,
	} {
		if got := quotesStatement(text, fingerprint); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}
