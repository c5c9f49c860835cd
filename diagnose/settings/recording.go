package settings

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/observe/cgroup"
	hostkeys "github.com/kasoku/kasoku/observe/host"
	mysqlkeys "github.com/kasoku/kasoku/observe/mysql"
	"github.com/kasoku/kasoku/observe/process"
)

// The names under which a run keeps what is read here: sources and scopes.
const (
	sourceMySQL  = mysqlkeys.Name
	sourceHost   = hostkeys.Name
	sourceCgroup = cgroup.Name
	scopeSysctl  = "sysctl"
)

// FromRecording takes what a run recorded of its database, over its load. What a run
// does not keep is a [Lack].
func FromRecording(rec *kasoku.Recording) Input {
	in := Input{Variables: map[string]string{}, Status: map[string]float64{}, Words: map[string]string{}}
	for _, s := range rec.Settings {
		if s.Scope == sourceMySQL && (in.Host == "" || s.Host == in.Host) {
			in.Host, in.Variables[s.Name] = s.Host, s.Value
		}
	}
	r := recorded{rec, &in, loadOf(rec)}
	r.status()
	r.disturbed()
	r.tables()
	r.host()
	r.lacks()
	return in
}

// A recorded is a run being taken apart.
type recorded struct {
	rec  *kasoku.Recording
	in   *Input
	load kasoku.Interval
}

// loadOf returns the time in which a run had load: its steps, else the longest
// stretch of load in its traffic, else all of it.
func loadOf(rec *kasoku.Recording) kasoku.Interval {
	var iv kasoku.Interval
	for i, s := range rec.Steps {
		if i == 0 || s.Interval.From < iv.From {
			iv.From = s.Interval.From
		}
		iv.To = max(iv.To, s.Interval.To)
	}
	if !iv.Empty() {
		return iv
	}
	for _, p := range rec.Phases {
		if p.Kind == kasoku.PhaseLoad && p.Interval.Len() > iv.Len() {
			iv = p.Interval
		}
	}
	if !iv.Empty() {
		return iv
	}
	return rec.Whole()
}

// status takes the growth of counters over the load, the highest of gauges that fill
// up, and the last value of the others.
func (r recorded) status() {
	in := r.in
	seen := false
	for i := range r.rec.Series {
		s := &r.rec.Series[i]
		if s.Key.Source != sourceMySQL || s.Key.Instance != "" || len(s.Points) == 0 || in.Host != "" &&
			s.Key.Host != in.Host {
			continue
		}
		seen = true
		v, ok := s.At(r.load.To)
		if !ok {
			v = s.Points[0].Value
		}
		if most, ok := s.Max(r.load); ok && s.Kind == kasoku.Gauge {
			v = max(v, most)
		}
		in.Status[s.Key.Name] = v
		if s.Kind != kasoku.Counter {
			continue
		}
		if grown, ok := s.Delta(r.load); ok && !math.IsNaN(grown) && !math.IsInf(grown, 0) {
			if in.Grown == nil {
				in.Grown = map[string]float64{}
			}
			in.Grown[s.Key.Name] = grown
		}
	}
	if !seen {
		r.in.miss("the run has no samples of the database", "kasoku record --mysql DSN", PartStatus)
		return
	}
	if in.Grown == nil {
		r.in.miss("the run has too few samples of the database", "", PartStatus)
		return
	}
	in.Window, in.Load = r.window(), true
	in.Over = sinceWords(r.load.Len()) + " of load"
	r.connections()
}

// window is the time between the samples that the growth is taken from.
func (r recorded) window() time.Duration {
	s := r.rec.Find(kasoku.Key{Host: r.in.Host, Source: sourceMySQL, Name: mysqlkeys.Questions})
	if s == nil || len(s.Points) == 0 {
		return r.load.Len()
	}
	from, to := s.Points[0].At, s.Points[len(s.Points)-1].At
	for _, p := range s.Points {
		if p.At <= r.load.From {
			from = p.At
		}
		if p.At >= r.load.To {
			to = p.At
			break
		}
	}
	return max(to-from, 0)
}

// connections replaces the most that were open since the server was started by the
// most of this load: one sample a second misses peaks, so a new record counts.
func (r recorded) connections() {
	find := func(name string) *kasoku.Series {
		return r.rec.Find(kasoku.Key{Host: r.in.Host, Source: sourceMySQL, Name: name})
	}
	most, open := find(mysqlkeys.MaxUsedConnections), find(mysqlkeys.ThreadsConnected)
	if most == nil || open == nil {
		return
	}
	if v, ok := most.At(r.rec.Run.Length); ok {
		r.in.Memory.MostOpen = v
	}
	peak, ok := open.Max(r.load)
	if !ok {
		return
	}
	if before, ok := most.At(r.load.From); !ok || r.in.Status[mysqlkeys.MaxUsedConnections] <= before {
		r.in.Status[mysqlkeys.MaxUsedConnections] = peak
	}
}

// disturbed notes what kasoku's own slow log has counted.
func (r recorded) disturbed() {
	for _, c := range r.rec.Changes {
		if c.Name == "long_query_time" || c.Name == "slow_query_log" {
			r.in.Disturbed = map[string]string{
				mysqlkeys.SlowQueries: "kasoku logged all statements of this run as slow ones",
			}
		}
	}
}

// tables takes the tables that plans of the run read.
func (r recorded) tables() {
	var s Schema
	for _, t := range r.rec.Tables {
		if r.in.Host != "" && t.Host != "" && t.Host != r.in.Host {
			continue
		}
		s.Tables = append(s.Tables, Table{Table: mysql.Table{
			Schema: t.Schema, Name: t.Name, Engine: t.Engine,
			Rows: int64(min(t.Rows, 1<<62)), DataBytes: int64(min(t.DataBytes, 1<<62)),
			IndexBytes: int64(min(t.IndexBytes, 1<<62)),
		}})
	}
	if len(s.Tables) == 0 {
		r.in.miss("the run has none", "kasoku advise --dsn DSN asks the server", PartTables)
		return
	}
	s.Partial = true
	r.in.Schema = &s
}

// host takes what the run says of the machine that the database is on.
func (r recorded) host() {
	h := r.machine()
	if h == nil {
		why := "the run has nothing of the database's host"
		r.in.miss(why, "give --ram", PartMemory)
		r.in.miss(why, "", PartSystem, PartCores, PartDiskTime)
		return
	}
	in := r.in
	r.memory(h)
	if in.Memory.RAM == 0 {
		r.in.miss("the run does not report the memory of "+h.Name, "give --ram", PartMemory)
	}
	if in.System.Cores = h.Cores; h.Cores == 0 {
		r.in.miss("the run does not report the cores of "+h.Name, "", PartCores)
	}
	if all := r.rec.Service.Of(kasoku.RoleDatabase); len(all) == 1 && all[0].Host == h.Name {
		in.System.Cores = heldCores(in.System.Cores, all[0].Limits)
	}
	for _, s := range r.rec.Settings {
		if s.Scope == scopeSysctl && s.Host == h.Name {
			if in.System.Settings == nil {
				in.System.Settings = map[string]string{}
			}
			in.System.Settings[s.Name] = s.Value
		}
	}
	if in.System.Settings == nil {
		r.in.miss("the run has no settings of the kernel", "kasoku record without --no-capture", PartSystem)
	}
	r.disk(h.Name)
}

// memory takes what the database's host has and what others use of it, or the limit of the
// database's own control groups where less is left below it.
func (r recorded) memory(h *kasoku.Host) {
	m := &r.in.Memory
	m.RAM, m.From = h.MemoryBytes, "memory of "+h.Name
	db := r.database(h.Name)
	if db == nil {
		return
	}
	m.Others, m.Seen = r.others(h, db)
	for _, s := range r.rec.FindAll(sourceCgroup, cgroup.MemoryMax) {
		if s.Key.Host != h.Name || !db.InGroup(s.Key.Instance) {
			continue
		}
		if v, ok := s.At(r.load.To); ok && v > 0 {
			m.limit(uint64(min(v, 1<<62)), 0, s.Key.Instance)
		}
	}
}

// database returns the member that is the database of this run: the only one on its host, or
// the one that listens at its port.
func (r recorded) database(host string) *kasoku.Member {
	var all, listening []*kasoku.Member
	for _, m := range r.rec.Service.Of(kasoku.RoleDatabase) {
		if m.Host != "" && m.Host != host {
			continue
		}
		all = append(all, m)
		if slices.ContainsFunc(m.Listeners, func(l kasoku.Listener) bool {
			return l.Port() != 0 && strconv.Itoa(l.Port()) == r.in.Variables["port"]
		}) {
			listening = append(listening, m)
		}
	}
	switch {
	case len(all) == 1:
		return all[0]
	case len(listening) == 1:
		return listening[0]
	}
	return nil
}

// others returns the most memory of the run that neither was available nor the database's.
// Caches of files are available.
func (r recorded) others(h *kasoku.Host, db *kasoku.Member) (most uint64, seen bool) {
	free := r.rec.Find(kasoku.Key{Host: h.Name, Source: sourceHost, Name: hostkeys.MemAvailable})
	if free == nil || h.MemoryBytes == 0 {
		return 0, false
	}
	var own []kasoku.Series
	for _, s := range r.rec.FindAll(process.Name, process.RSS) {
		pid, _, _ := strings.Cut(s.Key.Instance, " ")
		if n, err := strconv.Atoi(pid); err == nil && s.Key.Host == h.Name && db.Has(n) {
			own = append(own, *s)
		}
	}
	for _, p := range free.Points {
		used, known := float64(h.MemoryBytes)-p.Value, false
		for _, s := range own {
			if v, ok := s.At(p.At); ok {
				used, known = used-v, true
			}
		}
		if known && used < 1<<62 {
			most, seen = max(most, uint64(max(used, 0))), true
		}
	}
	return most, seen
}

// machine returns the host that the database says it is on, nil when the run has not
// observed it.
func (r recorded) machine() *kasoku.Host {
	name := shortName(r.in.Variables["hostname"])
	for i := range r.rec.Run.Hosts {
		if h := &r.rec.Run.Hosts[i]; name != "" && shortName(h.Name) == name {
			return h
		}
	}
	return nil
}

// heldCores returns how many of a host's cores a member may use, at least one: fewer where
// taskset, a cpuset or a quota holds it.
func heldCores(cores int, l kasoku.Limits) int {
	if n := len(unit.ParseCores(l.CPUs)); n > 0 {
		cores = min(cores, n)
	}
	if l.Cores > 0 {
		cores = min(cores, int(math.Ceil(l.Cores)))
	}
	return cores
}

// shortName cuts the domain off a host's name.
func shortName(s string) string {
	short, _, _ := strings.Cut(s, ".")
	return short
}

// disk takes the mean time of a write to the disk that took the least for one: which of several
// is the database's is not recorded.
func (r recorded) disk(host string) {
	for _, s := range r.rec.FindAll(sourceHost, hostkeys.DiskWriteTime) {
		if s.Key.Host != host {
			continue
		}
		spent, ok := s.Delta(r.load)
		writes := r.rec.Find(kasoku.Key{Host: host, Source: sourceHost, Name: hostkeys.DiskWrites,
			Instance: s.Key.Instance})
		if !ok || writes == nil {
			continue
		}
		n, ok := writes.Delta(r.load)
		if !ok || n < fewWrites || spent/n >= 1e6 {
			continue
		}
		if each := time.Duration(spent / n * float64(time.Second)); r.in.System.Writes == 0 || each < r.in.System.WriteTime {
			r.in.System.Writes, r.in.System.WriteTime = n, each
		}
	}
	if r.in.System.Writes == 0 {
		r.in.miss("the run has no writes to a disk", "", PartDiskTime)
	}
}

// lacks names what a run never keeps.
func (r recorded) lacks() {
	if len(r.in.Variables) == 0 {
		r.in.miss("the run has none of a database", "kasoku record --mysql DSN", PartVariables)
	}
	if s := r.rec.Find(kasoku.Key{Host: r.in.Host, Source: sourceMySQL, Name: mysqlkeys.TrxOldest}); s != nil {
		if v, ok := s.Max(r.load); ok && v >= 0 && v < 1e9 {
			r.in.Transactions = &Transactions{Oldest: time.Duration(v * float64(time.Second))}
		}
	}
	if r.in.Transactions == nil {
		r.in.miss("the run has none", "the user that records needs PROCESS", PartTransactions)
	}
	if v, ok := r.in.Status[mysqlkeys.SlavesConnected]; ok {
		r.in.Readers = int(min(max(v, 0), 1e6))
	} else {
		r.in.miss("a run does not keep them", "kasoku advise --dsn DSN asks the server", PartReaders)
	}
	r.in.miss("a run does not keep them", "kasoku advise --dsn DSN asks the server", PartIndexes, PartUsage,
		PartAccounts)
	r.in.miss("a run does not keep it", "kasoku advise --dsn DSN asks the server", PartReplica)
	r.in.miss("a run does not keep it", "kasoku advise --dsn DSN asks the server, on its host", PartDisk)
	if !r.in.Memory.Seen {
		r.in.miss("the run does not show what the database and the others on its host use",
			"kasoku advise --dsn DSN asks the server, on its host", PartOthers)
	}
}
