package request

import (
	"bytes"
	"encoding/json"
	"errors"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/labs/isuumo"
)

func TestRoute(t *testing.T) {
	f := func(method, path string, want Endpoint, id string) {
		t.Helper()
		if e, got := Route(method, path); e != want || got != id {
			t.Errorf("%s %s: %d %q, want %d %q", method, path, e, got, want, id)
		}
	}
	f("POST", "/initialize", Initialize, "")
	f("GET", "/initialize", WrongMethod, "")
	f("GET", "/api/chair/12", ChairDetail, "12")
	f("GET", "/api/chair/x", ChairDetail, "x")
	f("GET", "/api/chair/search", ChairSearching, "")
	f("GET", "/api/chair/search/condition", ChairCondition, "")
	f("GET", "/api/chair/search/x", Unknown, "")
	f("GET", "/api/chair/low_priced", ChairLowPriced, "")
	f("POST", "/api/chair/low_priced", WrongMethod, "")
	f("POST", "/api/chair", ChairUpload, "")
	f("GET", "/api/chair", WrongMethod, "")
	f("POST", "/api/chair/buy/7", ChairBuy, "7")
	f("POST", "/api/chair/buy/7/8", Unknown, "")
	f("GET", "/api/chair/buy/7", WrongMethod, "")
	f("GET", "/api/chair/buy", ChairDetail, "buy")
	f("GET", "/api/chairs", Unknown, "")
	f("GET", "/api/estate/3", EstateDetail, "3")
	f("POST", "/api/estate", EstateUpload, "")
	f("GET", "/api/estate/search", EstateSearching, "")
	f("GET", "/api/estate/low_priced", EstateLowPriced, "")
	f("GET", "/api/estate/search/condition", EstateCondition, "")
	f("POST", "/api/estate/req_doc/3", EstateRequest, "3")
	f("POST", "/api/estate/nazotte", EstatePolygon, "")
	f("GET", "/api/recommended_estate/3", Recommended, "3")
	f("GET", "/api/recommended_estate", Unknown, "")
	f("GET", "/", Unknown, "")
}

func TestStatus(t *testing.T) {
	f := func(err error, want int) {
		t.Helper()
		if got := Status(err); got != want {
			t.Errorf("%v: %d, want %d", err, got, want)
		}
	}
	f(nil, 200)
	f(NotFound, 404)
	f(errors.Join(errors.New("x"), bad("y")), 400)
	f(errors.New("x"), 500)
}

func chairCondition() *isuumo.ChairCondition {
	r := isuumo.Ranges{Ranges: []isuumo.Range{{ID: 0, Min: -1, Max: 80}, {ID: 1, Min: 80, Max: -1}}}
	return &isuumo.ChairCondition{Price: r, Height: r, Width: r, Depth: r}
}

func TestParseChairSearch(t *testing.T) {
	f := func(query string, want ChairSearch) {
		t.Helper()
		got, err := ParseChairSearch(query, chairCondition())
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v; want %+v", query, got, err, want)
		}
	}
	refused := func(query string, status int) {
		t.Helper()
		if _, err := ParseChairSearch(query, chairCondition()); Status(err) != status {
			t.Errorf("%s: %v, want status %d", query, err, status)
		}
	}
	f("priceRangeId=1&page=2&perPage=25", ChairSearch{1, Any, Any, Any, "", "", nil, Page{25, 50}})
	f("heightRangeId=0&widthRangeId=1&depthRangeId=%2B1&page=0&perPage=0", ChairSearch{Any, 0, 1, 1, "", "", nil, Page{}})
	f("kind=%E5%BA%A7+x&color=&features=a,,b&page=0&perPage=1", ChairSearch{Any, Any, Any, Any, "座 x", "", []string{"a", "", "b"}, Page{1, 0}})
	f("features=,&page=0&perPage=1", ChairSearch{Any, Any, Any, Any, "", "", []string{"", ""}, Page{1, 0}})
	f("kind=a&kind=b&page=0&perPage=1", ChairSearch{Any, Any, Any, Any, "a", "", nil, Page{1, 0}})
	f("color=a&color%=b&kind=%zz&x;y=1&page=0&perPage=1", ChairSearch{Any, Any, Any, Any, "", "a", nil, Page{1, 0}})
	for _, q := range []string{"", "page=0&perPage=1", "priceRangeId=2&page=0&perPage=1", "priceRangeId=-1&page=0&perPage=1", "kind=a&page=0", "kind=a&perPage=1", "kind=a&page=x&perPage=1",
		"kind=&page=-1&perPage=1", "kind=;&page=0&perPage=1", "kind=a&page=9223372036854775808&perPage=1"} {
		refused(q, http.StatusBadRequest)
	}
	refused("kind=a&page=-1&perPage=1", http.StatusInternalServerError)
	refused("kind=a&page=1&perPage=-1", http.StatusInternalServerError)
	refused("kind=a&page=9223372036854775807&perPage=2", http.StatusInternalServerError)
}

func TestParseEstateSearch(t *testing.T) {
	r := chairCondition().Price
	c := &isuumo.EstateCondition{DoorWidth: r, DoorHeight: r, Rent: r}
	got, err := ParseEstateSearch("rentRangeId=0&doorWidthRangeId=1&features=%25&page=1&perPage=3", c)
	want := EstateSearch{DoorWidth: 1, DoorHeight: Any, Rent: 0, Features: []string{"%"}, Page: Page{3, 3}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	if _, err := ParseEstateSearch("doorHeightRangeId=2&page=1&perPage=3", c); Status(err) != http.StatusBadRequest {
		t.Errorf("%v", err)
	}
}

func TestPage(t *testing.T) {
	f := func(p Page, n, from, to int) {
		t.Helper()
		if a, b := p.Of(n); a != from || b != to {
			t.Errorf("%+v of %d: %d to %d, want %d to %d", p, n, a, b, from, to)
		}
	}
	f(Page{25, 0}, 10, 0, 10)
	f(Page{3, 6}, 10, 6, 9)
	f(Page{3, 9}, 10, 9, 10)
	f(Page{3, 12}, 10, 10, 10)
	f(Page{1 << 62, 1 << 62}, 10, 10, 10)
	f(Page{0, 3}, 10, 3, 3)
}

// FuzzParams holds the scanner of queries against net/url.
func FuzzParams(f *testing.F) {
	for _, s := range []string{"", "a=1&b=2", "a=1&a=2", "%61=x", "a=%zz&a=1", "a;b=1", "a", "=1", "a=b=c", "a=+%2B&&&", "a=%", "b=1;2&a=%E5%BA%A7"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		names := []string{"a", "b", ""}
		got := make([]string, len(names))
		params(raw, names, got)
		want, _ := url.ParseQuery(raw) // what it could read stays
		for i, name := range names {
			if got[i] != want.Get(name) {
				t.Errorf("%q: %q is %q, want %q", raw, name, got[i], want.Get(name))
			}
		}
	})
}

func TestHolds(t *testing.T) {
	f := func(features, feature string, want bool) {
		t.Helper()
		if got := Holds(features, feature); got != want {
			t.Errorf("Holds(%q, %q) = %v", features, feature, got)
		}
	}
	f("アーム高さ調節可能", "高さ調節可能", true)
	f("木製,国産", "国産", true)
	f("木製", "国産", false)
	f("", "", true)
	f("", "%", true)
	f("", "_", false)
	f("木", "_", true)
	f("木", "__", false)
	f("木製,国産", "木%産", true)
	f("木製,国産", "産%木", false)
	f("木製,国産", "製_国", true)
	f("100%", `\%`, true)
	f("100", `\%`, false)
	f(`a\b`, `a\\b`, true)
	f("a_b", `a\_b`, true)
	f("axb", `a\_b`, false)
	f("aab", "a%ab", true)
}

// FuzzHolds holds the matcher against one that tries everything.
func FuzzHolds(f *testing.F) {
	f.Add("aab", "a%b")
	f.Add("a%b", `\%`)
	f.Add("", "_")
	f.Fuzz(func(t *testing.T, features, feature string) {
		if len(features) > 40 || len(feature) > 12 || strings.HasSuffix(feature, `\`) {
			t.Skip() // the naive matcher takes too long; what a last backslash means is up to what follows
		}
		if got, want := Holds(features, feature), naiveLike([]rune(features), []rune("%"+feature+"%")); got != want && strings.ContainsAny(feature, `%_\`) {
			t.Errorf("Holds(%q, %q) = %v, want %v", features, feature, got, want)
		}
	})
}

func naiveLike(s, p []rune) bool {
	switch {
	case len(p) == 0:
		return len(s) == 0
	case p[0] == '%':
		return naiveLike(s, p[1:]) || len(s) > 0 && naiveLike(s[1:], p)
	case len(s) == 0:
		return false
	case p[0] == '\\' && len(p) > 1:
		return s[0] == p[1] && naiveLike(s[1:], p[2:])
	}
	return (p[0] == '_' || p[0] == s[0]) && naiveLike(s[1:], p[1:])
}

func jsonRequest(body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	return r
}

func TestOrder(t *testing.T) {
	f := func(body, segment string, id int64, status int) {
		t.Helper()
		if got, err := Order(jsonRequest(body), segment); got != id || Status(err) != status {
			t.Errorf("%q of %q: %d, %v; want %d, status %d", body, segment, got, err, id, status)
		}
	}
	f(`{"email":"a@example.com"}`, "7", 7, 200)
	f(`{"email":"a@example.com"}`, "-7", -7, 200)
	f(`{"email":""}`, "7", 7, 200)
	f(` {"x":1,"email":"\u0061"} tail`, "7", 7, 200)
	f(`{"email":"a"}`, "x", 0, 400)
	f(`{"email":1}`, "x", 0, 400)
	f(`{"email":1`, "x", 0, 500)
	f(`{"email":"a"`, "7", 0, 500)
	f(`{"email":"a`, "7", 0, 500)
	f("{\"email\":\"a\n\"}", "7", 0, 500)
	f(`null`, "7", 0, 400)
	f(`[]`, "7", 0, 500)
	f(``, "7", 0, 500)
	f(`{"email":"`+strings.Repeat("a", maxBody)+`"}`, "7", 0, 500)
	r := jsonRequest(`{"email":"a"}`)
	r.Header.Set("Content-Type", "text/json")
	if _, err := Order(r, "7"); Status(err) != 500 {
		t.Errorf("text/json: %v", err)
	}
}

// FuzzEmail holds the fast path against encoding/json alone.
func FuzzEmail(f *testing.F) {
	for _, s := range []string{`{"email":"a"}`, `{"email":"a"}x`, `{"email":"a" }`, `{"email":"\"}`, `{"email":"a"`, `{"email":"a","email":1}`, "{\"email\":\"\x7f\xff\"}", `{"email":1}`, `null`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var m map[string]any
		want := 200
		if err := json.NewDecoder(bytes.NewReader(body)).Decode(&m); err != nil {
			want = 500
		} else if _, ok := m["email"].(string); !ok {
			want = 400
		}
		if got := Status(checkEmail(body)); got != want {
			t.Errorf("%q: %d, want %d", body, got, want)
		}
	})
}

func TestPolygon(t *testing.T) {
	f := func(body string, want ...isuumo.Point) {
		t.Helper()
		got, err := Polygon(jsonRequest(body))
		if len(want) == 0 {
			if Status(err) != http.StatusBadRequest || got != nil {
				t.Errorf("%s: %v, %v", body, got, err)
			}
			return
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v; want %v", body, got, err, want)
		}
	}
	f(`{"coordinates":[{"latitude":35.5,"longitude":139}]}`, isuumo.Point{Latitude: 35.5, Longitude: 139})
	f(`{"coordinates":[{"latitude":-0.25,"longitude":0},{"latitude":1,"longitude":2}]}`, isuumo.Point{Latitude: -0.25}, isuumo.Point{Latitude: 1, Longitude: 2})
	f(`{"coordinates": [{"longitude":1e1,"Latitude":2}]}`, isuumo.Point{Latitude: 2, Longitude: 10})
	f(`{"coordinates":[{}]}`, isuumo.Point{})
	f("")
	f("{}")
	f(`{"coordinates":[]}`)
	f(`{"coordinates":[{"latitude":01,"longitude":1}]}`)
	f(`{"coordinates":[{"latitude":1.,"longitude":1}]}`)
	f(`{"coordinates":[{"latitude":1e999,"longitude":1}]}`)
	f(`{"coordinates":[{"latitude":1,"longitude":1}`)
	f(strings.Repeat(" ", maxBody+1))
	r := jsonRequest(`{"coordinates":[{"latitude":1,"longitude":1}]}`)
	r.Header.Del("Content-Type")
	if _, err := Polygon(r); Status(err) != http.StatusBadRequest {
		t.Errorf("no content type: %v", err)
	}
}

// FuzzPolygon holds the fast path against encoding/json alone.
func FuzzPolygon(f *testing.F) {
	for _, s := range []string{`{"coordinates":[{"latitude":35.5,"longitude":139}]}`, `{"coordinates":[{"latitude":-0,"longitude":-1.50},{"latitude":1,"longitude":2}]}x`,
		`{"coordinates":[{"latitude":1.2.3,"longitude":1}]}`, `{"coordinates":[{"latitude":-,"longitude":1}]}`, `{"coordinates":[{"latitude":.5,"longitude":1}]}`,
		`{"coordinates":[{"latitude":1,"longitude":00.5}]}`, `{"coordinates":[{"latitude":1-2,"longitude":1}]}`, `{}`, `{"coordinates":[null]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var v struct{ Coordinates []isuumo.Point }
		wantErr := json.NewDecoder(bytes.NewReader(body)).Decode(&v) != nil || len(v.Coordinates) == 0
		got, err := parsePolygon(body)
		if (err != nil) != wantErr || err == nil && !slices.Equal(got, v.Coordinates) || err != nil && got != nil {
			t.Errorf("%q: %v, %v; want %v", body, got, err, v.Coordinates)
		}
	})
}

func uploadRequest(t *testing.T, part, text string) *http.Request {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	f, err := w.CreateFormFile(part, "x.csv")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = f.Write([]byte(text))
	_ = w.Close()
	r := httptest.NewRequest(http.MethodPost, "/", &b)
	r.Header.Set("Content-Type", w.FormDataContentType())
	return r
}

func TestChairs(t *testing.T) {
	got, err := Chairs(uploadRequest(t, "chairs", "7,\"a,b\",説明,/x.png,1,2,3,4,黒,\"f,g\",座椅子,5,6\n"))
	want := []isuumo.Chair{{ID: 7, Name: "a,b", Description: "説明", Thumbnail: "/x.png", Price: 1, Height: 2, Width: 3, Depth: 4, Color: "黒", Features: "f,g", Kind: "座椅子", Popularity: 5, Stock: 6}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := Chairs(uploadRequest(t, "estates", "")); Status(err) != http.StatusBadRequest {
		t.Errorf("another part: %v", err)
	}
	if _, err := Chairs(jsonRequest("{}")); Status(err) != http.StatusBadRequest {
		t.Errorf("JSON: %v", err)
	}
}

func TestEstates(t *testing.T) {
	const row = "7,n,d,t,a,35.5,139.25,1,2,3,f,4"
	f := func(text string, status int, rows int) {
		t.Helper()
		got, err := Estates(uploadRequest(t, "estates", text))
		if Status(err) != status || len(got) != rows {
			t.Errorf("%q: %d rows, %v", text, len(got), err)
		}
		if rows > 0 && got[0] != (isuumo.Estate{ID: 7, Name: "n", Description: "d", Thumbnail: "t", Address: "a", Latitude: 35.5, Longitude: 139.25, Rent: 1, DoorHeight: 2, DoorWidth: 3, Features: "f", Popularity: 4}) {
			t.Errorf("%q: %+v", text, got[0])
		}
	}
	f("", 200, 0)
	f(row, 200, 1)
	f(row+",more,columns\n", 200, 1)
	f(row+"\n"+row+"\n", 200, 2)
	f(row+"\nx"+row[1:]+"\n", 400, 0)
	f("7,n,d\n", 400, 0)
	f(row+"\n7,n\n", 500, 0)
	f("\""+row, 500, 0)
	f(strings.Replace(row, "35.5", "NaN", 1), 400, 0)
	f(strings.Replace(row, "35.5", "", 1), 400, 0)
}

// FuzzRows: an error leaves no row, and no other status than 400 and 500.
func FuzzRows(f *testing.F) {
	f.Add("7,n,d,t,a,35.5,139.25,1,2,3,f,4\n")
	f.Add("7,\"n\n\",d,t,a,1,2,1,2,3,\"f,g\",4\n8")
	f.Fuzz(func(t *testing.T, text string) {
		rows, err := parseRows(strings.NewReader(text), estate)
		if s := Status(err); err != nil && (rows != nil || s != 400 && s != 500) || len(rows) > strings.Count(text, "\n")+1 {
			t.Errorf("%q: %d rows, %v", text, len(rows), err)
		}
	})
}

func TestReadConditions(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := ReadConditions(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an empty directory: %v", err)
	}
	write("chair_condition.json", `{"price":{"ranges":[{"id":0,"min":-1,"max":3000}]},"kind":{"list":["座椅子"]}}`)
	write("estate_condition.json", `{`)
	if _, err := ReadConditions(dir); err == nil || !strings.Contains(err.Error(), "estate_condition.json") {
		t.Errorf("broken JSON: %v", err)
	}
	write("estate_condition.json", `{"rent":{"suffix":"円"}}`)
	c, err := ReadConditions(dir)
	if err != nil || c.Chair.Price.Ranges[0].Max != 3000 || c.Chair.Kind.List[0] != "座椅子" || c.Estate.Rent.Suffix != "円" {
		t.Errorf("%+v, %v", c, err)
	}
}

func BenchmarkParseChairSearch(b *testing.B) {
	c := chairCondition()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseChairSearch("color=%E9%BB%84&heightRangeId=1&kind=%E5%BA%A7%E6%A4%85%E5%AD%90&page=0&perPage=25&priceRangeId=1", c); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPolygon(b *testing.B) {
	body := []byte(`{"coordinates":[{"latitude":35.512345,"longitude":139.123456}` + strings.Repeat(`,{"latitude":36.512345,"longitude":139.123456}`, 8) + `]}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := parsePolygon(body); err != nil {
			b.Fatal(err)
		}
	}
}
