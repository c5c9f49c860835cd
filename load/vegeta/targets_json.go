package vegeta

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/kasoku/kasoku/load"
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

// encodeTargets returns targets in the JSON format.
func encodeTargets(targets []load.Target) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for i := range targets {
		t := &targets[i]
		j := jsonTarget{Method: t.Method, URL: t.URL, Body: t.Body, Header: t.Header}
		if t.Weight > 1 {
			j.Weight = &t.Weight
		}
		if err := enc.Encode(j); err != nil {
			return nil, fmt.Errorf("encode target: %w", err)
		}
	}
	return b.Bytes(), nil
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
