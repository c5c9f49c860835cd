package serve

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku/compare/part"
	"github.com/kasoku/kasoku/report/encode"
	"github.com/kasoku/kasoku/report/recorded"
	"github.com/kasoku/kasoku/report/runlist"
)

//go:embed openapi.json
var openAPIText []byte

// An api answers programs, and what pages send.
type api struct{ *Server }

// sendJSON sends what is written in whole or not at all.
func sendJSON(w http.ResponseWriter, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, _ = w.Write(b.Bytes())
	return nil
}

// sendProblem sends why there is no answer (RFC 9457).
func sendProblem(w http.ResponseWriter, code int, detail, hint string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(code)
	problem := map[string]any{"type": "about:blank", "title": http.StatusText(code), "status": code, "detail": detail}
	if hint != "" {
		problem["hint"] = hint
	}
	_ = json.NewEncoder(w).Encode(problem)
}

func (a api) openAPI(w http.ResponseWriter, _ *http.Request) error {
	return sendJSON(w, func(to io.Writer) error { _, err := to.Write(openAPIText); return err })
}

// listJSON is what kasoku list -o json prints.
func (a api) listJSON(w http.ResponseWriter, _ *http.Request) error {
	infos, err := a.runs.list()
	if err != nil {
		return err
	}
	return sendJSON(w, func(to io.Writer) error {
		return encode.ListJSON(to, runlist.ListSteps(infos, runlist.ListOptions{Options: a.Report("")}))
	})
}

// runJSON is what kasoku show -o json prints, with from and to of some seconds.
func (a api) runJSON(w http.ResponseWriter, r *http.Request) error {
	rec, path, err := a.runs.run(r.PathValue("name"))
	if err != nil {
		return err
	}
	o := a.Report(path)
	if r.FormValue("from") == "" && r.FormValue("to") == "" {
		return sendJSON(w, func(to io.Writer) error { return encode.RunJSON(to, rec, o) })
	}
	length := recorded.Of(rec, o).Length()
	from, to := r.FormValue("from"), r.FormValue("to")
	if from == "" {
		from = "0"
	}
	if to == "" {
		to = strconv.FormatFloat(math.Ceil(length.Seconds()), 'f', -1, 64)
	}
	iv, err := stretch(from + "-" + to)
	if err != nil {
		return err
	}
	p, err := part.Of(rec, length, iv)
	if err != nil {
		return err
	}
	return sendJSON(w, func(to io.Writer) error { return encode.PartJSON(to, p, o) })
}

// compareJSON is what kasoku compare -o json prints.
func (a api) compareJSON(w http.ResponseWriter, r *http.Request) error {
	c, err := a.compared(r)
	if err != nil {
		return err
	}
	return sendJSON(w, func(to io.Writer) error { return encode.ComparisonJSON(to, c) })
}

// errForbidden is of a change that this server does not allow.
var errForbidden = errors.New("this server changes nothing of the kind")

// posted reads what a form or a program sends for a run that is finished.
func (a api) posted(r *http.Request, key string) (path, value string, err error) {
	if path, err = a.runs.find(r.PathValue("name")); err != nil {
		return "", "", err
	}
	if err := r.ParseForm(); err != nil {
		return "", "", &askedError{"what was sent is no form", ""}
	}
	if !r.PostForm.Has(key) {
		return "", "", &askedError{key + " is missing",
			"send " + key + "=… as a form (application/x-www-form-urlencoded)"}
	}
	infos, err := a.runs.recording()
	if err != nil {
		return "", "", err
	}
	for _, i := range infos {
		if i.Path == path {
			return "", "", &askedError{"the run is being recorded", "wait for its end"}
		}
	}
	return path, strings.TrimSpace(r.PostForm.Get(key)), nil
}

func (a api) postNote(w http.ResponseWriter, r *http.Request) error {
	if a.Note == nil {
		return errForbidden
	}
	path, text, err := a.posted(r, "note")
	if err != nil {
		return err
	}
	if err := a.Note(path, text); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// scoreOf reads a score as people write it, 12,345 or 98.5; empty is none. 12,5 is neither: which number is meant is
// not known.
func scoreOf(text string) (*float64, error) {
	if text == "" {
		return nil, nil
	}
	whole, fraction, _ := strings.Cut(text, ".")
	groups := strings.Split(whole, ",")
	bad := strings.Contains(fraction, ",") || len(groups) > 1 && len(strings.TrimLeft(groups[0], "-")) > 3
	for _, g := range groups[1:] {
		bad = bad || len(g) != 3
	}
	value, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	if err != nil || bad || math.IsNaN(value) || math.IsInf(value, 0) {
		return nil, &askedError{strconv.Quote(text) + " is no score", "a number such as 12345, 12,345 or 98.5; empty removes it"}
	}
	return &value, nil
}

func (a api) postScore(w http.ResponseWriter, r *http.Request) error {
	if a.Score == nil {
		return errForbidden
	}
	path, text, err := a.posted(r, "score")
	if err != nil {
		return err
	}
	value, err := scoreOf(text)
	if err != nil {
		return err
	}
	if err := a.Score(path, value); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
