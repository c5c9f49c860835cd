package web_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
	"github.com/kasoku/kasoku/internal/test/browsertest"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/model"
)

// TestShop uses the pages as a person does, served by the service and its database.
// What they show is held against the model.
func TestShop(t *testing.T) {
	b := browsertest.Start(t)
	s := newSite(t)
	for _, part := range []struct {
		name string
		test func(*testing.T, *site, *browsertest.Browser)
	}{
		{"pictures", pictures}, // of a shop that is not yet used
		{"first page", firstPage},
		{"chair search", chairSearch},
		{"estate search", estateSearch},
		{"searches without hits", searchesWithoutHits},
		{"narrow and wide", fits},
		{"names of controls", named},
		{"words for errors", errorWords},
		{"freehand", freehand},
		{"corners", corners},
		{"fingers", fingers},
		{"keys", mapKeys},
		{"answers that cross", overtaken},
		{"buy until sold out", buyUntilSoldOut},
		{"request documents", requestDocuments},
		{"upload", uploads},
		{"refused uploads", refusedUploads},
		{"hostile rows", hostileRows},
	} {
		t.Run(part.name, func(t *testing.T) {
			turn.Wait(t)
			part.test(t, s, b)
		})
	}
}

func chairIDs(rows []*isuumo.Chair) (ids []int64) {
	for _, c := range rows {
		ids = append(ids, c.ID)
	}
	return ids
}

func estateIDs(rows []*isuumo.Estate) (ids []int64) {
	for _, e := range rows {
		ids = append(ids, e.ID)
	}
	return ids
}

// shown returns the ids of the rows that links in a place lead to.
func shown(p *browsertest.Page, place string) []int64 {
	return browsertest.Eval[[]int64](p, fmt.Sprintf(
		"[...document.querySelectorAll('%s li a[href*=\"id=\"]')].map(a => Number(new URL(a.href).searchParams.get('id')))", place))
}

func same(t *testing.T, what string, got, want []int64) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: the page shows %v, want %v", what, got, want)
	}
}

func id(n int64) *int64 { return &n }

func firstPage(t *testing.T, s *site, b *browsertest.Browser) {
	p := b.Open(t, browsertest.View{})
	p.Go(s.URL)
	p.WaitText("#chairs summary", "残りの 10 件")
	p.WaitText("#estates summary", "残りの 10 件")
	same(t, "cheap chairs", shown(p, "#chairs"), chairIDs(model.LowPricedChairs(model.Pointers(s.Data.Chairs))))
	same(t, "cheap estates", shown(p, "#estates"), estateIDs(model.LowPricedEstates(model.Pointers(s.Data.Estates))))
	const visible = "[...document.querySelectorAll('#chairs li')].filter(e => e.checkVisibility()).length"
	if n := browsertest.Eval[int](p, visible); n != 10 {
		t.Errorf("%d chairs are visible at first, want 10", n)
	}
	p.Click("#chairs summary")
	p.Wait(visible + " == 20")
	p.Click("#chair-links li:nth-child(2) a")
	p.Wait("document.querySelector('[name=kind]')?.value == '" + s.Data.ChairCondition.Kind.List[1] + "'")
	p.Quiet()
}

// choose selects an option of a form, as a person who reads it does.
func choose(p *browsertest.Page, name, text string) {
	p.Do(chromedp.Evaluate(fmt.Sprintf(`(() => {
		const field = document.querySelector('select[name=%s]');
		field.value = [...field.options].find(o => o.text === %q).value;
		field.dispatchEvent(new Event('change', {bubbles: true}));
	})()`, name, text), nil))
}

func chairSearch(t *testing.T, s *site, b *browsertest.Browser) {
	chairs := model.Pointers(s.Data.Chairs)
	p := b.Open(t, browsertest.View{})
	p.Go(s.URL + "/chairs.html")
	p.Wait("document.querySelector('#form button')")
	p.Click("#form button")
	p.WaitText("#form .bad", "条件を 1 つ以上選んでください")

	choose(p, "kind", "座椅子")
	choose(p, "priceRangeId", "3,000 – 6,000 円")
	p.Click("#form button")
	p.Wait("document.querySelector('.pager')")
	q := &model.ChairQuery{Kind: "座椅子", Price: id(1), PerPage: 24}
	count, list := model.SearchChairs(chairs, &s.Data.ChairCondition, q)
	same(t, "the first page", shown(p, "#result"), chairIDs(list))
	p.WaitText("#result h2", fmt.Sprintf("%d 件", count))
	p.Click(".pager :nth-child(4)")
	p.WaitText("#result .sub", "25 – 48 件目")
	q.Page = 1
	_, list = model.SearchChairs(chairs, &s.Data.ChairCondition, q)
	same(t, "the second page", shown(p, "#result"), chairIDs(list))
	p.Click(".pager a:last-child")
	p.WaitText("#result .sub", fmt.Sprintf("– %d 件目", count))
	if links := p.Text(".pager a"); !slices.Equal(links, []string{"最初へ", "前へ"}) {
		t.Errorf("the last page leads to %q", links)
	}

	// One condition less, and a feature; a part of another feature's name finds that too.
	choose(p, "priceRangeId", "指定なし")
	p.Click("#form summary")
	p.Click("input[value='高さ調節可能']")
	p.Click("#form button")
	p.Wait("location.search.includes('features') && document.querySelector('#result .grid')")
	count, list = model.SearchChairs(chairs, &s.Data.ChairCondition, &model.ChairQuery{Kind: "座椅子", Features: []string{"高さ調節可能"}, PerPage: 24})
	same(t, "one feature", shown(p, "#result"), chairIDs(list))
	p.WaitText("#result h2", fmt.Sprintf("%d 件", count))
	p.Quiet()
}

func estateSearch(t *testing.T, s *site, b *browsertest.Browser) {
	p := b.Open(t, browsertest.View{})
	p.Go(s.URL + "/estates.html")
	p.Wait("document.querySelector('#form button')")
	choose(p, "rentRangeId", "150,000 円以上")
	choose(p, "doorWidthRangeId", "80 cm 未満")
	p.Click("#form summary")
	for _, f := range []string{"ロフト", "角部屋"} {
		p.Click("input[value='" + f + "']")
	}
	p.Click("input[value='角部屋']") // changed one's mind
	p.Click("#form button")
	p.Wait("document.querySelector('#result .grid')")
	count, list := model.SearchEstates(model.Pointers(s.Data.Estates), &s.Data.EstateCondition,
		&model.EstateQuery{Rent: id(3), DoorWidth: id(0), Features: []string{"ロフト"}, PerPage: 24})
	same(t, "estates", shown(p, "#result"), estateIDs(list))
	p.WaitText("#result h2", fmt.Sprintf("%d 件", count))
	if got := browsertest.Eval[string](p, "new FormData(document.querySelector('#form')).get('rentRangeId')"); got != "3" {
		t.Errorf("the form forgot the rent: %q", got)
	}
	p.Back()
	p.WaitText("#result", "条件を 1 つ以上選ぶと")
	p.Quiet()
}

func searchesWithoutHits(t *testing.T, s *site, b *browsertest.Browser) {
	p := b.Open(t, browsertest.View{})
	for query, want := range map[string]string{
		"kind=ソファ":               "この条件に合う椅子はありません",
		"kind=座椅子&page=9999":     "このページには 1 件もありません",
		"kind=座椅子&page=x":        "条件が正しくありません (400)",
		"priceRangeId=99":        "条件が正しくありません (400)",
		"priceRangeId=&kind=":    "条件を 1 つ以上選ぶと",
		"unknown=1&page=2":       "条件を 1 つ以上選ぶと",
		"kind=座椅子&page=-1":       "問題が起きました (500)",
		"features=<b>x</b>&kind": "この条件に合う椅子はありません",
	} {
		p.Go(s.URL + "/chairs.html?" + query)
		p.WaitText("#result", want)
	}
	p.Quiet("api/chair/search")
}

// pages are all views, each with what shows that it is complete.
func pages() map[string]string {
	return map[string]string{
		"/":                     "document.querySelectorAll('.tile').length == 40",
		"/chairs.html":          "document.querySelector('#form button')",
		"/chairs.html?kind=座椅子": "document.querySelector('#form button') && document.querySelector('.pager')",
		"/estates.html?features=ロフト&page=1":                     "document.querySelector('#form button') && document.querySelector('.pager')",
		"/chair.html?id=3":                                      "document.querySelectorAll('.tile').length == 20 && document.querySelector('form')",
		"/estate.html?id=3":                                     "document.querySelector('form') && !document.querySelector('#near').hidden",
		"/map.html#c=35.5,138,60&a=34,136;37,136;37,140;34,140": "document.querySelectorAll('#list li').length == 50",
		"/upload.html":                                          "document.querySelector('form')",
	}
}

// fits: no page scrolls sideways, however narrow, and none says anything on its console.
func fits(t *testing.T, s *site, b *browsertest.Browser) {
	for _, v := range []browsertest.View{{Width: 320, Height: 700, Mobile: true}, {Width: 375, Height: 812, Mobile: true, Dark: true}, {Width: 760, Height: 800}, {Width: 1280, Height: 800, Dark: true}} {
		p := b.Open(t, v)
		for page, ready := range pages() {
			p.Go(s.URL + page)
			p.Wait(ready)
			if w := browsertest.Eval[int](p, "document.documentElement.scrollWidth"); w > v.Width {
				t.Errorf("%s is %d wide on a screen of %d", page, w, v.Width)
			}
			p.Quiet()
		}
	}
}

// A node is what a screen reader knows of an element. The types of cdproto do not
// know all that the browser says about one.
type node struct {
	Role       value[string] `json:"role"`
	Name       value[string] `json:"name"`
	Properties []struct {
		Name  string     `json:"name"`
		Value value[any] `json:"value"`
	} `json:"properties"`
}

type value[T any] struct {
	Value T `json:"value"`
}

func nodes(p *browsertest.Page) []node {
	var out struct {
		Nodes []node `json:"nodes"`
	}
	p.Do(chromedp.ActionFunc(func(ctx context.Context) error {
		return cdp.Execute(ctx, "Accessibility.getFullAXTree", nil, &out)
	}))
	return out.Nodes
}

// named: whatever one can act on has a name for those who cannot see it, and pages
// have one main heading.
func named(t *testing.T, s *site, b *browsertest.Browser) {
	p := b.Open(t, browsertest.View{})
	for page, ready := range pages() {
		p.Go(s.URL + page)
		p.Wait(ready)
		actable, headings := 0, 0
		for _, n := range nodes(p) {
			switch n.Role.Value {
			case "button", "link", "textbox", "combobox", "checkbox", "radio", "application", "navigation", "form":
				if actable++; n.Name.Value == "" {
					t.Errorf("%s: a %s has no name", page, n.Role.Value)
				}
			case "heading":
				for _, property := range n.Properties {
					if property.Name == "level" && property.Value.Value == 1.0 {
						headings++
					}
				}
			}
		}
		if actable < 5 || headings != 1 {
			t.Errorf("%s: %d things to act on, %d main headings", page, actable, headings)
		}
	}
	// The first key leads past the navigation.
	p.Go(s.URL)
	p.Do(chromedp.KeyEvent("\t"))
	p.Wait("document.activeElement.className == 'skip' && document.activeElement.getBoundingClientRect().left >= 0")
}

// errorWords: each way in which an answer can fail is put in words, on each page
// that needs the answer.
func errorWords(t *testing.T, s *site, b *browsertest.Browser) {
	p := b.Open(t, browsertest.View{})
	text := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }
	}
	type fault struct {
		answer http.HandlerFunc
		want   string
	}
	two := []fault{{status(503), "混み合っているため"}, {text("null"), "読み取れません"}}
	all := append(two, fault{status(500), "問題が起きました (500)"}, fault{status(502), "(502)"}, fault{status(418), "答えが 418"},
		fault{cut, "サーバーにつながりません"}, fault{text("<html>"), "読み取れません"})
	for _, c := range []struct {
		page, api, place string
		faults           []fault
	}{
		{"/", "/api/chair/low_priced", "#chairs", two},
		{"/", "/api/estate/low_priced", "#estates", two},
		{"/chairs.html?kind=座椅子", "/api/chair/search", "#result", two},
		{"/chairs.html", "/api/chair/search/condition", "#form", all},
		{"/estates.html", "/api/estate/search/condition", "#form", two},
		{"/chair.html?id=3", "/api/chair/3", "#chair", two},
		{"/chair.html?id=3", "/api/recommended_estate", "#estates", two},
		{"/estate.html?id=3", "/api/estate/3", "#estate", two},
		{"/map.html#a=34,136;37,136;37,140;34,140", "/api/estate/nazotte", "#error", all},
	} {
		for _, f := range c.faults {
			mend := s.fault(c.api, f.answer)
			p.Go("about:blank") // else a change of the fragment alone would not load the page
			p.Go(s.URL + c.page)
			p.WaitText(c.place+" [role=alert]", f.want)
			mend()
		}
		p.Click(c.place + " button")
		p.Wait("!document.querySelector('[role=alert]:not(:empty)')")
	}
	for page, want := range map[string]string{
		"/chair.html?id=99999999": "売り切れたか、登録がありません", "/chair.html?id=x": "番号が正しくありません", "/chair.html": "番号が正しくありません",
		"/estate.html?id=99999999": "登録がありません", "/estate.html?id=-1": "番号が正しくありません",
		"/chair.html?id=99999999999999999999": "(400)",
	} {
		p.Go(s.URL + page)
		p.WaitText("[role=alert]", want)
	}
	p.Quiet("/api/")
}

func buyUntilSoldOut(t *testing.T, s *site, b *browsertest.Browser) {
	i := slices.IndexFunc(s.Data.Chairs, func(c isuumo.Chair) bool { return c.Stock == 2 })
	chair := &s.Data.Chairs[i]
	page := fmt.Sprintf("%s/chair.html?id=%d", s.URL, chair.ID)
	late := b.Open(t, browsertest.View{}) // has the page open since before
	late.Go(page)
	late.Wait("document.querySelector('form')")
	p := b.Open(t, browsertest.View{})
	p.Go(page)
	p.Wait("document.querySelectorAll('.tile').length > 0")
	same(t, "recommended", shown(p, "#estates"), estateIDs(model.Recommended(model.Pointers(s.Data.Estates), chair)))
	for _, want := range append(strings.Split(chair.Features, ","), chair.Name, chair.Description, chair.Color, chair.Kind, fmt.Sprintf("幅 %d ×", chair.Width)) {
		if !strings.Contains(strings.ReplaceAll(strings.Join(p.Text("#chair"), ""), "\u00a0", " "), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	p.Type("#email", "not an address")
	p.Click("form button")
	p.Wait("document.querySelector('#email').matches(':invalid') && document.activeElement.id == 'email'")
	p.Do(chromedp.Evaluate("document.querySelector('#email').value = ''", nil))
	p.Type("#email", "a@example.com\r") // Enter sends the form
	p.WaitText(".outcome [role=status]", "購入しました。控えの宛先: a@example.com")
	mend := s.fault("/api/chair/buy", status(503))
	p.Click("form button")
	p.WaitText(".outcome [role=alert]", "混み合っているため")
	mend()
	p.Click("form button")
	p.WaitText(".outcome", "最後の 1 脚でした")
	p.Wait("document.querySelector('form button').disabled")
	p.Quiet(fmt.Sprintf("/api/chair/%d", chair.ID), "/api/chair/buy")

	late.Type("#email", "b@example.com")
	late.Click("form button")
	late.WaitText(".outcome [role=alert]", "売り切れました")
	late.Wait("document.querySelector('form button').disabled")
	late.Do(chromedp.Reload())
	late.WaitText("[role=alert]", "売り切れたか")
	if browsertest.Eval[bool](late, "document.querySelector('#recommended').checkVisibility()") {
		t.Error("a chair that is sold out has recommendations")
	}
	chair.Stock = 0
}

func requestDocuments(t *testing.T, s *site, b *browsertest.Browser) {
	estate := s.Data.Estates[41]
	p := b.Open(t, browsertest.View{})
	p.Go(fmt.Sprintf("%s/estate.html?id=%d", s.URL, estate.ID))
	p.Wait("document.querySelector('form')")
	p.Type("#email", "a@example.com")
	p.Click("form button")
	p.WaitText(".outcome [role=status]", "資料を請求しました。宛先: a@example.com")
	mend := s.fault("/api/estate/req_doc", cut)
	p.Click("form button")
	p.WaitText(".outcome [role=alert]", "サーバーにつながりません")
	mend()
	mend = s.fault("/api/estate/req_doc", status(404))
	p.Click("form button")
	p.WaitText(".outcome [role=alert]", "登録がありません")
	mend()
	p.Quiet("/api/estate/req_doc")
	p.Click("#place-words a")
	p.Wait(fmt.Sprintf("location.hash.startsWith('#c=%.4f,%.4f')", estate.Latitude, estate.Longitude))
	p.Wait("document.querySelector('#town').length > 1") // the script has run
	p.Click("#visible")
	p.Wait("document.querySelector('#list li')")
	if !slices.Contains(shown(p, "#list"), estate.ID) && len(shown(p, "#list")) < isuumo.PolygonLimit {
		t.Error("the estate is not among those about it")
	}
	p.Quiet()
}
