package mackereltest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// NewHost is the id that the first host to register gets. The real agent waits for up
// to half a minute before its first graph definitions and checks, as long as a hash
// of the id says: for this one not at all.
const NewHost = "3kasokuHaea"

// A Host is one that registered itself.
type Host struct {
	ID, Name string
	Roles    []string // SERVICE:ROLE
	Checks   []string // names
	Updates  int      // how often it described itself anew
	Retired  bool
}

// A Graph is the definition of one graph.
type Graph struct {
	Name, Label, Unit string
	Lines             []Line
}

// A Line is the definition of one line of a graph.
type Line struct {
	Name    string `json:"name"`
	Label   string `json:"displayName"`
	Stacked bool   `json:"isStacked"`
}

// A Report is what a check reported.
type Report struct {
	Host, Name, Status, Message string
	Time                        int64
}

// Hosts returns those that registered themselves.
func (s *Server) Hosts() []Host {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.registered)
}

// Graphs returns the definitions that came.
func (s *Server) Graphs() []Graph {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.graphs)
}

// Reports returns those that came, in their order.
func (s *Server) Reports() []Report {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.reports)
}

// A hostParam is what a host says of itself.
type hostParam struct {
	Name             string                     `json:"name"`
	DisplayName      string                     `json:"displayName"`
	Memo             string                     `json:"memo"`
	Meta             map[string]json.RawMessage `json:"meta"`
	Interfaces       []map[string]any           `json:"interfaces"`
	RoleFullnames    []string                   `json:"roleFullnames"`
	CustomIdentifier string                     `json:"customIdentifier"`
	Checks           []struct {
		Name string `json:"name"`
		Memo string `json:"memo"`
	} `json:"checks"`
}

// decodeHost reads a host; with a nil answer the request was refused.
func decodeHost(w http.ResponseWriter, r *http.Request) *Host {
	var in hostParam
	if !decode(w, r, &in) {
		return nil
	}
	h := &Host{Name: in.Name, Roles: in.RoleFullnames}
	for _, c := range in.Checks {
		if c.Name == "" || utf8.RuneCountInString(c.Memo) > 250 {
			refuse(w, http.StatusBadRequest, fmt.Sprintf("check %+v", c))
			return nil
		}
		h.Checks = append(h.Checks, c.Name)
	}
	slices.Sort(h.Checks)
	switch known := Service + ":" + Role; {
	case in.Name == "" || in.Meta == nil:
		refuse(w, http.StatusBadRequest, "name and meta")
		return nil
	case slices.ContainsFunc(in.RoleFullnames, func(role string) bool { return strings.ReplaceAll(role, " ", "") != known }):
		refuse(w, http.StatusBadRequest, "no such role")
		return nil
	}
	return h
}

// register takes a new host.
func (s *Server) register(w http.ResponseWriter, r *http.Request) {
	h := decodeHost(w, r)
	if h == nil {
		return
	}
	h.ID = NewHost
	if n := len(s.registered); n > 0 {
		h.ID = fmt.Sprintf("%s%d", NewHost[:10], n)
	}
	s.registered = append(s.registered, *h)
	if s.hosts == nil {
		s.hosts = map[string]string{}
	}
	s.hosts[h.Name] = h.ID
	fmt.Fprintf(w, `{"id":%q}`, h.ID)
}

// host answers what concerns one host: /api/v0/hosts/ID and what is below.
func (s *Server) host(w http.ResponseWriter, r *http.Request, rest string) {
	id, action, _ := strings.Cut(rest, "/")
	if !s.hasHost(id) {
		refuse(w, http.StatusNotFound, "Host Not Found.")
		return
	}
	at := slices.IndexFunc(s.registered, func(h Host) bool { return h.ID == id })
	switch r.Method + action {
	case "GET":
		for name, known := range s.hosts {
			if known == id {
				fmt.Fprintf(w, `{"host":%s}`, s.describe(name, id, at >= 0 && s.registered[at].Retired))
				return
			}
		}
	case "PUT":
		if h := decodeHost(w, r); h != nil && at >= 0 {
			h.ID, h.Updates = id, s.registered[at].Updates+1
			s.registered[at] = *h
			fmt.Fprintf(w, `{"id":%q}`, id)
		}
	case "POSTretire":
		if decode(w, r, &struct{}{}) && at >= 0 {
			s.registered[at].Retired = true
			fmt.Fprint(w, `{"success":true}`)
		}
	case "POSTstatus":
		var in struct {
			Status string `json:"status"`
		}
		if !decode(w, r, &in) {
			return
		}
		if !slices.Contains(statuses(), in.Status) {
			refuse(w, http.StatusBadRequest, "no such status")
			return
		}
		s.status = in.Status
		fmt.Fprint(w, `{"success":true}`)
	default:
		refuse(w, http.StatusNotFound, "not found")
	}
}

// statuses are all that a host can have.
func statuses() []string { return []string{"working", "standby", "maintenance", "poweroff"} }

// describe is what the service says of a host.
func (s *Server) describe(name, id string, retired bool) []byte {
	text, _ := json.Marshal(map[string]any{ // of strings
		"id": id, "name": name, "displayName": nil, "status": s.status, "memo": "", "isRetired": retired, "createdAt": 1700000000,
		"roles": map[string][]string{Service: {Role}}, "meta": map[string]string{}, "interfaces": []string{},
	})
	return text
}

// graphName is that of a graph or a line of one, with wildcards as whole segments.
var graphName = regexp.MustCompile(`^custom(\.([-a-zA-Z0-9_]+|[*#]))+$`)

// define takes graph definitions.
func (s *Server) define(w http.ResponseWriter, r *http.Request) {
	var in []struct {
		Name        string `json:"name"`
		DisplayName string `json:"displayName"`
		Unit        string `json:"unit"`
		Metrics     []Line `json:"metrics"`
	}
	if !decode(w, r, &in) {
		return
	}
	units := []string{"float", "integer", "percentage", "seconds", "milliseconds", "bytes", "bytes/sec", "bits/sec", "iops"}
	var graphs []Graph
	for _, g := range in {
		badLine := slices.ContainsFunc(g.Metrics, func(l Line) bool {
			return !strings.HasPrefix(l.Name, g.Name+".") || !graphName.MatchString(l.Name)
		})
		if !graphName.MatchString(g.Name) || !slices.Contains(units, g.Unit) || len(g.Metrics) == 0 || badLine {
			refuse(w, http.StatusBadRequest, fmt.Sprintf("bad graph %+v", g))
			return
		}
		graphs = append(graphs, Graph{g.Name, g.DisplayName, g.Unit, g.Metrics})
	}
	s.graphs = append(s.graphs, graphs...)
	fmt.Fprint(w, `{"success":true}`)
}

// report takes what checks say.
func (s *Server) report(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Reports []struct {
			Source struct {
				Type   string `json:"type"`
				HostID string `json:"hostId"`
			} `json:"source"`
			Name                 string `json:"name"`
			Status               string `json:"status"`
			Message              string `json:"message"`
			OccurredAt           int64  `json:"occurredAt"`
			NotificationInterval *int   `json:"notificationInterval"`
			MaxCheckAttempts     int    `json:"maxCheckAttempts"`
		} `json:"reports"`
	}
	if !decode(w, r, &in) {
		return
	}
	var reports []Report
	for _, p := range in.Reports {
		switch {
		case p.Source.Type != "host" || !s.hasHost(p.Source.HostID):
			refuse(w, http.StatusNotFound, "no such host")
			return
		case p.Name == "" || !slices.Contains([]string{"OK", "WARNING", "CRITICAL", "UNKNOWN"}, p.Status),
			utf8.RuneCountInString(p.Message) > 1024, p.OccurredAt <= 0,
			p.NotificationInterval != nil && *p.NotificationInterval < 10, p.MaxCheckAttempts < 0:
			refuse(w, http.StatusBadRequest, fmt.Sprintf("bad report %+v", p))
			return
		}
		reports = append(reports, Report{p.Source.HostID, p.Name, p.Status, p.Message, p.OccurredAt})
	}
	s.reports = append(s.reports, reports...)
	fmt.Fprint(w, `{"success":true}`)
}
