package request

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/kasoku/kasoku/labs/isuumo"
)

// maxBody is the longest JSON body that is read; a polygon of the benchmark has
// less than one kilobyte.
const maxBody = 1 << 20

// ID reads the id of a path. It refuses what is no integer with 400.
func ID(segment string) (int64, error) {
	id, err := strconv.Atoi(segment)
	if err != nil {
		return 0, bad("the id is no integer")
	}
	return int64(id), nil
}

// Order reads a purchase or a request for documents: a JSON object with an e-mail
// address, which is not kept, and the id of the path. It refuses, in this order, a
// body that is no JSON object with 500, a missing address with 400, an id that is
// no integer with 400.
func Order(r *http.Request, segment string) (id int64, err error) {
	err = withBody(r, func(body []byte) error {
		if !isJSON(r) {
			return broken("the body is not declared as JSON")
		}
		return checkEmail(body)
	})
	if err != nil {
		return 0, err
	}
	return ID(segment)
}

// checkEmail is the verdict on the body of an order.
func checkEmail(body []byte) error {
	if plainEmail(body) {
		return nil
	}
	var m map[string]any
	if err := json.NewDecoder(bytes.NewReader(body)).Decode(&m); err != nil {
		return broken("the body is no JSON object")
	}
	if _, ok := m["email"].(string); !ok {
		return bad("no e-mail address")
	}
	return nil
}

// plainEmail knows the one form {"email":"…"} without anything that needs decoding.
func plainEmail(body []byte) bool {
	rest, ok := bytes.CutPrefix(body, []byte(`{"email":"`))
	if !ok {
		return false
	}
	for i, c := range rest {
		switch {
		case c == '"':
			return len(rest) > i+1 && rest[i+1] == '}'
		case c < ' ' || c == '\\':
			return false
		}
	}
	return false
}

// Polygon reads the corners of a polygon. It refuses a body that is no such JSON,
// and one without corners, with 400. Whether the polygon is closed is not asked.
func Polygon(r *http.Request) (corners []isuumo.Point, err error) {
	err = withBody(r, func(body []byte) error {
		if !isJSON(r) {
			return bad("the body is not declared as JSON")
		}
		corners, err = parsePolygon(body)
		return err
	})
	if Status(err) == http.StatusInternalServerError { // of a body that could not be read
		err = bad(err.Error())
	}
	return corners, err
}

func parsePolygon(body []byte) ([]isuumo.Point, error) {
	corners, ok := plainPolygon(body)
	if !ok {
		var v struct {
			Coordinates []isuumo.Point `json:"coordinates"`
		}
		if err := json.NewDecoder(bytes.NewReader(body)).Decode(&v); err != nil {
			return nil, bad("the body is no polygon: " + err.Error())
		}
		corners = v.Coordinates
	}
	if len(corners) == 0 {
		return nil, bad("a polygon without corners")
	}
	return corners, nil
}

// plainPolygon knows the form that encoders write:
// {"coordinates":[{"latitude":1.5,"longitude":2},…]} without spaces.
func plainPolygon(body []byte) (corners []isuumo.Point, ok bool) {
	rest, ok := bytes.CutPrefix(body, []byte(`{"coordinates":[`))
	if !ok {
		return nil, false
	}
	corners = make([]isuumo.Point, 0, 16) // the benchmark's have at most 20
	for {
		var p isuumo.Point
		if p.Latitude, rest, ok = plainNumber(rest, `{"latitude":`); !ok {
			return nil, false
		}
		if p.Longitude, rest, ok = plainNumber(rest, `,"longitude":`); !ok {
			return nil, false
		}
		corners = append(corners, p)
		switch {
		case bytes.HasPrefix(rest, []byte(`},`)):
			rest = rest[len(`},`):]
		case bytes.HasPrefix(rest, []byte(`}]}`)):
			return corners, true
		default:
			return nil, false
		}
	}
}

// plainNumber reads a key and a number in plain decimals: digits, one point, digits.
func plainNumber(b []byte, key string) (v float64, rest []byte, ok bool) {
	b, ok = bytes.CutPrefix(b, []byte(key))
	if !ok {
		return 0, nil, false
	}
	end, digits := 0, 0
	for ; end < len(b); end++ {
		c := b[end]
		if '0' <= c && c <= '9' {
			digits++
			continue
		}
		if (c != '-' || end > 0) && (c != '.' || digits == 0) {
			break
		}
	}
	text := b[:end]
	// JSON wants a digit on both sides of the point, and no other digit after a
	// leading zero.
	unsigned := bytes.TrimPrefix(text, []byte("-"))
	if len(unsigned) == 0 || unsigned[len(unsigned)-1] == '.' || len(unsigned) > 1 && unsigned[0] == '0' &&
		unsigned[1] != '.' {
		return 0, nil, false
	}
	v, err := strconv.ParseFloat(string(text), 64)
	return v, b[end:], err == nil
}

func isJSON(r *http.Request) bool {
	return strings.HasPrefix(r.Header.Get("Content-Type"), "application/json")
}

// buffers are those of bodies, each valid for one request.
var buffers = sync.Pool{New: func() any { return bytes.NewBuffer(make([]byte, 0, 2<<10)) }}

// withBody calls f with the whole body, which is f's for the call only. A body that
// is empty, too long or broken off is refused with 500.
func withBody(r *http.Request, f func(body []byte) error) error {
	if r.ContentLength > maxBody {
		return broken("the body is too long")
	}
	b := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(b)
	b.Reset()
	switch n, err := b.ReadFrom(io.LimitReader(r.Body, maxBody+1)); {
	case err != nil:
		return broken("read the body: " + err.Error())
	case n == 0:
		return broken("the body is empty")
	case n > maxBody:
		return broken("the body is too long")
	}
	return f(b.Bytes())
}
