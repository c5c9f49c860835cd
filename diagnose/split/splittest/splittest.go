// Package splittest makes, for tests, a run whose figures are known: a web server, an application and a database
// on one host.
package splittest

import (
	"math"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
	hostkeys "github.com/kasoku/kasoku/observe/host"
	"github.com/kasoku/kasoku/observe/mysql"
	"github.com/kasoku/kasoku/observe/process"
)

// A Shop is a run of a web server, an application and a database on one host of some cores.
type Shop struct {
	Cores        float64 // of the host
	Web, App, DB float64 // seconds of CPU for each request
	Generator    float64 // the same, of wrk on the same host
	Stranger     float64 // cores that programs outside of the service use
	PerSec       float64 // requests
	Took         time.Duration
	Questions    float64 // statements for each request; 0: not recorded
	Quota        float64 // cores that all members are held to together; 0: none
	Open         bool    // the load comes at a rate
	Levels       bool    // the benchmark has levels
	Score        float64
	Noise        float64 // by how much seconds differ, 0..1
}

// Seconds is how long a shop is watched.
const Seconds = 40

func counter(host, source, name, instance string, perSec func(second int) float64) kasoku.Series {
	s := kasoku.Series{Key: kasoku.Key{Host: host, Source: source, Name: name, Instance: instance},
		Kind: kasoku.Counter}
	sum := 0.0
	for i := 0; i <= Seconds; i++ {
		s.Points = append(s.Points, kasoku.Point{At: time.Duration(i) * time.Second, Value: sum})
		sum += perSec(i)
	}
	return s
}

// Recording returns the run of a shop.
func (o Shop) Recording() *kasoku.Recording {
	const host = "web"
	rate := func(i int) float64 { return math.Round(o.PerSec * (1 + o.Noise*math.Sin(float64(i)))) }
	rec := &kasoku.Recording{Run: kasoku.Run{Length: Seconds * time.Second, Hosts: []kasoku.Host{{Name: host,
		Cores: int(o.Cores), MemoryBytes: 16 << 30}}}}
	rec.Service = &kasoku.Service{}
	busy := func(i int) float64 { return rate(i)*(o.Web+o.App+o.DB+o.Generator) + o.Stranger }
	member := func(role kasoku.MemberRole, program string, pid int, each float64) {
		m := kasoku.Member{ID: string(role) + " " + program, Role: role, Program: program, Host: host,
			Sure: kasoku.High,
			Processes: []kasoku.MemberProcess{{PID: pid,
				Leader: true}}, Cgroup: "/host", Limits: kasoku.Limits{Cores: o.Quota}}
		rec.Service.Members = append(rec.Service.Members, m)
		instance := map[int]string{10: "10 nginx", 11: "11 shop", 12: "12 mariadbd"}[pid]
		rec.Series = append(rec.Series, counter(host, process.Name, process.CPUUser, instance,
			func(i int) float64 { return rate(i) * each * 3 / 4 }),
			counter(host, process.Name, process.CPUSystem, instance, func(i int) float64 { return rate(i) * each / 4 }))
		rss := kasoku.Series{Key: kasoku.Key{Host: host, Source: process.Name, Name: process.RSS, Instance: instance}}
		for i := 0; i <= Seconds; i++ {
			rss.Points = append(rss.Points, kasoku.Point{At: time.Duration(i) * time.Second,
				Value: float64(pid) * (100 << 20)})
		}
		rec.Series = append(rec.Series, rss)
	}
	member(kasoku.RoleWeb, "nginx", 10, o.Web)
	member(kasoku.RoleApplication, "shop", 11, o.App)
	member(kasoku.RoleDatabase, "mariadbd", 12, o.DB)
	ids := []string{"", rec.Service.Members[0].ID, rec.Service.Members[1].ID, rec.Service.Members[2].ID}
	for i := range 3 {
		rec.Service.Edges = append(rec.Service.Edges, kasoku.Edge{From: ids[i], To: ids[i+1],
			At: kasoku.Listener{Network: "tcp", Address: "127.0.0.1:4000"}})
	}
	if o.Generator > 0 {
		rec.Series = append(rec.Series, counter(host, process.Name, process.CPUUser, "13 wrk",
			func(i int) float64 { return rate(i) * o.Generator }))
	}
	rec.Series = append(rec.Series, counter(host, hostkeys.Name, hostkeys.CPUUser, "", busy),
		counter(host, hostkeys.Name, hostkeys.CPUIdle, "", func(i int) float64 { return max(o.Cores-busy(i), 0) }))
	if o.Questions > 0 {
		rec.Series = append(rec.Series, counter(host, mysql.Name, mysql.Questions, "",
			func(i int) float64 { return rate(i) * o.Questions }))
	}
	e := kasoku.Endpoint{Host: host, Method: "GET", Route: "/item", Latency: histogram.New(),
		Seconds: map[int]kasoku.EndpointSecond{}}
	for i := range Seconds {
		n := uint64(rate(i))
		e.Seconds[i] = kasoku.EndpointSecond{Count: n}
		e.Count += n
		e.Total += o.Took * time.Duration(n)
		e.Latency.RecordN(o.Took, n)
	}
	rec.Endpoints = []kasoku.Endpoint{e}
	rec.Phases = []kasoku.Phase{{Kind: kasoku.PhaseLoad, Interval: kasoku.Interval{To: Seconds * time.Second}}}
	if o.Open {
		rec.Load = &kasoku.LoadSummary{Model: "open loop"}
	}
	if o.Levels {
		rec.Events = append(rec.Events, kasoku.Event{Kind: kasoku.EventLevel, Text: "level 1"})
	}
	if o.Score > 0 {
		rec.Run.Score = &kasoku.Score{Value: o.Score, Outcome: kasoku.Passed}
	}
	return rec
}
