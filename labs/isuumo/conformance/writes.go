package conformance

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/data"
	"github.com/kasoku/kasoku/labs/isuumo/model"
)

// upload is a request with a file in a part of that name.
func upload(path, part, text string) call {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	f, err := w.CreateFormFile(part, part+".csv")
	if err == nil {
		_, err = f.Write([]byte(text))
	}
	if err != nil || w.Close() != nil {
		panic("a buffer cannot be written") // by its documentation, it can
	}
	return call{http.MethodPost, path, w.FormDataContentType(), b.String()}
}

func uploadChairs(text string) call  { return upload("/api/chair", "chairs", text) }
func uploadEstates(text string) call { return upload("/api/estate", "estates", text) }

// The ids of uploaded rows: beyond those of the contest.
const firstNew = 1_000_001

// newChairs are cheap, so that they are in the list of low prices, and equally
// popular, so that ids decide. Their ids do not rise.
func newChairs() []isuumo.Chair {
	var out []isuumo.Chair
	for _, i := range []int64{4, 0, 3, 1, 2, 5} {
		out = append(out, isuumo.Chair{
			ID: firstNew + i, Name: "同じ人気の椅子", Description: "比べるための椅子です", Thumbnail: "/images/chair/x.png",
			Price: 1 + i/2, Height: 200, Width: 30 + i, Depth: 200, Color: "黒", Features: "比較用,木製", Kind: "座椅子",
			Popularity: 2_000_000, Stock: i, // the first is sold out, the second is the last one
		})
	}
	return out
}

func newEstates() []isuumo.Estate {
	var out []isuumo.Estate
	for _, i := range []int64{2, 0, 1} {
		out = append(out, isuumo.Estate{
			ID: firstNew + i, Name: "同じ人気の部屋", Description: "比べるための部屋です", Thumbnail: "/images/estate/x.png",
			Address:  "東京都比較区1-2-3",
			Latitude: 12.345678, Longitude: 98.7654321, Rent: 1, DoorHeight: 199, DoorWidth: 34, Features: "比較用",
			Popularity: 2_000_000,
		})
	}
	return out
}

// uploads: rows can be seen in every list as soon as they are acknowledged.
func (c *checker) uploads() {
	chairs, estates := newChairs(), newEstates()
	for i := range chairs {
		c.empty(get(fmt.Sprint("/api/chair/", chairs[i].ID)), http.StatusNotFound)
	}
	c.empty(uploadChairs(string(data.ChairCSV(nil, chairs))), http.StatusCreated)
	c.chairs = append(c.chairs, model.Pointers(chairs)...)
	for i := range chairs {
		c.chair(&chairs[i])
		c.recommend(&chairs[i])
	}
	c.empty(get(fmt.Sprint("/api/estate/", estates[0].ID)), http.StatusNotFound)
	c.empty(uploadEstates(string(data.EstateCSV(nil, estates))), http.StatusCreated)
	c.estates = append(c.estates, model.Pointers(estates)...)
	for i := range estates {
		c.estate(&estates[i])
	}
	c.recommend(&chairs[0])
	c.uploadsFound()
	c.inPolygon(box(place(&estates[0]), 0.1))
	// Nothing is added by nothing.
	c.empty(uploadChairs(""), http.StatusCreated)
	c.empty(uploadEstates(""), http.StatusCreated)
	c.uploadsFound()
}

// uploadsFound asks the lists in which the uploaded rows come first.
func (c *checker) uploadsFound() {
	c.lowPriced()
	c.chairSearch(&model.ChairQuery{Features: []string{"比較用"}, PerPage: 3})
	c.chairSearch(&model.ChairQuery{Features: []string{"比較用"}, Page: 1, PerPage: 3})
	c.chairSearch(&model.ChairQuery{Kind: "座椅子", Color: "黒", PerPage: 10})
	c.chairSearch(&model.ChairQuery{Price: at(0), Height: at(3), PerPage: 10})
	c.estateSearch(&model.EstateQuery{Features: []string{"比較用"}, PerPage: 10})
	c.estateSearch(&model.EstateQuery{Rent: at(0), DoorWidth: at(0), PerPage: 10})
}

// uploadedTexts: what has to be escaped in CSV, SQL, LIKE or JSON comes back as it
// was, and columns beyond the last one are not looked at.
func (c *checker) uploadedTexts() {
	odd := "\"引用\", 'それ' \\ \n % _ <b>&amp; 🪑 \u2028 \t;--"
	chair := isuumo.Chair{ID: firstNew + 100, Name: odd, Description: odd, Thumbnail: odd, Price: 20_000, Height: 1,
		Width: 2, Depth: 3,
		Color: odd, Features: `100%天然,アーム高さ調節可能`, Kind: odd, Popularity: 1, Stock: 7}
	c.empty(uploadChairs(withColumns(string(data.ChairCSV(nil, []isuumo.Chair{chair})), "余り,1")), http.StatusCreated)
	c.chairs = append(c.chairs, &chair)
	c.chair(&chair)
	c.chairSearch(&model.ChairQuery{Color: odd, PerPage: 10})
	c.chairSearch(&model.ChairQuery{Kind: odd, Features: []string{"高さ調節可能"}, PerPage: 10}) // a part of the chair's own
	c.chairSearch(&model.ChairQuery{Features: []string{"高さ調節可能", "100"}, PerPage: 10})
	c.featurePattern(`100\%`, func(f string) bool { return strings.Contains(f, "100%") })
	estate := isuumo.Estate{ID: firstNew + 100, Name: odd, Description: odd, Thumbnail: odd, Address: odd,
		Latitude: -0.1234567890123, Longitude: 179.99999999999997,
		Rent: 2, DoorHeight: 30, DoorWidth: 30, Features: "", Popularity: 0}
	c.empty(uploadEstates(withColumns(string(data.EstateCSV(nil, []isuumo.Estate{estate})), "余り")), http.StatusCreated)
	c.estates = append(c.estates, &estate)
	c.estate(&estate)
	c.lowPriced()
}

// withColumns adds columns to the one record of a text.
func withColumns(text, more string) string {
	return strings.TrimSuffix(text, "\n") + "," + more + "\n"
}

// refusedUploads: nothing is left of a file that is refused, wherever it is wrong.
func (c *checker) refusedUploads() {
	chairs, estates := newChairs(), newEstates()
	for i := range chairs {
		chairs[i].ID += 200
	}
	for i := range estates {
		estates[i].ID += 200
	}
	good, goodEstates := string(data.ChairCSV(nil, chairs[:2])), string(data.EstateCSV(nil, estates[:2]))
	row := func(change func(*isuumo.Chair)) string {
		x := chairs[2]
		change(&x)
		return string(data.ChairCSV(nil, []isuumo.Chair{x}))
	}
	for _, u := range []struct {
		bad    string
		status int
	}{
		{row(func(x *isuumo.Chair) { x.ID = 1 }), http.StatusInternalServerError},
		{row(func(x *isuumo.Chair) { x.ID = firstNew }), http.StatusInternalServerError},
		{row(func(x *isuumo.Chair) { x.ID = chairs[0].ID }), http.StatusInternalServerError},
		{row(func(x *isuumo.Chair) { x.Price = 3_000_000_000 }), http.StatusInternalServerError},
		{row(func(x *isuumo.Chair) { x.Name = strings.Repeat("椅", 65) }), http.StatusInternalServerError},
		{"1,2,3\n", http.StatusInternalServerError},
		{strings.Replace(row(func(*isuumo.Chair) {}), "同じ", `"同じ`, 1), http.StatusInternalServerError},
		{strings.Replace(row(func(*isuumo.Chair) {}), ",200,", ",二百,", 1), http.StatusBadRequest},
		{strings.Replace(row(func(*isuumo.Chair) {}), ",200,", ",,", 1), http.StatusBadRequest},
		{strings.Replace(row(func(*isuumo.Chair) {}), ",200,", ",200.5,", 1), http.StatusBadRequest},
	} {
		c.empty(uploadChairs(good+u.bad), u.status)
	}
	c.empty(uploadChairs("1000301,short\n"), http.StatusBadRequest)
	c.empty(uploadEstates("1000301,short\n"), http.StatusBadRequest)
	c.empty(uploadEstates(goodEstates+strings.Replace(goodEstates, "12.345678", "north", 1)), http.StatusBadRequest)
	c.empty(uploadEstates(goodEstates+goodEstates), http.StatusInternalServerError)
	c.empty(uploadEstates(goodEstates+"1,2\n"), http.StatusInternalServerError)
	c.empty(upload("/api/chair", "estates", good), http.StatusBadRequest)
	c.empty(upload("/api/estate", "chairs", goodEstates), http.StatusBadRequest)
	c.empty(post("/api/chair", good), http.StatusBadRequest)
	c.empty(call{http.MethodPost, "/api/estate", "text/csv", goodEstates}, http.StatusBadRequest)
	c.empty(call{http.MethodPost, "/api/estate", "multipart/form-data; boundary=x", "no such boundary"},
		http.StatusBadRequest)
	for i := range 2 {
		c.empty(get(fmt.Sprint("/api/chair/", chairs[i].ID)), http.StatusNotFound)
		c.empty(get(fmt.Sprint("/api/estate/", estates[i].ID)), http.StatusNotFound)
	}
	c.uploadsFound()
	// The rows were not what was wrong.
	c.empty(uploadChairs(good), http.StatusCreated)
	c.empty(uploadEstates(goodEstates), http.StatusCreated)
	c.chairs = append(c.chairs, model.Pointers(chairs[:2])...)
	c.estates = append(c.estates, model.Pointers(estates[:2])...)
	c.uploadsFound()
}

const email = `{"email":"a@example.com"}`

// refusedOrders are those of purchases and requests for documents: the body is looked
// at first, then the address, then the id, then the row.
func (c *checker) refusedOrders(path, known string) {
	for _, id := range []string{known, "x", "0"} {
		for _, body := range []string{"", "{", "x", "[]", `"a@example.com"`, `{"email":`} {
			c.empty(post(path+id, body), http.StatusInternalServerError)
		}
		for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded", "application/xml"} {
			c.empty(call{http.MethodPost, path + id, kind, email}, http.StatusInternalServerError)
		}
		for _, body := range []string{"{}", "null", `{"mail":"a@example.com"}`, `{"email":null}`, `{"email":1}`,
			`{"email":["a"]}`, `{"Email":"a@example.com"}`} {
			c.empty(post(path+id, body), http.StatusBadRequest)
		}
	}
	for _, id := range []string{"x", "1.5", "99999999999999999999"} {
		c.empty(post(path+id, email), http.StatusBadRequest)
	}
	for _, id := range []string{"0", "-1", "2147483647", "9223372036854775807"} {
		c.empty(post(path+id, email), http.StatusNotFound)
	}
}

// purchases: a chair that is sold out is gone from every list when the purchase is
// acknowledged; many buyers at once get no more than there are.
func (c *checker) purchases() {
	c.refusedOrders("/api/chair/buy/", fmt.Sprint(c.inStock(0).ID))
	soldOut, last, many := c.byID(firstNew), c.byID(firstNew+1), c.byID(firstNew+5)
	c.empty(post(buyPath(soldOut), email), http.StatusNotFound)
	c.bought(last, email)
	if last.Stock != 0 {
		c.fail("chair %d: stock %d, want 0", last.ID, last.Stock)
	}
	c.empty(post(buyPath(last), email), http.StatusNotFound)
	c.bought(c.inStock(10), `{ "name": "x", "email": "\u3042@example.com" }`)
	c.bought(c.inStock(20), `{"email":"a","email":""} `)
	c.rush(many)
	c.all()
}

func buyPath(x *isuumo.Chair) string { return fmt.Sprint("/api/chair/buy/", x.ID) }

// bought buys one chair and looks at all that shows it.
func (c *checker) bought(x *isuumo.Chair, body string) {
	c.empty(post(buyPath(x), body), http.StatusOK)
	x.Stock--
	c.chair(x)
	c.recommend(x)
	c.uploadsFound()
}

// rush has more buyers at once than there are chairs.
func (c *checker) rush(x *isuumo.Chair) {
	var sold atomic.Int64
	var buyers sync.WaitGroup
	var mu sync.Mutex
	for range x.Stock + 10 {
		buyers.Go(func() {
			switch status, body, err := c.do(post(buyPath(x), email)); {
			case err == nil && status == http.StatusOK && len(body) == 0:
				sold.Add(1)
			case err == nil && status == http.StatusNotFound:
			default:
				mu.Lock()
				defer mu.Unlock()
				c.fail("one of many purchases of chair %d: status %d, %v", x.ID, status, err)
			}
		})
	}
	buyers.Wait()
	if sold.Load() != x.Stock {
		c.fail("chair %d: %d of %d sold", x.ID, sold.Load(), x.Stock)
	}
	x.Stock = 0
	c.chair(x)
	c.recommend(x)
	c.uploadsFound()
}

// documents: nothing is stored.
func (c *checker) documents() {
	x := c.estates[0]
	path := "/api/estate/req_doc/"
	c.refusedOrders(path, fmt.Sprint(x.ID))
	for range 3 {
		c.empty(post(path+fmt.Sprint(x.ID), email), http.StatusOK)
	}
	c.empty(post(path+fmt.Sprint(firstNew), email), http.StatusOK)
	c.estate(x)
}
