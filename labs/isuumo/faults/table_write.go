package faults

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kasoku/kasoku/labs/isuumo/request"
)

// staleFaults are answers from before a purchase or an upload.
func staleFaults() []Fault {
	const (
		short = 300 * time.Millisecond
		long  = time.Second
	)
	return []Fault{
		{"searches for chairs are 300 ms late", Stale, `GET /api/chair/search.*`, ByChance,
			remembered(short, request.ChairSearching)},
		{"cheapest chairs are remembered until chairs are uploaded", Stale,
			`GET /api/chair/low_priced: .*sold out before the request`, ByChance,
			remembered(time.Hour, request.ChairLowPriced)},
		{"chairs by id are 300 ms late", Stale, `GET /api/chair/\d+: status 200, expected 404`, Failed,
			remembered(short, request.ChairDetail)},
		{"searches for estates are a second late", Stale, `GET /api/estate/search.*expected`, Overlooked,
			remembered(long, request.EstateSearching)},
		{"purchases are made 100 ms after the answer", Stale, `GET /api/chair/\d+: status 200, expected 404`, Failed,
			same(Rule{At: []request.Endpoint{request.ChairBuy}, Before: func(x *Exchange) {
				if buysChair(x) {
					x.passLater(100 * time.Millisecond)
					x.Status = http.StatusOK
				}
			}})},
	}
}

// buysChair reports whether a request buys a chair that there is.
func buysChair(x *Exchange) bool {
	return x.What == request.ChairBuy && x.Chair(x.ID) != nil && bytes.Contains(x.Sent, []byte(`"email"`))
}

// remembered answers from what was answered before, for a time and until chairs are
// uploaded.
func remembered(life time.Duration, what request.Endpoint) func() Rule {
	type entry struct {
		body []byte
		from time.Time
	}
	return func() Rule {
		var mu sync.Mutex
		known := map[string]entry{}
		key := func(x *Exchange) string { return x.Path + "?" + x.Query.Encode() }
		return Rule{
			At: []request.Endpoint{what, request.ChairUpload},
			Before: func(x *Exchange) {
				mu.Lock()
				defer mu.Unlock()
				if e, ok := known[key(x)]; ok && time.Since(e.from) < life {
					x.Status, x.Body = http.StatusOK, e.body
				}
			},
			After: func(x *Exchange) {
				mu.Lock()
				defer mu.Unlock()
				switch {
				case x.What == request.ChairUpload:
					clear(known)
				case x.passed() && x.Status == http.StatusOK:
					known[key(x)] = entry{x.Body, time.Now()}
				}
			},
		}
	}
}

// saleFaults are purchases that sell more than there is.
func saleFaults() []Fault {
	return []Fault{
		{"each chair has one unit more", Oversell, `\d+ units of chair \d+ were sold, the stock was \d+`, Overlooked,
			oneUnitMore},
		{"two purchases at once both get the last unit", Oversell,
			`\d+ units of chair \d+ were sold, the stock was \d+`, Overlooked, lastUnitTwice},
		{"purchases of a chair at the same moment are one", Oversell,
			`\d+ units of chair \d+ were sold, the stock was \d+`, Overlooked, together},
	}
}

// oneUnitMore sells the first unit that there is not.
func oneUnitMore() Rule {
	var given sync.Map // ids
	return at(request.ChairBuy, func(x *Exchange) {
		if x.Status != http.StatusNotFound || !buysChair(x) {
			return
		}
		if _, twice := given.LoadOrStore(x.ID, true); !twice {
			x.Status = http.StatusOK
		}
	})
}

// lastUnitTwice answers as a service does that reads the stock, finds one unit, and
// takes it, without a lock: whoever came while the last unit was being sold gets it too.
func lastUnitTwice() Rule {
	var mu sync.Mutex
	sold := map[int64]time.Time{} // when the chair was last sold
	rule := at(request.ChairBuy, func(x *Exchange) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case x.Status == http.StatusOK:
			sold[x.ID] = time.Now()
		case x.Status == http.StatusNotFound && sold[x.ID].After(x.begun):
			x.Status = http.StatusOK
		}
	})
	rule.Before = func(x *Exchange) { x.begun = time.Now() }
	return rule
}

// A flight is a purchase that others have joined.
type flight struct {
	done   chan struct{}
	status int
}

// together makes one purchase of all that come while one is under way, and gives all of
// them its answer.
func together() Rule {
	var mu sync.Mutex
	flights := map[int64]*flight{}
	return Rule{
		At: []request.Endpoint{request.ChairBuy},
		Before: func(x *Exchange) {
			if !buysChair(x) {
				return
			}
			mu.Lock()
			f := flights[x.ID]
			if f == nil {
				flights[x.ID] = &flight{done: make(chan struct{})}
			}
			mu.Unlock()
			if f != nil {
				<-f.done
				x.Status = f.status
			}
		},
		After: func(x *Exchange) {
			mu.Lock()
			defer mu.Unlock()
			if f := flights[x.ID]; f != nil && x.passed() {
				f.status = x.Status
				close(f.done)
				delete(flights, x.ID)
			}
		},
	}
}

// lossFaults are writes that were confirmed and did not take place, or took place twice.
func lossFaults() []Fault {
	return []Fault{
		{"every fifth purchase under load is answered and not made", Lost,
			`\d+ units of chair \d+ were sold, the stock was|which was sold out before`, ByChance, loseFifth},
		{"a purchase under load takes two units", Lost, `a unit of chair \d+ was refused, at least|GET /api/chair/search.*expected`, Overlooked,
			same(at(request.ChairBuy, func(x *Exchange) {
				if buysChair(x) {
					x.passLater(0)
				}
			}).within(Loading))},
		{"the last row of an upload under load is lost", Lost, `GET /api/chair/\d+: status 404`, Overlooked,
			same(loseRow(request.ChairUpload, -1))},
		{"the third row of an upload under load is lost", Lost, `GET /api/estate/search.*expected`, Overlooked,
			same(loseRow(request.EstateUpload, 2))},
	}
}

// loseFifth answers every fifth purchase by itself.
func loseFifth() Rule {
	var mu sync.Mutex
	n := 0
	return Rule{At: []request.Endpoint{request.ChairBuy}, When: Loading, Before: func(x *Exchange) {
		mu.Lock()
		defer mu.Unlock()
		if n++; n%5 == 0 {
			x.Status = http.StatusOK
		}
	}}
}

// loseRow takes a row out of uploads; -1 is the last one.
func loseRow(what request.Endpoint, row int) Rule {
	return Rule{At: []request.Endpoint{what}, When: Loading, Before: func(x *Exchange) {
		head, lines, tail := splitUpload(x.Sent)
		if len(lines) == 0 {
			return
		}
		i := row
		if i < 0 {
			i += len(lines)
		}
		lines = slices.Delete(lines, i, i+1)
		x.Sent = slices.Concat(head, bytes.Join(lines, nil), tail)
	}}
}

// splitUpload cuts the body of an upload, a form with one file, into what comes before the
// rows, the rows, and what comes after them. No text of the data has a line break.
func splitUpload(sent []byte) (head []byte, lines [][]byte, tail []byte) {
	from, to := bytes.Index(sent, []byte("\r\n\r\n"))+4, bytes.LastIndex(sent, []byte("\r\n--"))
	if from < 4 || to < from {
		return sent, nil, nil
	}
	for line := range bytes.Lines(sent[from:to]) {
		lines = append(lines, line)
	}
	return sent[:from], lines, sent[to:]
}

// restartFaults are confirmed writes that a restart loses.
func restartFaults() []Fault {
	return []Fault{
		{"a restart loses the last five purchases", Restart, `\d+ units of chair \d+ were sold, the stock was \d+`,
			Overlooked, losePurchases},
		{"a restart loses the last upload of estates", Restart, `GET /api/estate/search.*expected`, Overlooked,
			loseUpload(request.EstateUpload, "DELETE FROM estate WHERE id IN (%s)", false)},
		{"a restart loses the last row that was uploaded", Restart, `GET /api/chair/search.*expected`, Overlooked,
			loseUpload(request.ChairUpload, "DELETE FROM chair WHERE id IN (%s)", true)},
		{"a restart loses the ends of long texts", Restart, `GET /api/estate/search.*has description`, Overlooked,
			loseUpload(request.EstateUpload, "UPDATE estate SET description = LEFT(description, 10) WHERE id IN (%s)",
				true)},
	}
}

// losePurchases gives the last five units back.
func losePurchases() Rule {
	var mu sync.Mutex
	var bought []int64
	rule := at(request.ChairBuy, editGood(func(x *Exchange) {
		mu.Lock()
		defer mu.Unlock()
		bought = append(bought, x.ID)
	})).within(Loading)
	rule.Lose = func() (out []string) {
		mu.Lock()
		defer mu.Unlock()
		for _, id := range bought[max(0, len(bought)-5):] {
			out = append(out, "UPDATE chair SET stock = stock + 1 WHERE id = "+strconv.FormatInt(id, 10))
		}
		return out
	}
	return rule
}

// loseUpload runs a statement with the ids of the last upload, or with the last of
// them.
func loseUpload(what request.Endpoint, statement string, last bool) func() Rule {
	return func() Rule {
		var mu sync.Mutex
		var ids []string
		rule := at(what, func(x *Exchange) {
			if x.Status != http.StatusCreated {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			_, lines, _ := splitUpload(x.Sent)
			ids = nil
			for _, line := range lines {
				id, _, _ := bytes.Cut(line, []byte(","))
				ids = append(ids, string(id))
			}
		})
		rule.Lose = func() []string {
			mu.Lock()
			defer mu.Unlock()
			lost := ids
			if last {
				lost = ids[len(ids)-1:]
			}
			return []string{fmt.Sprintf(statement, strings.Join(lost, ", "))}
		}
		return rule
	}
}
