package routes

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// collapsed returns the rows of a list of "ROUTE COUNT [FOUND]" lines.
func collapsed(t *testing.T, text string) string {
	t.Helper()
	var seen []Seen
	for line := range strings.Lines(text) {
		var s Seen
		n, _ := fmt.Sscan(line, &s.Route, &s.Count, &s.Found)
		if n == 2 {
			s.Found = s.Count
		}
		if n >= 2 {
			seen = append(seen, s)
		}
	}
	return rows(seen, Collapse(seen, Limits{}))
}

func rows(seen []Seen, names []string) string {
	sums := map[string]uint64{}
	for i, s := range seen {
		sums[names[i]] += s.Count
	}
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(&b, "%s %d\n", k, sums[k])
	}
	return b.String()
}

// times returns n lines with the number of each in the text.
func times(n int, format string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(format, "%N", words(i)) + "\n")
	}
	return b.String()
}

// sorted returns the lines in order.
func sorted(text string) string {
	return strings.Join(slices.Sorted(strings.Lines(text)), "")
}

// words returns a number in letters.
func words(i int) string {
	out := ""
	for ok := true; ok; ok = i > 0 {
		out += string(rune('g' + i%10))
		i /= 10
	}
	return out
}

func TestCollapse(t *testing.T) {
	f := func(name, text, want string) {
		t.Helper()
		if got := collapsed(t, text); got != want {
			t.Errorf("%s:\n got\n%swant\n%s", name, got, want)
		}
	}
	f("nothing", "", "")
	f("few", "/a 1\n/b 1\n/a/:id 1\n", "/a 1\n/a/:id 1\n/b 1\n")
	f("users", times(60, "/users/%N 3")+times(60, "/users/%N/posts 2"), "/users/:name 180\n/users/:name/posts 120\n")
	if got := collapsed(t, times(48, "/users/%N 3")); strings.Count(got, "\n") != 48 {
		t.Errorf("as many as names may be: %s", got)
	}
	f("one is far more frequent", times(60, "/users/%N 3")+"/users/me 300\n", "/users/:name 180\n/users/me 300\n")
	f("one stands out of few", times(60, "/users/%N 3")+"/users/me 60\n", "/users/:name 180\n/users/me 60\n")
	f("one is more frequent", times(60, "/users/%N 3")+"/users/me 20\n", "/users/:name 200\n")
	f("some stand out alike", times(60, "/%N 20")+"/login 330\n/logout 330\n/err 660\n", "/:name 1200\n/err 660\n/login 330\n/logout 330\n")
	f("users with a sign", times(60, "/@%N 3")+times(60, "/~%N/x 2")+times(20, "/%N 1"), "/@:name 180\n"+
		sorted(times(20, "/%N 1"))+"/~:name/x 120\n")
	f("few users with a sign", "/@a 3\n/@b.json 3\n/@ 1\n/@/x 1\n", "/@ 1\n/@/x 1\n/@a 3\n/@b.json 3\n")
	f("a sign beside many", times(60, "/%N 3")+times(60, "/@%N 3"), "/:name 180\n/@:name 180\n")
	f("hashes like words", "/a/app-:id.js 9\n/a/app-kCujzaGI.js 3\n/a/app-settings.js 3\n/a/app-HomePage.js 10\n/a/lib-kCujzaGI.js 3\n",
		"/a/app-:id.js 12\n/a/app-HomePage.js 10\n/a/app-settings.js 3\n/a/lib-kCujzaGI.js 3\n")
	f("tokens like words", "/t/:id 99\n/t/BHgK4dfxgphn_-mR-rZK_Vf-UctZXzny 1\n/t/tDHKRsnvvsOqwNrqgOGrvsZcYGRmIw/x 4\n/t/tDHKRsnvvsOqwNrqgOGrvsZcYGRmIx 9\n/t/dashboard-settings 1\n",
		"/t/:id 100\n/t/:id/x 4\n/t/dashboard-settings 1\n/t/tDHKRsnvvsOqwNrqgOGrvsZcYGRmIx 9\n")
	f("below", times(60, "/users/%N/a/x 3")+times(60, "/users/%N/a/%N 9"), "/users/:name/a/:name 540\n/users/:name/a/x 180\n")
	f("ids are there", times(60, "/t/%N 3")+"/t/:id 9000\n/t/:id/x 1\n", "/t/:id 9180\n/t/:id/x 1\n")
	f("few ids are there", times(60, "/t/%N 3")+"/t/:id 9\n", "/t/:id 9\n/t/:name 180\n")
	f("assets", times(60, "/assets/%N.js 3")+times(40, "/assets/%N.css 2")+"/assets/:id.js 1000\n/assets 5\n",
		"/assets 5\n/assets/:id.js 1180\n/assets/:name.css 80\n")
	f("scanner", times(90, "/%N.php 1 0")+"/login 5\n/initialize 1\n", "/:name.php 90\n/initialize 1\n/login 5\n")
	f("queries", times(90, "/search?q=%N 1")+"/search 5\n", "/search 5\n/search?* 90\n")
	numbered := ""
	for i := range 43 { // as a shop has its books: 43 endpoints of 120 requests
		numbered += fmt.Sprintf("/catalogue/%s_%d %d\n/catalogue/%s_%d/reviews 1\n", words(i), i+1, 1+i%3, words(i), i+1)
	}
	f("rows by name and id", numbered+"/catalogue/search 9\n/catalogue 4\n",
		"/catalogue 4\n/catalogue/:words_:id 85\n/catalogue/:words_:id/reviews 43\n/catalogue/search 9\n")
	f("numbers of any length", "/a/book-7_8 3\n/a/book-:id_:id 2\n/a/book-11_12.html 1\n", "/a/book-11_12.html 1\n/a/book-:id_:id 5\n")
	few, many := "", ""
	for i := range 8 {
		many += fmt.Sprintf("/p/page-%d.html 2\n/v%d 1\n", i, i)
		if i < 7 {
			few += fmt.Sprintf("/p/step-%d 2\n/iso-8859-%d 1\n", i, i)
		}
	}
	f("a page with a number", many, "/p/page-:id.html 16\n"+sorted("/v0 1\n/v1 1\n/v2 1\n/v3 1\n/v4 1\n/v5 1\n/v6 1\n/v7 1\n"))
	if got := collapsed(t, few); strings.Count(got, "\n") != 14 {
		t.Errorf("few steps: %s", got)
	}
	// As frequent as words: the n-th has 1/n of the requests of the first.
	zipf := ""
	for i := range 500 {
		zipf += fmt.Sprintf("/u/%s %d\n", words(i), 100_000/(i+1))
	}
	if got := collapsed(t, zipf); strings.Count(got, "\n") != 1 {
		t.Errorf("Zipf: %s", got)
	}
	// A tree has folded before.
	f("folded", "/u/:name 900\n/u/a 3\n/u/b 2\n/u/me 500\n", "/u/:name 905\n/u/me 500\n")
}

// TestCollapse_Rare: few values are one where the log has nearly as many as requests for them, of
// answers alike, beside endpoints that come again; names of endpoints stay.
func TestCollapse_Rare(t *testing.T) {
	log := func(place string, names int, count func(i int) uint64, bytes func(i int) uint64) []Seen {
		seen := []Seen{{Route: "/login", Count: 20, Found: 20, Bytes: 2000}, {Route: "/users/me", Count: 9, Found: 9, Bytes: 4500},
			{Route: "/", Count: 30, Found: 30, Bytes: 90_000}}
		for i := range names {
			n := count(i)
			seen = append(seen, Seen{Route: place + words(i), Count: n, Found: n, Bytes: n * bytes(i)})
		}
		return seen
	}
	f := func(name string, seen []Seen, want int) {
		t.Helper()
		if got := rows(seen, Collapse(seen, Limits{})); strings.Count(got, "\n") != want {
			t.Errorf("%s: %d routes, want %d:\n%s", name, strings.Count(got, "\n"), want, got)
		}
	}
	once := func(i int) uint64 { return 1 + uint64(i%5/3) }
	often := func(i int) uint64 { return 1 + uint64(i%5) }
	alike := func(i int) uint64 { return 900 + uint64(i*37%300) }
	unlike := func(i int) uint64 { return 100 << (i % 6) }
	f("people", log("/users/", 20, once, alike), 4)
	f("few people", log("/users/", 14, once, alike), 17)
	f("endpoints come again", log("/users/", 20, often, alike), 23)
	f("endpoints differ", log("/users/", 20, once, unlike), 23)
	f("the first segment", log("/", 20, once, alike), 23)
	f("sizes are not known", log("/users/", 20, once, func(int) uint64 { return 0 }), 23)
	f("nothing comes again", log("/users/", 20, once, alike)[3:], 20)
	short := log("/users/", 20, once, alike)
	short[0].Count, short[1].Count, short[2].Count = 1, 2, 2
	f("a short log", short, 23)
}

// TestCollapse_Order: the order of the routes does not matter.
func TestCollapse_Order(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{"/a", "/b", "/c.js", "/d.js", "/a-HomePage.js", "/a-HumePige.js", "/a-:id.js", "/@a", "/@b", "/HomePageHomePage", "/:id", "/:id.js", "/:name", "/", "?x=1", "/e", "/f", "/b-1", "/b-2", "/b-3_4", "/b-:id", "/b-:id_:id", "/c-5", "/d-6.js", "/:words-:id"})
		counts := map[string]uint64{}
		for range rapid.IntRange(0, 60).Draw(t, "n") {
			counts[strings.Join(rapid.SliceOfN(piece, 1, 4).Draw(t, "route"), "")] += rapid.Uint64Range(1, 200).Draw(t, "count")
		}
		var seen []Seen
		for _, k := range slices.Sorted(maps.Keys(counts)) {
			seen = append(seen, Seen{Route: k, Count: counts[k], Found: counts[k] % 3, Bytes: counts[k] * uint64(len(k))})
		}
		l := Limits{Names: rapid.IntRange(1, 5).Draw(t, "names"), Outstanding: 8}
		want := rows(seen, Collapse(seen, l))
		for range 3 {
			rand.Shuffle(len(seen), func(i, j int) { seen[i], seen[j] = seen[j], seen[i] })
			if got := rows(seen, Collapse(seen, l)); got != want {
				t.Fatalf("got\n%swant\n%s", got, want)
			}
		}
	})
}

// TestTree_AnyPrefix: what the tree says later of a route is what it says of
// what it said earlier, so that workers may learn of it late.
func TestTree_AnyPrefix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := &Tree{max: 4, nodes: 1}
		piece := rapid.Custom(func(t *rapid.T) string {
			return rapid.SampledFrom([]string{"/a", "/b", "/c", "/d", "/e", "/f.js", "/g.js", "/:id", "/:name", "/", "/h", "/i"}).Draw(t, "piece")
		})
		var said [][2]string
		for range rapid.IntRange(1, 80).Draw(t, "n") {
			route := strings.Join(rapid.SliceOfN(piece, 1, 4).Draw(t, "route"), "")
			early := string(tree.Append(nil, []byte(route)))
			tree.Add([]byte(route))
			now := string(tree.Append(nil, []byte(route)))
			said = append(said, [2]string{route, early}, [2]string{route, now}, [2]string{now, now})
			if rapid.IntRange(0, 12).Draw(t, "tighten") == 5 && tree.max > 1 {
				tree.max /= 2
				tree.tighten(&tree.root)
				tree.nodes = tree.root.size()
			}
			if n := tree.root.size(); n != tree.nodes {
				t.Fatalf("%d nodes, says %d", n, tree.nodes)
			}
		}
		for _, s := range said {
			a, b := string(tree.Append(nil, []byte(s[0]))), string(tree.Append(nil, []byte(s[1])))
			if a != b {
				t.Fatalf("%q: %q, of %q: %q", s[0], a, s[1], b)
			}
		}
	})
}

func TestTree(t *testing.T) {
	tree := NewTree()
	for i := range 3 * firstValues {
		changed := tree.Add([]byte("/u/" + words(i) + "/x"))
		if changed != (i == firstValues-1) {
			t.Fatalf("changed with value %d", i)
		}
	}
	f := func(route, want string) {
		t.Helper()
		if got := string(tree.Append(nil, []byte(route))); got != want {
			t.Errorf("%q: got %q, want %q", route, got, want)
		}
	}
	f("/u/g/x", "/u/g/x")
	f("/u/late/x", "/u/:name/x")
	f("/u/late.js/x", "/u/:name.js/x")
	f("/u/:id/x", "/u/:id/x")
	f("/v/late", "/v/late")
	last := words(firstValues - 1)
	f("/u/"+last+"/x", "/u/"+last+"/x")
	nodes := tree.Nodes()
	for tree.Tighten() {
	}
	f("/u/"+last+"/x", "/u/:name/x")
	f("/u/g/x", "/u/g/x")
	if tree.Nodes() >= nodes/10 {
		t.Errorf("%d nodes of %d", tree.Nodes(), nodes)
	}
}

// TestTree_Signs: users with a sign do not close the place of the endpoints.
func TestTree_Signs(t *testing.T) {
	tree := NewTree()
	for i := range 2 * firstValues {
		tree.Add([]byte("/@" + words(i)))
	}
	tree.Add([]byte("/login"))
	for route, want := range map[string]string{"/@late": "/@:name", "/@late/x": "/@:name/x", "/login": "/login", "/@": "/@", "/~late": "/~late"} {
		if got := string(tree.Append(nil, []byte(route))); got != want {
			t.Errorf("%q: got %q, want %q", route, got, want)
		}
	}
	if !Covers("/a/:words_:id/x", "/a/the-sea_12/x") || !Covers("/book-:id_:id", "/book-7_8") || Covers("/book-:id", "/book-7_8") {
		t.Error("numbers after names")
	}
	if !Covers("/@:name/x", "/@alice/x") || Covers("/@:name", "/alice") {
		t.Error("what /@:name covers")
	}
}
