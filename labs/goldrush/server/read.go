package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	"github.com/kasoku/kasoku/labs/goldrush"
)

// Codes of what is wrong with a body, as the published server has them, with status 422.
const (
	codeMissing    = 602
	codeTooLarge   = 608
	codeTooSmall   = 609
	codeDuplicates = 610
	codeTooMany    = 611
)

const (
	mostBody  = 1 << 20
	mostCoins = 1000
	mostDepth = 100 // that is read; what is below the world is refused by the game
)

// readRequest reads what a call carries. What it refuses has taken none of the CPU.
func readRequest(c goldrush.Call, r *http.Request) (goldrush.Request, *goldrush.Answer) {
	q := goldrush.Request{Call: c}
	if r.Method != http.MethodPost {
		return q, nil
	}
	if r.ContentLength == 0 {
		return q, invalid(codeMissing, "args in body is required")
	}
	if kind := contentType(r); kind != "application/json" {
		return q, refuse(http.StatusUnsupportedMediaType,
			fmt.Sprintf("unsupported media type %q, only [application/json] are allowed", kind))
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, mostBody))
	if err == nil && len(body) == 0 {
		return q, invalid(codeMissing, "args in body is required")
	}
	refused := parseBody(&q, body)
	if err != nil {
		refused = unreadable(err)
	}
	return q, refused
}

// contentType is the media type of a request without its parameters.
func contentType(r *http.Request) string {
	kind := r.Header.Get("Content-Type")
	if kind == "application/json" {
		return kind
	}
	if kind == "" {
		return "application/octet-stream"
	}
	if parsed, _, err := mime.ParseMediaType(kind); err == nil {
		return parsed
	}
	return kind
}

// parseBody reads a body into a request.
func parseBody(q *goldrush.Request, body []byte) *goldrush.Answer {
	switch q.Call {
	case goldrush.Issue:
		if err := json.Unmarshal(body, &q.Coins); err != nil {
			return unreadable(err)
		}
		return checkCoins(q.Coins)
	case goldrush.Explore:
		return parseArea(q, body)
	case goldrush.Dig:
		return parseHole(q, body)
	}
	if err := json.Unmarshal(body, &q.Treasure); err != nil {
		return unreadable(err)
	}
	return nil
}

func checkCoins(coins []goldrush.Coin) *goldrush.Answer {
	if len(coins) > mostCoins {
		return invalid(codeTooMany, fmt.Sprintf("args in body should have at most %d items", mostCoins))
	}
	if len(coins) < 2 {
		return nil
	}
	seen := make(map[goldrush.Coin]bool, len(coins))
	for _, c := range coins {
		if seen[c] {
			return invalid(codeDuplicates, "args in body shouldn't contain duplicates")
		}
		seen[c] = true
	}
	return nil
}

func parseArea(q *goldrush.Request, body []byte) *goldrush.Answer {
	var a struct {
		PosX  *int `json:"posX"`
		PosY  *int `json:"posY"`
		SizeX int  `json:"sizeX"`
		SizeY int  `json:"sizeY"`
	}
	if err := json.Unmarshal(body, &a); err != nil {
		return unreadable(err)
	}
	if refused := checkNumbers([]number{{"posX", a.PosX, 0, 0}, {"posY", a.PosY, 0, 0}}); refused != nil {
		return refused
	}
	for _, s := range []number{{"sizeX", &a.SizeX, 1, 0}, {"sizeY", &a.SizeY, 1, 0}} {
		if *s.value == 0 {
			continue // left out: the game refuses it
		}
		if refused := s.check(); refused != nil {
			return refused
		}
	}
	q.Area = goldrush.Area{PosX: *a.PosX, PosY: *a.PosY, SizeX: a.SizeX, SizeY: a.SizeY}
	return nil
}

func parseHole(q *goldrush.Request, body []byte) *goldrush.Answer {
	var h struct {
		LicenseID *int `json:"licenseID"`
		PosX      *int `json:"posX"`
		PosY      *int `json:"posY"`
		Depth     *int `json:"depth"`
	}
	if err := json.Unmarshal(body, &h); err != nil {
		return unreadable(err)
	}
	if refused := checkNumbers([]number{{"depth", h.Depth, 1, mostDepth}}); refused != nil {
		return refused
	}
	if h.LicenseID == nil {
		return missing("licenseID")
	}
	if refused := checkNumbers([]number{{"posX", h.PosX, 0, 0}, {"posY", h.PosY, 0, 0}}); refused != nil {
		return refused
	}
	q.Hole = goldrush.Hole{LicenseID: *h.LicenseID, PosX: *h.PosX, PosY: *h.PosY, Depth: *h.Depth}
	return nil
}

// A number is a field of a body, with what it may be.
type number struct {
	name  string
	value *int
	least int
	most  int // 0: no limit
}

func (n number) check() *goldrush.Answer {
	switch {
	case n.value == nil:
		return missing(n.name)
	case *n.value < n.least:
		return invalid(codeTooSmall, fmt.Sprintf("%s in body should be greater than or equal to %d", n.name, n.least))
	case n.most > 0 && *n.value > n.most:
		return invalid(codeTooLarge, fmt.Sprintf("%s in body should be less than or equal to %d", n.name, n.most))
	}
	return nil
}

func checkNumbers(all []number) *goldrush.Answer {
	for _, n := range all {
		if refused := n.check(); refused != nil {
			return refused
		}
	}
	return nil
}

func missing(name string) *goldrush.Answer { return invalid(codeMissing, name+" in body is required") }

func invalid(code int, message string) *goldrush.Answer {
	a := goldrush.Refuse(http.StatusUnprocessableEntity, code, message)
	return &a
}

// unreadable refuses a body that is no JSON, or of another shape.
func unreadable(err error) *goldrush.Answer {
	var syntax *json.SyntaxError
	why := err.Error()
	if errors.As(err, &syntax) {
		why = fmt.Sprintf("%s at byte %d", why, syntax.Offset)
	}
	return refuse(http.StatusBadRequest, "parsing args body failed, because "+why)
}

func refuse(status int, message string) *goldrush.Answer {
	a := goldrush.Refuse(status, 0, message)
	return &a
}
