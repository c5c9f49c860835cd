package routes

import (
	"bytes"
	"strings"
	"testing"
)

// FuzzAppend: any path gives one route, short and without a query string, and
// the same whatever stands before it in the buffer.
func FuzzAppend(f *testing.F) {
	for _, p := range benchPaths {
		f.Add(p, "page")
	}
	for _, p := range []string{"http://h/a;b=1/2?x", "/%41%zz%", "//a/1,2,%2C3", "/\xff\x00/..", "?", "eyJ.a.b", "/0x/0xg/2021-08-21T1Z"} {
		f.Add(p, "*")
	}
	for _, p := range []string{"/a?q=1&page=2&q=3", "/a?item%5B1%5D[x]=1&_=2", "/a?%zz=1", "/a?alice", "/i.php?view=x&action=%6cist", "/?rest_route=/wp/v2/posts/12#x", "/a?" + strings.Repeat("k1=&", 40)} {
		f.Add(p, "*=")
		f.Add(p, "q=")
	}
	list, err := NewList([]Route{{Path: "/api/{x}/y.{z}"}, {Path: "/a/*"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, path, keep string) {
		r, err := NewRules(Options{Keep: []string{keep}})
		if err != nil {
			r = Automatic()
		}
		m := r.Mapper()
		got, given := m.Append(nil, []byte("GET"), []byte(path))
		again, _ := m.Append([]byte("x"), []byte("GET"), []byte(path))
		if given || len(got) == 0 || len(got) > 4*MaxRoute+len(keep)+1 || "x"+string(got) != string(again) {
			t.Fatalf("%q: %q, %q", path, got, again)
		}
		if _, choice := CutChoice(string(got)); bytes.IndexByte(got, '?') >= 0 && r.keep.none() && choice == "" {
			t.Fatalf("%q: %q", path, got)
		}
		tree := NewTree()
		tree.Add(got)
		if s := tree.Append(nil, got); string(s) != string(got) {
			t.Fatalf("%q: the tree says %q", got, s)
		}
		if names := Collapse([]Seen{{Route: string(got), Count: 1}}, Limits{}); names[0] != string(got) {
			t.Fatalf("%q: alone %q", got, names[0])
		}
		list.find([]byte("GET"), []byte(path))
	})
}

// FuzzParse: lists, documents and sources of routes are never more than refused.
func FuzzParse(f *testing.F) {
	f.Add("GET /users/{id:[0-9]+}\n/a/*x\n/b/:c?\n# d")
	f.Add(`{"swagger":"2.0","basePath":"/v2","paths":{"/pet":{"put":{}}}}`)
	f.Add("openapi: 3.0.0\nservers:\n- url: /v1\npaths:\n  /users/{id}:\n    get: {}\n")
	f.Add(goSource)
	f.Fuzz(func(t *testing.T, text string) {
		if routes, err := parseList(text); err == nil {
			l, err := NewList(routes)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range routes {
				l.find([]byte(r.Method), []byte(r.Path))
			}
		}
		if routes, err := parseOpenAPI([]byte(text)); err == nil && len(routes) == 0 {
			t.Fatal("no routes and no error")
		}
		for _, r := range parseSource(text) {
			if !strings.HasPrefix(r.Path, "/") && !strings.HasPrefix(r.Path, "*") {
				t.Fatalf("route %q", r.Path)
			}
		}
	})
}
