package rules

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/internal/test/turn"
)

// pressures are the beginnings of the names of the host's series of each pressure.
var pressures = map[diagnose.Pressure][]string{
	diagnose.OnCPU:    {"cpu.", "psi.cpu", "load.", "procs."},
	diagnose.OnMemory: {"mem.", "vm.", "psi.memory"},
	diagnose.OnDisk:   {"disk.", "psi.io"},
}

// TestNeighbours_Stated: a rule whose findings are others without the host's CPU, memory or
// disks declares that it reads these; with each of its findings stands what programs
// outside of the service have of them.
func TestNeighbours_Stated(t *testing.T) {
	turn.Wait(t)
	listed := 0
	for _, r := range All() {
		var reads []diagnose.Pressure
		declared := r.Doc().Host
		stated := false
		for _, k := range keptRuns(t, r.ID()) {
			found, _ := r.Check(k.c)
			if len(found) == 0 {
				continue
			}
			for p := range pressures {
				if other, _ := r.Check(unpressed(k.c, p)); !reflect.DeepEqual(found, other) && !slices.Contains(reads, p) {
					reads = append(reads, p)
				}
			}
			if len(declared) == 0 {
				continue
			}
			for _, f := range diagnose.Diagnose(ofMembers(k.c), []diagnose.Rule{r}).Findings {
				stated = true
				if n := strings.Count(f.Cause, "rograms outside of the service"); n != len(declared) {
					t.Errorf("%s, %s: of neighbours %d times, want %d: %s", r.ID(), k.path, n, len(declared), f.Cause)
				}
			}
			unknown := *k.c.Recording
			unknown.Service = nil
			alone := diagnose.Diagnose(again(k.c, &unknown), []diagnose.Rule{r}).Findings
			if len(alone) > 0 && strings.Contains(alone[0].Cause, "outside of the service") {
				t.Errorf("%s, %s: says what neighbours use, and does not know the service: %s", r.ID(), k.path, alone[0].Cause)
			}
		}
		for _, p := range reads {
			if listed++; r.ID() != ticksAlone && !slices.Contains(declared, p) {
				t.Errorf("%s: findings rest on the host's %s, which Doc().Host does not say", r.ID(), p)
			}
		}
		if len(declared) > 0 && !stated {
			t.Errorf("%s: declares %v, and no case of a known service fires", r.ID(), declared)
		}
	}
	if listed < 6 {
		t.Errorf("%d rules read the host's pressure: the test looks at the wrong series", listed)
	}
}

// ticksAlone asks of the host's CPU how often it was sampled, and nothing else.
const ticksAlone = "MES-06"

// unpressed is a case without what was recorded of a pressure.
func unpressed(c *diagnose.Case, p diagnose.Pressure) *diagnose.Case {
	rec := *c.Recording
	rec.Series = slices.DeleteFunc(slices.Clone(rec.Series), func(s kasoku.Series) bool {
		return s.Key.Source == diagnose.Host && slices.ContainsFunc(pressures[p], func(prefix string) bool { return strings.HasPrefix(s.Key.Name, prefix) })
	})
	return again(c, &rec)
}

// ofMembers is a case in which all databases and programs are members, in their language and control
// group where these were recorded.
func ofMembers(c *diagnose.Case) *diagnose.Case {
	rec := *c.Recording
	rec.Service = &kasoku.Service{Members: []kasoku.Member{{ID: "nginx", Role: kasoku.RoleWeb, Sure: kasoku.High}}}
	for _, s := range rec.FindAll(diagnose.Process, "cpu.user") {
		number, name, _ := strings.Cut(s.Key.Instance, " ")
		pid, err := strconv.Atoi(number)
		if err != nil || name == "kasoku" {
			continue
		}
		role := kasoku.RoleApplication
		if name == "mariadbd" || name == "mysqld" {
			role = kasoku.RoleDatabase
		}
		m := kasoku.Member{ID: s.Key.Instance, Role: role, Program: name, Sure: kasoku.High,
			Processes: []kasoku.MemberProcess{{PID: pid, Leader: true}}}
		if was := c.Processes().MemberOf(s.Key); was != nil {
			m.Language, m.Framework, m.Workers = was.Language, was.Framework, was.Workers
			m.Unit, m.Container, m.Cgroup = was.Unit, was.Container, was.Cgroup
		}
		rec.Service.Members = append(rec.Service.Members, m)
	}
	return again(c, &rec)
}

// again is a case of another recording.
func again(c *diagnose.Case, rec *kasoku.Recording) *diagnose.Case {
	out := diagnose.NewCase(rec, c.Baseline)
	out.Repeats, out.Baselines = c.Repeats, c.Baselines
	return out
}
