package encode

import (
	"fmt"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
)

// A Service is what a run measured.
type Service struct {
	Picture string   `json:"picture,omitempty"` // load → nginx :80 → puma (3 × 5) → mariadbd :3306
	Members []Member `json:"members"`
	Edges   []Edge   `json:"edges"`
	Unknown []Unseen `json:"unknown"`
	// Neighbours are the cores that programs outside of the service used, by host.
	Neighbours map[string]float64 `json:"neighbour_cores,omitempty"`
	// NeighbourDisk is their share of the bytes that processes read from disks and wrote.
	NeighbourDisk map[string]float64 `json:"neighbour_disk,omitempty"`
}

// A Member is one program of the service.
type Member struct {
	ID        string          `json:"id"`
	Role      string          `json:"role"`
	Program   string          `json:"program"`
	Host      string          `json:"host"`
	Unit      string          `json:"unit,omitempty"`
	Container string          `json:"container,omitempty"`
	Cgroup    string          `json:"cgroup,omitempty"`
	Processes []MemberProcess `json:"processes"`
	Listeners []string        `json:"listeners"`
	Language  string          `json:"language,omitempty"`
	Framework string          `json:"framework,omitempty"`
	Version   string          `json:"version,omitempty"`
	Workers   int             `json:"workers"`
	Threads   int             `json:"threads,omitempty"`
	CPUs      string          `json:"cpus,omitempty"`
	MaxCores  float64         `json:"max_cores,omitempty"`
	Logs      []string        `json:"logs"`
	Configs   []string        `json:"configs"`
	Blocks    []string        `json:"blocks,omitempty"`
	Found     []Reason        `json:"found"`
	Sure      string          `json:"sure"`
	Others    int             `json:"others,omitempty"`
}

// A MemberProcess is one process of a member.
type MemberProcess struct {
	PID    int     `json:"pid"`
	Leader bool    `json:"leader,omitempty"`
	Ended  float64 `json:"ended_s,omitempty"`
}

// An Edge leads from one member to another.
type Edge struct {
	From     string   `json:"from"`
	To       string   `json:"to"`
	Address  string   `json:"address"`
	Protocol string   `json:"protocol,omitempty"`
	Seen     int      `json:"connections"`
	Weak     bool     `json:"weak,omitempty"`
	Found    []Reason `json:"found"`
}

// A Reason is a piece of evidence.
type Reason struct {
	By   string `json:"by"`
	Text string `json:"text"`
}

// An Unseen is something that is not known of the service.
type Unseen struct {
	What string `json:"what"`
	Why  string `json:"why"`
	Show string `json:"show,omitempty"`
}

// NewService returns the service, nil when it was not looked for.
func NewService(s *kasoku.Service) *Service {
	if s == nil {
		return nil
	}
	return &Service{Picture: s.Picture(), Members: list(s.Members, newMember), Edges: list(s.Edges, newEdge),
		Unknown: list(s.Unknown, func(u *kasoku.Unseen) Unseen { return Unseen(*u) })}
}

// newRunService adds what others used during the run.
func newRunService(r *kasoku.Recording) *Service {
	out := NewService(r.Service)
	if out == nil {
		return nil
	}
	c := diagnose.NewCase(r, nil)
	for _, h := range r.Run.Hosts {
		if cores, ok := c.NeighbourCores(h.Name); ok {
			setHost(&out.Neighbours, h.Name, cores)
		}
		if used, all, ok := c.Hosts().NeighbourBytes(h.Name); ok && all > 0 {
			setHost(&out.NeighbourDisk, h.Name, used/all)
		}
	}
	return out
}

// setHost adds a host to a map that may not be there yet.
func setHost(values *map[string]float64, host string, v float64) {
	if *values == nil {
		*values = map[string]float64{}
	}
	(*values)[host] = v
}

func newMember(m *kasoku.Member) Member {
	return Member{ID: m.ID, Role: string(m.Role), Program: m.Program, Host: m.Host, Unit: m.Unit, Container: m.Container,
		Cgroup: m.Cgroup, Language: m.Language, Framework: m.Framework, Version: m.Version, Workers: m.Workers,
		Threads: m.Threads, CPUs: m.Limits.CPUs, MaxCores: m.Limits.Cores, Logs: full(m.Logs), Configs: full(m.Configs), Sure: string(m.Sure), Others: m.Others,
		Processes: list(m.Processes, func(p *kasoku.MemberProcess) MemberProcess {
			return MemberProcess{p.PID, p.Leader, p.Ended.Seconds()}
		}),
		Listeners: list(m.Listeners, func(l *kasoku.Listener) string { return l.Address }),
		Blocks:    list(m.Blocks, func(b *kasoku.ConfigBlock) string { return fmt.Sprintf("%s:%d", b.File, b.Line) }),
		Found:     list(m.Found, newReason),
	}
}

func newEdge(e *kasoku.Edge) Edge {
	return Edge{e.From, e.To, e.At.Address, e.Protocol, e.Seen, e.Weak, list(e.Found, newReason)}
}

func newReason(r *kasoku.Reason) Reason { return Reason{string(r.By), r.Text} }
