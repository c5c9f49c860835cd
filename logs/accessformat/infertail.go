package accessformat

import (
	"bytes"
	"fmt"
	"slices"
	"time"
)

// A column is the values of all sample lines at one place after the size.
type column struct {
	open, shut string
	texts      [][]byte
	fraction   bool // there are numbers with a fraction, or with a unit
	whole      bool // there are whole numbers
	list       bool // of several upstreams
	word       bool // there is something else
	dash       bool
	spaced     bool // there are words with blanks or commas in them

	meaning meaning
}

// columnsOf turns lines of one shape into columns.
func columnsOf(same []combinedLine) []*column {
	out := make([]*column, len(same[0].tail))
	for i := range out {
		c := &column{open: same[0].tail[i].open, shut: same[0].tail[i].shut}
		for _, line := range same {
			c.add(line.tail[i].text)
		}
		out[i] = c
	}
	return out
}

func (c *column) add(text []byte) {
	c.texts = append(c.texts, text)
	if isDash(text) {
		c.dash = true
		return
	}
	list := bytes.ContainsAny(text, ", ")
	d, known, ok := sumOfTimes(text, time.Nanosecond)
	switch {
	case !ok || !known:
		c.word = true
		c.spaced = c.spaced || list
	case bytes.IndexByte(text, '.') >= 0 || text[len(text)-1] == 's':
		c.fraction, c.list = true, c.list || list
	case list:
		c.word, c.spaced = true, true // states or lengths of upstreams
	default:
		c.whole = d >= 0
	}
}

// isTime and isWhole report whether all values are times, or whole numbers.
func (c *column) isTime() bool  { return c.fraction && !c.word }
func (c *column) isWhole() bool { return c.whole && !c.fraction && !c.word }
func (c *column) isText() bool  { return c.shut == `"` && !c.isTime() && !c.isWhole() }

// total returns the sum of the values, in units, and how many are missing.
func (c *column) total(unit time.Duration) (sum time.Duration, missing int) {
	for _, text := range c.texts {
		d, known, _ := sumOfTimes(text, unit)
		if !known {
			missing++
		}
		sum += d
	}
	return sum, missing
}

// inferTail finds out what the values after the size are.
func inferTail(same []combinedLine) (pieces []piece, assumed []string) {
	columns := columnsOf(same)
	inferTexts(columns)
	var times, wholes []*column
	for i, c := range columns {
		switch {
		case c.named():
		case c.isTime():
			times = append(times, c)
		case c.isWhole() && i+2 < len(columns) && columns[i+1].isText() && columns[i+2].isText():
			// Traefik: how many requests it has had, "router" "url" 12ms.
		case c.isWhole():
			wholes = append(wholes, c)
		}
	}
	timed := slices.ContainsFunc(columns, func(c *column) bool { return c.meaning.what == aLatency })
	if len(times) > 0 {
		assumed = inferTimes(times, timed)
		timed = true
	}
	assumed = append(assumed, inferWholes(wholes, same, timed)...)
	for i, c := range columns {
		p := valuePiece(fmt.Sprintf("$value_%d", i+1), c.meaning.what)
		if name := nginxNames[c.meaning.what]; name != "" {
			p = valuePiece(name, c.meaning.what)
		}
		p.unit, p.list = c.meaning.unit, c.shut == "" && (c.list || c.spaced || c.fraction && c.dash ||
			c.meaning.what == anUpstream)
		shut := " "
		if i == 0 {
			pieces = append(pieces, textPiece(shut))
		}
		if i == len(columns)-1 {
			shut = ""
		}
		pieces = append(pieces, textPiece(c.open), p, textPiece(c.shut+shut))
	}
	return pieces, assumed
}

// nginxNames are the variables for what inferred values mean.
var nginxNames = map[field]string{
	aReferer: "$http_referer", anAgent: "$http_user_agent", aForwardedFor: "$http_x_forwarded_for",
	aLatency: "$request_time", anUpstream: "$upstream_response_time", aRequestSize: "$request_length",
	aSize: "$bytes_sent",
}

// named takes the meaning of a value from a name before it, as in rt=0.021.
func (c *column) named() bool {
	name, _, ok := bytes.Cut([]byte(c.open), []byte("="))
	if !ok {
		return false
	}
	switch string(name) {
	case "rt", "request_time", "reqtime", "time", "duration", "took":
		c.meaning.what = aLatency
	case "urt", "upstream_response_time", "uresp", "ut":
		c.meaning.what = anUpstream
	case "rl", "request_length", "reqlen":
		c.meaning.what = aRequestSize
	}
	if c.word {
		c.meaning.what = noField
	}
	return true
}

// inferTexts finds the referer and the user agent, which are the first two texts
// in quotes, and a list of addresses that requests were forwarded for.
func inferTexts(columns []*column) {
	var texts []*column
	for _, c := range columns {
		if c.open == `"` && c.isText() {
			texts = append(texts, c)
		}
	}
	if len(texts) >= 2 && columns[0] == texts[0] && columns[1] == texts[1] {
		texts[0].meaning.what, texts[1].meaning.what = aReferer, anAgent
		texts = texts[2:]
	} else if len(texts) > 0 && columns[0] == texts[0] {
		texts[0].meaning.what = anAgent
		if slices.ContainsFunc(texts[0].texts, func(b []byte) bool { return bytes.HasPrefix(b, []byte("http")) }) {
			texts[0].meaning.what = aReferer
		}
		texts = texts[1:]
	}
	for _, c := range texts {
		if !slices.ContainsFunc(c.texts, func(b []byte) bool { return !looksLikeAddress(b) }) && c.word {
			c.meaning.what = aForwardedFor
			return
		}
	}
}

// inferTimes distinguishes the request time from the times of upstreams, which are a part
// of it.
func inferTimes(times []*column, timed bool) (assumed []string) {
	longest := func(of []*column) *column {
		var best *column
		var most time.Duration
		least := 0
		for _, c := range of {
			if sum, missing := c.total(time.Second); best == nil || missing < least || missing == least && sum > most {
				best, most, least = c, sum, missing
			}
		}
		return best
	}
	rest := times
	if !timed {
		single := slices.DeleteFunc(slices.Clone(times), func(c *column) bool { return c.list })
		if len(single) == 0 {
			single = times
		}
		c := longest(single)
		c.meaning = meaning{what: aLatency}
		rest = slices.DeleteFunc(slices.Clone(times), func(o *column) bool { return o == c })
		if len(rest) > 0 {
			assumed = append(assumed, fmt.Sprintf("of %d times after the size the longest is taken for the request time, the next for that of upstreams", len(times)))
		}
	}
	if len(rest) > 0 {
		longest(rest).meaning.what = anUpstream
	}
	return assumed
}

// inferWholes distinguishes whole numbers: lengths of requests, which are longer
// than their first line, lengths of responses, which are longer than their
// bodies, and the request time of Apache's %D or %T where there is no other.
func inferWholes(wholes []*column, same []combinedLine, timed bool) (assumed []string) {
	left := wholes
	take := func(c *column, what field) {
		c.meaning.what = what
		left = slices.DeleteFunc(slices.Clone(left), func(o *column) bool { return o == c })
	}
	if !timed {
		for _, c := range wholes { // %T beside %D
			for _, d := range wholes {
				if c != d && isThousandth(c, d, 1_000_000) {
					take(d, aLatency)
					take(c, noField)
					return append(assumed,
						"of two numbers of which one is a millionth of the other the larger is taken for the request time in µs")
				}
			}
		}
		if len(left) == 1 {
			take(left[0], aLatency)
			return append(assumed, "the whole number after the size is taken for the request time (Apache's %D or %T)")
		}
	}
	var request, response *column
	for _, c := range left {
		switch {
		case request == nil && c.atLeast(same, requestLength):
			request = c
		case response == nil && request != nil && c.atLeast(same,
			func(l combinedLine) int { n, _ := parseDigits(l.size); return int(n) }):
			response = c
		}
	}
	if request != nil {
		take(request, aRequestSize)
	}
	if response != nil {
		take(response, noField)
	}
	if !timed && len(left) > 0 {
		take(left[len(left)-1], aLatency)
		assumed = append(assumed, fmt.Sprintf("the last of %d whole numbers after the size is taken for the request time", len(wholes)))
	}
	return assumed
}

// isThousandth reports whether every value of c is that of d divided by n.
func isThousandth(c, d *column, n uint64) bool {
	some := false
	for i := range c.texts {
		small, ok1 := parseDigits(c.texts[i])
		large, ok2 := parseDigits(d.texts[i])
		if !ok1 || !ok2 || small != large/n {
			return false
		}
		some = some || large > 0
	}
	return some
}

// requestLength returns what a request takes at least: its first line, of which a
// log may write bytes as \xHH, and the ends of two lines. Of what is no request
// nothing is known.
func requestLength(l combinedLine) int {
	var r Record
	if requestLine(l.request, &r); len(r.Path) == 0 {
		return 0
	}
	return len(l.request) - 3*bytes.Count(l.request, []byte(`\x`)) + 4
}

// atLeast reports whether every value is at least what the line demands.
func (c *column) atLeast(same []combinedLine, f func(combinedLine) int) bool {
	for i, text := range c.texts {
		if n, ok := parseDigits(text); ok && n < uint64(max(f(same[i]), 0)) {
			return false
		}
	}
	return true
}
