package routes

import "testing"

func TestAppendDispatched(t *testing.T) {
	f := func(query, want string) {
		t.Helper()
		names, ok := AppendKeys(nil, []byte(query))
		if !ok {
			t.Fatalf("%s: no names", query)
		}
		got, some := AppendDispatched(nil, names, []byte(query))
		if string(got) != want || some != (want != "") {
			t.Errorf("%s: got %q %v, want %q", query, got, some, want)
		}
	}
	f("id=5&action=edit&lang=en", "action=edit&id&lang")
	f("rest_route=%2Fwp%2Fv2%2Fposts%2F12", "rest_route=/wp/v2/posts/:id")
	f("r=site/index", "r=site/index")
	f("operationName=PostsOfUser&variables=%7B%7D", "operationName=PostsOfUser&variables")
	f("action=edit&action=view", "action=edit")
	f("reaction=x&action=edit", "action=edit&reaction")
	f("reaction=x", "")
	f("page=2", "")
	f("action=8f14e45fceea167a5a36dedd4bea2543", "")
	f("action=a%20b", "")
	f("action=%zz", "")
	f("action=/", "")
	f("lang=en&q=harbour", "")
}
