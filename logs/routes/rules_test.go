package routes

import (
	"strings"
	"testing"
)

func mapper(t testing.TB, o Options) *Mapper {
	t.Helper()
	r, err := NewRules(o)
	if err != nil {
		t.Fatal(err)
	}
	return r.Mapper()
}

func TestAppend_Automatic(t *testing.T) {
	m := mapper(t, Options{})
	f := func(path, want string) {
		t.Helper()
		got, given := m.Append([]byte("GET "), []byte("GET"), []byte(path))
		if string(got) != "GET "+want || given {
			t.Errorf("%q: got %q, want %q", path, got[4:], want)
		}
	}
	f("", "/")
	f("/", "/")
	f("/users", "/users")
	f("/users?id=1", "/users")
	f("?id=1", "/")
	f("/users/#top", "/users/")
	f("/users;jsessionid=5", "/users")
	f("/users;v=1/7;w/x?y", "/users/:id/x")
	f("/users/123", "/users/:id")
	f("/users/-12/x", "/users/:id/x")
	f("/users/12.5", "/users/:id")
	f("/users/%31%32", "/users/:id")
	f("/users/%61bc", "/users/abc")
	f("//a//7//", "//a//:id//")
	f("/api/isu/bdb2a3f0-c90a-4610-b7f5-f4e31fecf12d/icon", "/api/isu/:id/icon")
	f("/api/BDB2A3F0-C90A-4610-B7F5-F4E31FECF12D.json", "/api/:id.json")
	f("/files/d9720f1accded79ea759004ff658638f", "/files/:id")
	f("/commit/4f2c91e0", "/commit/:id")
	f("/static/deadbeefcafebabe.js", "/static/:id.js")
	f("/image/12.png", "/image/:id.png")
	f("/o/01ARZ3NDEKTSV4RRFFQ69G5FAV", "/o/:id")
	f("/o/01arz3ndektsv4rrffq69g5fav/x", "/o/:id/x")
	f("/day/2021-08-21", "/day/:id")
	f("/month/2021-08", "/month/:id")
	f("/t/2021-08-21T10:00:00", "/t/:id")
	f("/t/2021-08-21T10:00:00.123Z", "/t/:id")
	f("/at/35.68,139.76", "/at/:id")
	f("/ip/10.0.0.1/x", "/ip/:id/x")
	f("/list/1,2,3", "/list/:id")
	f("/list/1%2C2%2c3", "/list/:id")
	f("/list/d9720f1a,4f2c91e0", "/list/:id")
	f("/list/a,b", "/list/a,b")
	f("/list/1,b", "/list/1,b")
	f("/by/id=5/x", "/by/id=:id/x")
	f("/by/color=red", "/by/color=red")
	f("/hex/0x1fE", "/hex/:id")
	// Tokens.
	f("/v/dQw4w9WgXcQ", "/v/:id")
	f("/t/V1StGXR8_Z5jdHi6B-myT", "/t/:id")
	f("/t/MTIzNDU2Nzg5MGFiY2RlZg==", "/t/:id")
	f("/t/cjld2cjxh0000qzrmn831i7rn", "/t/:id")
	f("/t/9m4e2mr0ui3e8a215n4g", "/t/:id")
	f("/t/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U", "/t/:id")
	// Names.
	f("/api/v1/facade/decade/abcdef", "/api/v1/facade/decade/abcdef")
	f("/h2/x264/1a2b", "/h2/x264/1a2b")
	f("/internationalizationtests", "/internationalizationtests")
	f("/rpc/getUserById2ForTenant", "/rpc/getUserById2ForTenant")
	f("/rpc/OAuth2TokenV2Endpoint", "/rpc/OAuth2TokenV2Endpoint")
	f("/x86assembly2021manual64", "/x86assembly2021manual64")
	f("/My-Title-2021-Of-Many", "/My-Title-:id-Of-Many")
	f("/the-quick-brown-fox-2", "/the-quick-brown-fox-2")
	f("/日本/タグ", "/日本/タグ")
	f("/%E6%97%A5%E6%9C%AC", "/%E6%97%A5%E6%9C%AC")
	f("/%zz/%4", "/%zz/%4")
	f("/@bob", "/@bob")
	// Files named after their content.
	f("/app.3f2a.css", "/app.3f2a.css")
	f("/assets/index.4b6e2f1a.js", "/assets/index.:id.js")
	f("/assets/index-d9720f1accded79e.css", "/assets/index-:id.css")
	f("/assets/app.c1dfd96e.js", "/assets/app.:id.js")
	f("/assets/app-fe5dbbce.css", "/assets/app-:id.css")
	f("/assets/index-rDR41po8.css", "/assets/index-:id.css")
	f("/assets/index-Ct5-Pl_9.js", "/assets/index-:id.js")
	f("/assets/index.NWoZKrkT.js", "/assets/index.:id.js")
	f("/assets/chunk-5ZQWERT7.js", "/assets/chunk-:id.js")
	f("/assets/chunk-HomePage.js", "/assets/chunk-HomePage.js")
	f("/assets/vue-Settings2.js", "/assets/vue-Settings2.js")
	f("/files/report-Q3Final2.pdf", "/files/report-Q3Final2.pdf")
	f("/img/photo_20210821.jpg", "/img/photo_:id.jpg")
	f("/u/bob-bdb2a3f0-c90a-4610-b7f5-f4e31fecf12d.png", "/u/bob-:id.png")
	f("/jquery-3.6.0.min.js", "/jquery-3.6.0.min.js")
	f("/iso-8859-1", "/iso-:id-1")
	// Request targets that are no paths.
	f("http://example.com/a/1?b", "/a/:id")
	f("https://example.com", "/")
	f("https://example.com?x", "/")
	f("example.com:443", "example.com:443")
	f("*", "*")
	// Long ones.
	f("/"+strings.Repeat("z", 500), "/"+strings.Repeat("z", MaxRoute-1))
	f("/"+strings.Repeat("é", 200), "/"+strings.Repeat("é", MaxRoute/2-1))
	f("/"+strings.Repeat("zzz/", 90), "/"+strings.Repeat("zzz/", maxDepth-1)+"zzz/*")
	f("/"+strings.Repeat("z", 290)+"/1/1/1/1/1", "/"+strings.Repeat("z", 290)+"/:id/:id/")
}

// TestIsUUID: each byte at each place, against the obvious way.
func TestIsUUID(t *testing.T) {
	slow := func(b []byte) bool {
		for i, c := range b {
			if dash := i == 8 || i == 13 || i == 18 || i == 23; dash && c != '-' || !dash && class[c]&hex == 0 {
				return false
			}
		}
		return len(b) == 36
	}
	const uuid = "bdb2a3f0-C90A-4610-b7f5-f4e31fecf12d"
	for i := range uuid {
		for c := range 256 {
			b := []byte(uuid)
			b[i] = byte(c)
			if isUUID(b) != slow(b) {
				t.Fatalf("%q: %v", b, isUUID(b))
			}
		}
	}
}

func TestAppend_Keep(t *testing.T) {
	f := func(keep, path, want string) {
		t.Helper()
		m := mapper(t, Options{Keep: strings.Fields(keep)})
		if got, _ := m.Append(nil, nil, []byte(path)); string(got) != want {
			t.Errorf("%q %q: got %q, want %q", keep, path, got, want)
		}
	}
	f("page", "/a/1?x=1&page=2#f", "/a/:id?page=2")
	f("page=*", "/a?page=2", "/a?page=:id")
	f("page=*", "/a?page=first", "/a?page=first")
	f("b a", "/a?b=1&a=2&b=3&c=4&aa=5", "/a?a=2&b=1&b=3")
	f("b a", "/a?c", "/a")
	f("b a", "/a", "/a")
	f("b a", "/a#?a=1", "/a")
	f("b", "/a?b", "/a?b=")
	f("*", "/a?b=x&a=1&&c", "/a?a=:id&b=x&c")
	f("* a", "/a?b=1&a=1", "/a?a=1&b=:id")
	f("page=", "/a?page=2&x=1", "/a?page")
	f("page= q", "/a?q=x&page=2&page=3", "/a?page&q=x")
	f("*=", "/search?q=x&page=2&q=y", "/search?page&q")
	f("*=", "/a", "/a")
	f("*=", "/a?", "/a")
	f("*=", "/a?item%5B12%5D[name]=x&item[3][name]=y&_=17", "/a?_&item[][name]")
	f("*=", "/a?filters[slug][$eq]=x&filters%5Btags%5D%5B%24in%5D[0]=y&$top=5", "/a?$top&filters[slug][$eq]&filters[tags][$in][]")
	f("*=", "/a?cost$=5", "/a?*")
	f("*=", "/a?pa$$word=5", "/a?*")
	f("*=", "/a?[$$]=5", "/a?*")
	f("*=", "/a?alice@example.com", "/a?*")
	f("*=", "/a?secret", "/a?*")
	f("*=", "/a?dGhpc2lzYXNlY3JldA==", "/a?*")
	f("*=", "/a?page=1&dGhpc2lzYXNlY3JldA==", "/a?*")
	f("*=", "/a?dGVzdEBleGFtcGxlcw=", "/a?*")
	f("*=", "/a?q=&page=", "/a?page&q")
	f("*=", "/a?q=1&0f8fad5bd9cb469fa16570867728950e=1", "/a?*")
	f("*=", "/a?q=1&"+strings.Repeat("k", 33)+"=1", "/a?*")
	f("*=", "/a?q=1&%27%20or=1", "/a?*")
	for _, bad := range []string{"", "=*", "a=b", "a&b"} {
		if _, err := NewRules(Options{Keep: []string{bad}}); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

func TestAppend_Patterns(t *testing.T) {
	m := mapper(t, Options{
		Patterns: []string{`^/api/isu/[^/]+$`, `icons=/icon$`, `^/q\?never`, `x=1=^/eq`},
		Routes:   []Route{{Path: "/api/:x/y"}},
		Keep:     []string{"a"},
	})
	f := func(path, want string, given bool) {
		t.Helper()
		got, is := m.Append(nil, []byte("GET"), []byte(path))
		if string(got) != want || is != given {
			t.Errorf("%q: got %q %v, want %q %v", path, got, is, want, given)
		}
	}
	f("/api/isu/x", `^/api/isu/[^/]+$`, true)
	f("/api/isu/x?a=1", `^/api/isu/[^/]+$?a=1`, true)
	f("/api/isu/x/icon", "icons", true)
	f("http://h/api/isu/x/icon", "icons", true)
	f("/api/isu/y", `^/api/isu/[^/]+$`, true)
	f("/api/z/y", "/api/:x/y", true)
	f("/q?never", "/q", false)
	f("/eq", "/eq", false)
	if _, err := NewRules(Options{Patterns: []string{"("}}); err == nil {
		t.Error("a bad pattern is accepted")
	}
}

func TestAppend_Kataribe(t *testing.T) {
	m := mapper(t, Options{
		Bundles:  []Bundle{{"GET /api/isu/:id", `^GET /api/isu/[0-9a-f-]{4} `}, {"", `^POST /x`}, {"all", "/all"}, {"never", "/all"}},
		Replaces: []Replace{{`/[0-9]+(/|\s)`, "/<num>$1"}, {`\s+HTTP/[0-9.]+$`, ""}, {"isu", "ISU"}},
		Routes:   []Route{{Path: "/api/:x"}},
	})
	f := func(method, path, want string) {
		t.Helper()
		if got, given := m.Append([]byte("-"), []byte(method), []byte(path)); string(got) != "-"+want || !given {
			t.Errorf("%s %s: got %q %v, want %q", method, path, got, given, want)
		}
	}
	f("GET", "/api/isu/12ab", "/api/ISU/:id")
	f("POST", "/x/y", "^POST /x")
	f("PUT", "/all/1/x", "all")
	f("GET", "/a/12/b/3?q=1", "/a/<num>/b/3?q=1")
	f("GET", "/a/12", "/a/<num>")
	for _, o := range []Options{{Bundles: []Bundle{{"", "("}}}, {Replaces: []Replace{{"(", ""}}}} {
		if _, err := NewRules(o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}

func TestList(t *testing.T) {
	text := `# routes
/users/{id}
GET /users/me
POST /users/me   # another
/users/{id:[0-9]+}
/users/{id}/posts/{post}.json
/users/:id/posts/:post
/files/*path
GET /files/special/{$}
/opt/:x?
/static/{rest...}
DELETE /d/:id
GET /d/:id/x
/v{n}/a
*
`
	for _, fallback := range []bool{true, false} {
		if !fallback {
			text = strings.TrimSuffix(text, "*\n")
		}
		routes, err := parseList(text)
		if err != nil {
			t.Fatal(err)
		}
		l, err := NewList(routes)
		if err != nil {
			t.Fatal(err)
		}
		f := func(method, path, want string) {
			t.Helper()
			got, ok := l.find([]byte(method), []byte(path))
			if want == "" && fallback {
				want = "*"
			}
			if got != want || ok != (want != "") {
				t.Errorf("%s %s: got %q, want %q", method, path, got, want)
			}
		}
		f("GET", "/users/me", "/users/me")
		f("HEAD", "/users/me", "/users/me")
		f("PUT", "/users/me", "/users/{id}")
		if !fallback {
			f("GET", "/users/me/", "/users/me")
		}
		f("GET", "/users/12", "/users/{id:[0-9]+}")
		f("GET", "/users/1b", "/users/{id}")
		f("GET", "/users/1/posts/2.json", "/users/{id}/posts/{post}.json")
		f("GET", "/users/1/posts/2", "/users/:id/posts/:post")
		f("GET", "/users/1/x", "")
		f("GET", "/files/a/b/c", "/files/*path")
		f("GET", "/files/special/", "/files/special/{$}")
		f("POST", "/files/special/", "/files/*path")
		f("GET", "/opt", "/opt/:x?")
		f("GET", "/files/special", "/files/special/{$}")
		f("GET", "/opt/1", "/opt/:x?")
		f("GET", "/static/a/b", "/static/{rest...}")
		f("GET", "/d/1", "")
		f("DELETE", "/d/1", "DELETE /d/:id"[7:])
		f("GET", "/v2/a", "/v{n}/a")
		f("GET", "/", "")
	}
	for _, bad := range []string{"users", "GET", "/a/{x:[}", ""} {
		if _, err := parseList(bad + "\n"); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

// TestAppendKeys_Allocation: each request of a run's log with a query string is looked at.
func TestAppendKeys_Allocation(t *testing.T) {
	dst, query := make([]byte, 0, 512), []byte("utm=1&q=some+words&page=2&q=3&item%5B12%5D[name]=x")
	if n := testing.AllocsPerRun(100, func() { dst, _ = AppendKeys(dst[:0], query) }); n != 0 || string(dst) != "item[][name]&page&q&utm" {
		t.Errorf("%v allocations, %s", n, dst)
	}
}
