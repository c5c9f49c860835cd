package routes

import (
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const goSource = `package main

const prefix = "/api"

func main() {
	e := echo.New()
	e.GET("/", index)
	e.POST(prefix+"/isu", post, mw)
	e.Any("/any", h)
	e.Match([]string{"GET", "PUT"}, "/match", h)
	e.Add("DELETE", "/add/:id", h)
	e.Static("/assets", "public")
	e.File("/favicon.ico", "x")
	g := e.Group("/v1", mw)
	g.GET("/users/:id", h)
	sub := g.Group("/admin")
	sub.DELETE("", h)
	user(g)
	s := &server{}
	s.r = g
	s.r.PUT("/field", h)

	r := chi.NewRouter()
	r.Get("/chi", h)
	r.Route("/articles", func(r chi.Router) {
		r.With(mw).Get("/", h)
		r.Route("/{articleID:[0-9]+}", func(r chi.Router) {
			r.Put("/", h)
		})
		r.Group(func(r chi.Router) { r.Use(mw); r.Post("/grouped", h) })
	})
	r.Mount("/mounted", mounted())
	r.Method("GET", "/method", h)

	mux := http.NewServeMux()
	mux.HandleFunc("GET /mux/{id}", h)
	mux.Handle("example.com/host", h)
	mux.HandleFunc("/tree/", h)
	http.HandleFunc("/", h)

	m := mux.NewRouter()
	m.HandleFunc("/gorilla/{id:[0-9]+}", h).Methods("GET", "POST").Name("x")
	p := m.PathPrefix("/pre").Subrouter()
	p.Handle("/sub", h).Methods(http.MethodGet)

	http.Get("http://example.com/")
	client.Post("/x", "application/json", body)
	cache.Get("/k", &v)
	client.Get("/x", nil)
}

func user(g *echo.Group) { deeper(g.Group("/user")); g.PATCH("/me", h) }

func deeper(g *echo.Group) { g.GET("/deep", h) }

func mounted() http.Handler {
	r := chi.NewRouter()
	r.Get("/inside", h)
	return r
}
`

// parseSource returns the routes of one file.
func parseSource(text string) []Route {
	s := newSource()
	f, _ := parser.ParseFile(token.NewFileSet(), "x.go", text, parser.SkipObjectResolution)
	if f == nil {
		return nil
	}
	s.index(f)
	return s.routes()
}

func TestFromGo(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("webapp/main.go", goSource)
	write("webapp/main_test.go", "package main\nfunc x() { e.GET(\"/test\", h) }\n")
	write("vendor/v.go", "package v\nfunc x() { e.GET(\"/vendor\", h) }\n")
	write("broken.go", "package b\nfunc x() { e.GET(\"/broken\", h)\n")
	got, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, r := range got {
		fmt.Fprintln(&b, r.Method, r.Path)
	}
	want := `GET /broken
GET /
POST /api/isu
 /any
GET /match
PUT /match
DELETE /add/:id
 /assets/*
GET /favicon.ico
GET /v1/users/:id
DELETE /v1/admin
PUT /v1/field
GET /chi
GET /articles/
PUT /articles/{articleID:[0-9]+}/
POST /articles/grouped
GET /method
GET /mux/{id}
 /host
 /tree/*
 /
GET /gorilla/{id:[0-9]+}
POST /gorilla/{id:[0-9]+}
GET /pre/sub
PATCH /v1/me
GET /v1/user/deep
GET /mounted/inside
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
	if _, err := FromGo(filepath.Join(dir, "vendor")); err != nil {
		t.Errorf("a directory that is named: %v", err)
	}
	if _, err := Load(filepath.Join(dir, "none")); err == nil {
		t.Error("a missing directory is no error")
	}
	if _, err := FromGo(t.TempDir()); err == nil {
		t.Error("no routes are no error")
	}
}

func TestFromOpenAPI(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		got, err := parseOpenAPI([]byte(text))
		if out := fmt.Sprint(got, err); out != want {
			t.Errorf("got %s, want %s", out, want)
		}
	}
	f("openapi: 3.0.0\nservers:\n- url: https://example.com/api/\npaths:\n  /users/{id}:\n    parameters: []\n    get:\n      responses: {}\n    delete: {}\n  x-y: {}\n  /a:\n    post: {}\n",
		"[{POST /api/a } {DELETE /api/users/{id} } {GET /api/users/{id} }] <nil>")
	f(`{"swagger":"2.0","basePath":"/v2","paths":{"/pet":{"put":{}}}}`, "[{PUT /v2/pet }] <nil>")
	f(`openapi: 3.0.0`, "[] no paths: expected an OpenAPI document with a paths object")
	f(`{"paths":[]}`, "[] json: cannot unmarshal array into Go struct field openAPI.paths of type map[string]map[string]interface {}")
}
