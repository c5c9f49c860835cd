package vegeta

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"golang.org/x/net/http/httpguts"
)

// jsonTarget is a target in Vegeta's target.schema.json, and its weight.
type jsonTarget struct {
	Method string      `json:"method"`
	URL    string      `json:"url"`
	Body   []byte      `json:"body,omitempty"`
	Header http.Header `json:"header,omitempty"`
	Weight *int        `json:"weight,omitempty"`
}

func (t *targetReader) jsonLine(line []byte) error {
	if len(line) == 0 {
		return nil
	}
	var j jsonTarget
	if err := json.Unmarshal(line, &j); err != nil {
		return fmt.Errorf("bad JSON: %w", err)
	}
	switch {
	case j.Method == "":
		return errors.New("bad target: method is missing")
	case j.URL == "":
		return errors.New("bad target: url is missing")
	case !httpguts.ValidHeaderFieldName(j.Method): // both are tokens of RFC 9110
		return fmt.Errorf("bad method %q: want one word, such as GET", clipText(j.Method))
	}
	if j.Weight != nil {
		if err := t.weigh(*j.Weight); err != nil {
			return err
		}
	}
	body := t.Body
	if j.Body != nil {
		body = j.Body
	}
	if err := t.begin(j.Method, j.URL, body, j.Header); err != nil {
		return err
	}
	return t.complete()
}
