package agent

import (
	"bytes"
	"container/list"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A memory is the private cache of a browser (RFC 9111): an answer is used again as
// long as it is fresh, and then revalidated with the server. Freshness is what max-age
// says; Expires is not looked at. The least recently used answer is dropped first.
type memory struct {
	max int64 // bytes

	mu     sync.Mutex
	size   int64
	byURL  map[string]*list.Element // of *entry
	recent *list.List               // of *entry, the one used last first
}

// An entry is an answer that is remembered. It is immutable.
type entry struct {
	url            string
	status         int
	header, body   []byte
	etag, modified string    // sent to ask whether it holds
	fresh          time.Time // until when it is used without asking
	vary           []field   // what the request said that the answer depends on
}

func newMemory(max int64) *memory {
	return &memory{max: max, byURL: map[string]*list.Element{}, recent: list.New()}
}

// overhead is about what an entry takes in addition to its texts.
const overhead = 512

func (e *entry) size() int64 { return int64(len(e.url) + len(e.header) + len(e.body) + overhead) }

// remembers reports whether the call may be answered from memory, or its answer
// be kept: whoever sets conditions himself does not want that.
func (x *call) remembers() bool {
	if x.method != http.MethodGet || len(x.r.Body) > 0 {
		return false
	}
	for _, name := range []string{"If-None-Match", "If-Modified-Since", "Range", "Cache-Control", "Pragma"} {
		if x.r.Header[name] != nil {
			return false
		}
	}
	return true
}

// key is what the answer to a call is remembered by.
func (x *call) key() string {
	if x.url != nil {
		return x.url.String()
	}
	return x.uri
}

// find returns what is remembered for a call, nil for nothing.
func (m *memory) find(x *call) *entry {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.byURL) == 0 || !x.remembers() {
		return nil
	}
	el := m.byURL[x.key()]
	if el == nil {
		return nil
	}
	e := el.Value.(*entry)
	for _, f := range e.vary {
		if x.said(f.name) != f.value {
			return nil
		}
	}
	m.recent.MoveToFront(el)
	return e
}

// said returns what the request says in a field, of those that differ between
// requests.
func (x *call) said(name string) string {
	if name == "Cookie" {
		return x.cookie
	}
	return strings.Join(x.r.Header[name], ", ")
}

// take keeps or drops an answer as its header says, and completes a 304 answer with
// what is remembered.
func (m *memory) take(x *call, said *fields) {
	if x.known != nil && x.code == http.StatusNotModified {
		m.confirm(x, said)
		return
	}
	switch x.method {
	case http.MethodGet:
		if len(said.etag)+len(said.modified)+len(said.control) > 0 {
			m.keep(x, said)
		}
	case http.MethodHead, http.MethodOptions, http.MethodTrace:
	default:
		if x.code >= 200 && x.code < 400 { // RFC 9111, 4.4
			m.forget(x.key())
		}
	}
}

// confirm takes that the server says that what is remembered still holds.
func (m *memory) confirm(x *call, said *fields) {
	e := *x.known
	if control := readControl(said.control); !control.noStore {
		e.fresh = x.due.Add(control.fresh)
		if len(said.etag) > 0 {
			e.etag = string(said.etag)
		}
		m.put(&e)
	} else {
		m.forget(e.url)
	}
	res := x.res
	res.Status, res.Header, res.Body, res.NotModified = e.status, Header{e.header}, e.body, true
}

// keep remembers an answer if it may.
func (m *memory) keep(x *call, said *fields) {
	control := readControl(said.control)
	useful := len(said.etag)+len(said.modified) > 0 || control.fresh > 0
	if x.code != http.StatusOK || !useful || control.noStore || bytes.IndexByte(said.vary, '*') >= 0 || !x.remembers() {
		if x.known != nil {
			m.forget(x.key())
		}
		return
	}
	e := &entry{
		url: x.key(), status: x.code, header: x.res.Header.lines, body: x.res.Body,
		etag: string(said.etag), modified: string(said.modified), fresh: x.due.Add(control.fresh),
	}
	for name := range strings.SplitSeq(string(said.vary), ",") {
		if name = http.CanonicalHeaderKey(strings.TrimSpace(name)); name != "" {
			e.vary = append(e.vary, field{name: name, value: x.said(name)})
		}
	}
	x.res.shared = m.put(e)
}

// put remembers an entry, in place of what was remembered of its URL. It returns
// false when there is no room for it.
func (m *memory) put(e *entry) bool {
	m.forget(e.url)
	size := e.size()
	if size > m.max {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.size+size > m.max {
		m.drop(m.recent.Back())
	}
	m.size += size
	m.byURL[e.url] = m.recent.PushFront(e)
	return true
}

func (m *memory) forget(url string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if el := m.byURL[url]; el != nil {
		m.drop(el)
	}
}

// drop forgets an entry. The lock is held.
func (m *memory) drop(el *list.Element) {
	e := m.recent.Remove(el).(*entry)
	delete(m.byURL, e.url)
	m.size -= e.size()
}

// appendConditions appends the fields that ask whether the entry still holds.
func (e *entry) appendConditions(dst []byte) []byte {
	if e.etag != "" {
		dst = appendLine(dst, "If-None-Match", e.etag)
	}
	if e.modified != "" {
		dst = appendLine(dst, "If-Modified-Since", e.modified)
	}
	return dst
}

// response returns the entry as the answer to a call for which nothing was sent.
func (e *entry) response(x *call) *Response {
	return &Response{Status: e.status, Header: Header{e.header}, Body: e.body, Cached: true, Sent: x.due, Done: x.due,
		base: x.a.base, uri: x.uri, url: x.url}
}

// control is what Cache-Control says.
type control struct {
	noStore bool
	fresh   time.Duration // 0: it must be asked for each time
}

func readControl(b []byte) (c control) {
	noCache := false
	for one := range strings.SplitSeq(strings.ToLower(string(b)), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(one), "=")
		switch name {
		case "no-store":
			c.noStore = true
		case "no-cache":
			noCache = true
		case "max-age":
			// More than a day is as good as ever.
			if n, err := strconv.ParseInt(strings.Trim(value, `"`), 10, 64); err == nil && n > 0 {
				c.fresh = time.Duration(min(n, 24*60*60)) * time.Second
			}
		}
	}
	if noCache || c.noStore {
		c.fresh = 0
	}
	return c
}
