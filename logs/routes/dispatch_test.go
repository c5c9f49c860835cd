package routes

import (
	"strings"
	"testing"
)

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
	f("view=x&action=edit", "action=edit&view")
	f("page=2&action=edit", "action=edit&page")
}

// TestAppendChoice: the surest key chooses wherever it stands, and a value that is none of a program's
// names does not.
func TestAppendChoice(t *testing.T) {
	f := func(query, want string) {
		t.Helper()
		got, ok := AppendChoice([]byte("x"), []byte(query))
		if string(got) != "x"+want || ok != (want != "") {
			t.Errorf("%s: got %q %v, want %q", query, got, ok, want)
		}
	}
	f("option=com_content&view=article&id=7", "option=com_content")
	f("view=list&action=edit&method=get", "action=edit")
	f("page=about&id=3", "page=about")
	f("page=3&action=", "")
	f("rest_route=%2Fwp%2Fv2%2Fposts%2F12%2Frevisions", "rest_route=/wp/v2/posts/:id/revisions")
	f("operationName=PostsOfUser&variables=%7B%22id%22%3A7%7D", "operationName=PostsOfUser")
	f("q=harbour&user=kim", "")
	// What people name by these keys is no program's.
	f("page=kim", "")
	f("view=acme-corp", "")
	f("service=acme", "")
	f("service=shop.example.com", "")
	f("action=acme.co.jp", "")
	f("r=kim", "")
	f("r=site/index", "r=site/index")
	f("r=user/kim", "r=user/:id")
	f("page=KimsHome", "page=KimsHome")
	f("page=kim&op=rpc", "op=rpc")
	f("view=orderList", "view=orderList")
	f("page=user_orders", "page=user_orders")
	f("rest_route=%2Fapp%2Fv1%2Fusers%2Fkim%2Forders", "rest_route=/app/v1/users/:id/orders")
	f("rest_route=%2Fapp%2Fv1%2Fusers%2Flist", "rest_route=/app/v1/users/list")
	f("rest_route=%2Fapp%2Fv1%2FTenants%2Facme", "rest_route=/app/v1/Tenants/:id")
	f("route=account/login", "route=account/login")
	f("action=kim", "action=kim") // a program's own key says what it does
	f("action=kim%40example.com", "")
	f("action=two+words", "")
	f("action=8f14e45fceea167a5a36dedd4bea2543", "")
	f("action=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N", "")
	f("action=Zk3vQ9xT2mLp8RbW", "")
	f("action="+strings.Repeat("long", 17), "")
	f(strings.Repeat("a=1&", mostPairs)+"action=list", "")
}

// TestCutChoice: what was appended is cut, and no other query string.
func TestCutChoice(t *testing.T) {
	f := func(route, path, choice string) {
		t.Helper()
		if p, c := CutChoice(route); p != path || c != choice {
			t.Errorf("%s: %q %q", route, p, c)
		}
	}
	f("/index.php?action=list", "/index.php", "action=list")
	f("/index.php?id=7", "/index.php?id=7", "")
	f("/index.php?*", "/index.php?*", "")
	f("/index.php", "/index.php", "")
}
