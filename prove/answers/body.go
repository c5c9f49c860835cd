package answers

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// The forms in which a body is kept.
const (
	formJSON  = "json"
	formHTML  = "html"  // values by the elements that they stand in, and the names of the tags
	formLines = "lines" // of a text
	formHash  = "hash"  // length and SHA-256 of everything else
	formNone  = "none"  // there is no body
)

const (
	// maxBody bounds what is read of an answer, maxKept what is kept as it is; longer
	// ones are kept by their hash.
	maxBody = 16 << 20
	maxKept = 1 << 20
	// maxDepth is how deep a body may be nested: deeper ones are kept by their hash.
	maxDepth = 64
)

var errDeep = fmt.Errorf("nested deeper than %d", maxDepth)

// shapeBody returns a body as a tree, and its form.
func shapeBody(mediaType string, body []byte) (form string, tree any) {
	switch {
	case len(body) == 0:
		return formNone, nil
	case len(body) > maxKept:
	case isJSON(mediaType):
		if v, err := decodeJSON(body); err == nil {
			return formJSON, v
		}
	case mediaType == "text/html" || mediaType == "application/xhtml+xml":
		if v, err := shapeHTML(body); err == nil {
			return formHTML, v
		}
	case strings.HasPrefix(mediaType, "text/") && utf8.Valid(body):
		return formLines, map[string]any{"lines": texts(strings.Split(strings.TrimSuffix(string(body), "\n"), "\n"))}
	}
	return formHash, map[string]any{"bytes": json.Number(fmt.Sprint(len(body))), "hash": fmt.Sprintf("%x", sha256.Sum256(body))}
}

// formOf returns the form in which a body is kept, and what is kept of one that is kept by its
// hash. HTML alone is shaped for that.
func formOf(mediaType string, body []byte) (form string, hash any) {
	if isJSON(mediaType) && len(body) <= maxKept && len(body) > 0 && checkJSON(body) == nil {
		return formJSON, nil
	}
	form, tree := shapeBody(mediaType, body)
	if form == formHash {
		return form, tree
	}
	return form, nil
}

func isJSON(mediaType string) bool {
	return mediaType == "application/json" || strings.HasSuffix(mediaType, "+json")
}

// mediaType is a Content-Type without its parameters, in lower case.
func mediaType(contentType string) string {
	t, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		t, _, _ = strings.Cut(contentType, ";")
	}
	return strings.ToLower(strings.TrimSpace(t))
}

var errNoJSON = errors.New("it is no JSON")

// checkJSON refuses what decodeJSON does, and builds nothing.
func checkJSON(text []byte) error {
	switch {
	case tooDeep(text, 0):
		return errDeep
	case !json.Valid(text):
		return errNoJSON
	}
	return nil
}

// decodeJSON reads one value, numbers as they are written.
func decodeJSON(text []byte) (any, error) {
	if err := checkJSON(text); err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one value")
	}
	return v, nil
}

// tooDeep counts brackets outside of strings, before anything is built of them. more is
// how many levels stand around the values that are bounded.
func tooDeep(text []byte, more int) bool {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			if depth++; depth > maxDepth+more {
				return true
			}
		case c == ']' || c == '}':
			depth--
		}
	}
	return false
}

// voidElements have no end tag: HTML standard, 13.1.2.
const voidElements = " area base br col embed hr img input link meta source track wbr "

// shapeHTML returns the tags of a page in order, and its texts and attributes by the
// elements that they stand in; cells of a table by their column.
func shapeHTML(body []byte) (any, error) {
	z := html.NewTokenizer(bytes.NewReader(body))
	s := &htmlShape{values: map[string][]any{}}
	for {
		switch z.Next() {
		case html.ErrorToken:
			if err := z.Err(); !errors.Is(err, io.EOF) {
				return nil, err
			}
			out := map[string]any{"tags": s.tags}
			for path, values := range s.values {
				out[path] = values
			}
			return out, nil
		case html.StartTagToken, html.SelfClosingTagToken:
			if err := s.open(z.Token()); err != nil {
				return nil, err
			}
		case html.EndTagToken:
			s.close(z.Token().Data)
		case html.TextToken:
			if text := strings.Join(strings.Fields(z.Token().Data), " "); text != "" {
				s.add(s.path(), text)
			}
		}
	}
}

type htmlShape struct {
	stack  []htmlElement
	tags   []any
	values map[string][]any
}

type htmlElement struct {
	tag, label string
	cells      int // so far, of a row
}

func (s *htmlShape) path() string {
	labels := []string{"text"}
	for _, e := range s.stack[max(len(s.stack)-4, 0):] {
		labels = append(labels, e.label)
	}
	return strings.Join(labels, ">")
}

func (s *htmlShape) add(path, value string) { s.values[path] = append(s.values[path], value) }

// implied are elements whose start ends one of the same list that is open, up to an
// element that holds such: HTML standard, 13.1.2.4, "Optional tags".
var implied = []struct{ tags, within string }{
	{" li ", " ul ol menu "}, {" td th ", " tr table "}, {" tr ", " tbody thead tfoot table "}, {" dt dd ", " dl "},
	{" option ", " select datalist optgroup "}, {" p ", " div section article main body td li form "},
}

// closeImplied ends the element that a start tag ends without an end tag.
func (s *htmlShape) closeImplied(tag string) {
	for _, x := range implied {
		if !strings.Contains(x.tags, " "+tag+" ") {
			continue
		}
		for i := len(s.stack) - 1; i >= 0; i-- {
			switch open := " " + s.stack[i].tag + " "; {
			case strings.Contains(x.tags, open):
				s.stack = s.stack[:i]
				return
			case strings.Contains(x.within, open):
				return
			}
		}
	}
}

func (s *htmlShape) open(t html.Token) error {
	s.tags = append(s.tags, t.Data)
	s.closeImplied(t.Data)
	e := htmlElement{tag: t.Data, label: t.Data}
	if t.Data == "td" || t.Data == "th" {
		for i := len(s.stack) - 1; i >= 0; i-- {
			if s.stack[i].tag == "tr" {
				s.stack[i].cells++
				e.label += fmt.Sprint(s.stack[i].cells)
				break
			}
		}
	}
	for _, a := range t.Attr {
		if (a.Key == "id" || a.Key == "name" || a.Key == "class") && len(a.Val) <= 40 {
			e.label += "#" + strings.ReplaceAll(a.Val, " ", "-")
			break
		}
	}
	s.stack = append(s.stack, e)
	for _, a := range t.Attr {
		s.add(s.path()+"@"+a.Key, a.Val)
	}
	if strings.Contains(voidElements, " "+t.Data+" ") {
		s.stack = s.stack[:len(s.stack)-1]
	}
	if len(s.stack) > 4*maxDepth {
		return errDeep
	}
	return nil
}

// close ends the nearest element of the name, and those in it.
func (s *htmlShape) close(tag string) {
	for i := len(s.stack) - 1; i >= 0; i-- {
		if s.stack[i].tag == tag {
			s.stack = s.stack[:i]
			return
		}
	}
}

func texts(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}
