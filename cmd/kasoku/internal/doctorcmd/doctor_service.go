package doctorcmd

import (
	"cmp"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/initcmd"
	"github.com/kasoku/kasoku/config"
	"github.com/kasoku/kasoku/internal/procstat"
	"github.com/kasoku/kasoku/record"
	"github.com/kasoku/kasoku/report/machine"
	"github.com/kasoku/kasoku/topology"
	"github.com/kasoku/kasoku/topology/find"
)

const areaService = "service"

// membersCheck draws the service.
const membersCheck = "members"

// A serviceExam is of the service that is measured.
type serviceExam struct {
	exam
	service kasoku.Service // as far as it is known
	cpu     cpuTime        // when the look began
}

// find finds the service that the configuration is about; without one, the only
// one that runs here. What was found of others is left out from then on.
func (x *serviceExam) find() {
	var all []find.Candidate
	var err error
	if x.configured() {
		x.service, err = record.ServiceNow(x.ctx, x.c)
	} else if all, err = find.Services(x.ctx); len(all) == 1 {
		x.service = all[0].Service
	}
	switch {
	case err != nil:
		x.add(check{Area: areaService, Name: membersCheck, State: checkWarn, Seen: err.Error(),
			Lost: "which programs are the service's, and which are neighbours"})
		return
	case len(all) > 1:
		initcmd.Narrow(x.found, &x.service, false) // what a run would keep: nothing of any
		x.add(check{Area: areaService, Name: membersCheck, State: checkWarn,
			Seen: strconv.Itoa(len(all)) + " services run here, at the ports " + initcmd.Ports(all),
			Lost: "which of them is measured", Grants: []grant{{inShell, x.e.Name + " init --port " + strconv.Itoa(all[0].Port)}}})
		return
	}
	ours, err := initcmd.LookAt(x.ctx, &x.service)
	if !x.configured() && len(all) == 0 { // no service runs here, and so no stranger's
		ours, err = topology.Look(x.ctx, topology.Options{})
	}
	if err != nil {
		x.add(check{Area: areaService, Name: membersCheck, State: checkWarn, Seen: err.Error(),
			Lost: "what the members report of themselves"})
		return
	}
	initcmd.KeepLost(ours, x.found)
	x.found = ours
	// Where the load comes in is known, or was said: what is not found of it is no stranger's.
	entry := slices.ContainsFunc(x.service.Edges, func(e kasoku.Edge) bool { return e.From == "" })
	if n := x.c.Service; entry || x.configured() && (n.URL != "" || n.Port != 0 || n.Unit != "" || n.PID != 0) {
		initcmd.Narrow(x.found, &x.service, len(all) == 1)
		x.narrowed = true
	}
	if all := x.service.Of(kasoku.RoleApplication); len(all) == 1 {
		x.application = all[0]
	}
	x.cpu = takeCPU(&x.service)
}

// check says what is measured, how each member was found, and what is not known.
func (x *serviceExam) check() {
	beside := ""
	if used, cores, ok := x.cpu.neighbours(&x.service); ok {
		beside = machine.Neighbours(used, cores)
	}
	if line := machine.Service(&x.service, beside); line != "" {
		x.ok(areaService, membersCheck, "%s", line)
	}
	for i := range x.service.Members {
		m := &x.service.Members[i]
		c := check{Area: areaService, Name: cmp.Or(m.Program, string(m.Role)), State: checkOK, Seen: string(m.Role)}
		for k, r := range m.Found {
			c.Seen += []string{": ", "; "}[min(k, 1)] + r.Text
		}
		if m.Sure == kasoku.Low {
			c.State, c.Lost = checkWarn, "it is a guess, and no finding is about it"
		}
		x.add(c)
	}
	for _, u := range x.service.Unknown {
		x.add(check{Area: areaService, Name: "not seen", State: checkWarn, Seen: machine.Unseen(u)})
	}
	if x.configured() && !x.service.Known() && len(x.service.Unknown) == 0 {
		x.add(check{Area: areaService, Name: membersCheck, State: checkWarn,
			Seen: "which programs are the service's is not known",
			Lost: "findings about its members", Grants: []grant{{config.Name, "[service]\nurl = 'http://127.0.0.1:8080/'"}}})
	}
}

// A cpuTime is the CPU time that was used until a moment.
type cpuTime struct {
	host    procstat.Host
	members float64 // of the service and of kasoku, in clock ticks
}

// watchedFor is how long the use of the CPU is watched at least.
const watchedFor = 300 * time.Millisecond

// takeCPU reads what was used until now; the zero value when it cannot be read.
func takeCPU(s *kasoku.Service) (c cpuTime) {
	host, err := procstat.ReadHost()
	if err != nil || !s.Known() {
		return cpuTime{}
	}
	c.host, c.members = host, processTicks(os.Getpid())
	for i := range s.Members {
		for _, p := range s.Members[i].Processes {
			c.members += processTicks(p.PID)
		}
	}
	return c
}

// processTicks is the CPU time of a process and of its children that ended.
func processTicks(pid int) float64 {
	st, err := procstat.Read(pid)
	if err != nil {
		return 0
	}
	return float64(st.CPU() + st.Children())
}

// neighbours is what programs outside of the service used since, in cores.
func (c cpuTime) neighbours(s *kasoku.Service) (used float64, cores int, ok bool) {
	if c.host.At.IsZero() || c.host.Cores == 0 {
		return 0, 0, false
	}
	<-time.After(watchedFor - time.Since(c.host.At)) // a look that was quick would be too short to count ticks
	now := takeCPU(s)
	now.host.Busy -= now.members - c.members
	return now.host.CoresSince(c.host), c.host.Cores, true
}
