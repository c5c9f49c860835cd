// Package mackereltest is Mackerel's API as its documentation describes it, as strict as
// that can be read: unknown keys, names and times that the service would refuse are
// answered with 400. Only tests import it.
//
// It shares no type with package mackerel, so that a slip there is seen here.
//
// Source: mackerel.io/api-docs: host-metrics, service-metrics, graph-annotations,
// hosts, check-monitoring; what the real agent posts (mackerel-agent 0.87.0).
package mackereltest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

// Key is the one that the server takes.
const Key = "sekrit-0123456789"

// Service and Role are what the organization has.
const (
	Service = "shop"
	Role    = "app"
)

// A Value is one posted value.
type Value struct {
	Host  string // its id; empty for values of the service
	Name  string
	Time  int64
	Value float64
}

// An Annotation is one that was made.
type Annotation struct {
	Title, Description string
	From, To           int64
	Service            string
	Roles              []string
}

// A Server answers on loopback until the test ends. Its methods may be called from
// several goroutines.
type Server struct {
	URL string

	mu          sync.Mutex
	hosts       map[string]string // id by name
	status      string            // of all of them
	failures    []int
	retryAfter  string
	requests    int
	values      []Value
	annotations []Annotation
	registered  []Host
	graphs      []Graph
	reports     []Report
}

// New starts a server that knows hosts, by their names and ids.
func New(t testing.TB, hosts map[string]string) *Server {
	t.Helper()
	s := &Server{hosts: hosts, status: "working"}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	s.URL = h.URL
	return s
}

// Fail lets the next requests be answered with these codes; 0 breaks the connection.
func (s *Server) Fail(retryAfter string, codes ...int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures, s.retryAfter = codes, retryAfter
}

// SetStatus gives all hosts a status.
func (s *Server) SetStatus(status string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status = status
}

// Requests returns how many there were.
func (s *Server) Requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// Values returns what was posted, in the order of arrival.
func (s *Server) Values() []Value {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.values)
}

// Annotations returns those that were made.
func (s *Server) Annotations() []Annotation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.annotations)
}

// ServeHTTP answers as the service does.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	if len(s.failures) > 0 {
		s.fail(w)
		return
	}
	if r.Header.Get("X-Api-Key") != Key {
		refuse(w, http.StatusForbidden, "Authentication failed. Please try with valid Api Key.")
		return
	}
	if r.Method == http.MethodPost && r.Header.Get("Content-Type") != "application/json" {
		refuse(w, http.StatusUnsupportedMediaType, "want JSON")
		return
	}
	service, ofService := strings.CutPrefix(r.URL.Path, "/api/v0/services/")
	host, ofHost := strings.CutPrefix(r.URL.Path, "/api/v0/hosts/")
	switch {
	case r.Method+r.URL.Path == "POST/api/v0/tsdb":
		s.metrics(w, r, true)
	case r.Method == http.MethodPost && ofService && service == Service+"/tsdb":
		s.metrics(w, r, false)
	case r.Method+r.URL.Path == "POST/api/v0/graph-annotations":
		s.annotate(w, r)
	case r.Method+r.URL.Path == "GET/api/v0/services":
		fmt.Fprintf(w, `{"services":[{"name":%q,"memo":"","roles":[%q]}]}`, Service, Role)
	case r.Method+r.URL.Path == "GET/api/v0/hosts":
		s.list(w, r.URL.Query())
	case r.Method+r.URL.Path == "POST/api/v0/hosts":
		s.register(w, r)
	case ofHost:
		s.host(w, r, host)
	case r.Method+r.URL.Path == "POST/api/v0/graph-defs/create":
		s.define(w, r)
	case r.Method+r.URL.Path == "POST/api/v0/monitoring/checks/report":
		s.report(w, r)
	default:
		refuse(w, http.StatusNotFound, "not found")
	}
}

func (s *Server) fail(w http.ResponseWriter) {
	code := s.failures[0]
	s.failures = s.failures[1:]
	if code == 0 {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Retry-After", s.retryAfter)
	w.Header().Set("Location", "http://127.0.0.1:1/")
	refuse(w, code, "not now")
}

func refuse(w http.ResponseWriter, code int, why string) {
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"message": why}}) // the client may be gone
}

func decode(w http.ResponseWriter, r *http.Request, out any) bool {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(out); err != nil || d.More() {
		refuse(w, http.StatusBadRequest, fmt.Sprint("bad JSON: ", err))
		return false
	}
	return true
}

var validName = regexp.MustCompile(`^[a-zA-Z0-9._-]+$`)

func (s *Server) metrics(w http.ResponseWriter, r *http.Request, ofHosts bool) {
	var in []struct {
		HostID string   `json:"hostId"`
		Name   string   `json:"name"`
		Time   int64    `json:"time"`
		Value  *float64 `json:"value"`
	}
	if !decode(w, r, &in) {
		return
	}
	var values []Value
	for _, v := range in {
		if !validName.MatchString(v.Name) || v.Time <= 0 || v.Value == nil || ofHosts != (v.HostID != "") {
			refuse(w, http.StatusBadRequest, fmt.Sprintf("bad value %+v", v))
			return
		}
		if ofHosts && !s.hasHost(v.HostID) {
			refuse(w, http.StatusNotFound, "no such host")
			return
		}
		values = append(values, Value{v.HostID, v.Name, v.Time, *v.Value})
	}
	s.values = append(s.values, values...)
	fmt.Fprint(w, `{"success":true}`)
}

func (s *Server) hasHost(id string) bool {
	for _, known := range s.hosts {
		if known == id {
			return true
		}
	}
	return false
}

func (s *Server) annotate(w http.ResponseWriter, r *http.Request) {
	var a struct {
		Title       string   `json:"title"`
		Description string   `json:"description"`
		From        int64    `json:"from"`
		To          int64    `json:"to"`
		Service     string   `json:"service"`
		Roles       []string `json:"roles"`
	}
	if !decode(w, r, &a) {
		return
	}
	switch {
	case a.Title == "" || utf8.RuneCountInString(a.Title) > 250 || utf8.RuneCountInString(a.Description) > 1024:
		refuse(w, http.StatusBadRequest, "title or description")
	case a.From <= 0 || a.From > a.To:
		refuse(w, http.StatusBadRequest, "from and to")
	case a.Service != Service || slices.ContainsFunc(a.Roles, func(role string) bool { return role != Role }):
		refuse(w, http.StatusNotFound, "no such service or role")
	default:
		s.annotations = append(s.annotations, Annotation(a))
		fmt.Fprintf(w, `{"id":"an%d","title":%q,"from":%d,"to":%d,"service":%q}`, len(s.annotations)-1, a.Title, a.From, a.To, a.Service)
	}
}

// list lists the hosts of a name that have one of the statuses asked for: working and
// standby when none is.
func (s *Server) list(w http.ResponseWriter, query url.Values) {
	wanted := query["status"]
	if len(wanted) == 0 {
		wanted = []string{"working", "standby"}
	}
	for _, status := range wanted {
		if !slices.Contains(statuses(), status) {
			refuse(w, http.StatusBadRequest, "no such status")
			return
		}
	}
	name := query.Get("name")
	id, known := s.hosts[name]
	if !known || !slices.Contains(wanted, s.status) {
		fmt.Fprint(w, `{"hosts":[]}`)
		return
	}
	fmt.Fprintf(w, `{"hosts":[%s]}`, s.describe(name, id, false))
}
