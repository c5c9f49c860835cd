//go:build extract

package rules

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestRecordOneCore makes the runs of HW-12: real servers of one process and of two, full and
// not, each beside a database. Of a full one the machine must have a core left.
//
//	go test -tags extract ./diagnose/rules -run TestRecordOneCore
func TestRecordOneCore(t *testing.T) {
	sandboxtest.Each(t, sandbox.Options{}, func(t *testing.T, s *sandbox.Server) {
		server := map[string]string{sandbox.KindMariaDB: "mariadb", sandbox.KindMySQL97: "mysql"}[s.Kind]
		for _, r := range []struct {
			name  string
			b     burner
			rates []float64
			kind  string
			want  string
		}{
			{"puma-full", burner{"puma", 1}, []float64{10, 60}, "fires", "Puma's one process used"},
			{"gunicorn-full", burner{"gunicorn", 1}, []float64{10, 60}, "fires", "Gunicorn's one process used"},
			{"node-full", burner{"node", 1}, []float64{10, 60}, "fires", "Node's one process used"},
			{"puma-light", burner{"puma", 1}, []float64{10, 20}, "silent", ""},
			{"gunicorn-two", burner{"gunicorn", 2}, []float64{10, 60}, "silent", "2 processes, and 2 cores are all"},
		} {
			if *only != "" && !named(r.name) {
				continue
			}
			t.Run(r.name, func(t *testing.T) {
				wrong := ""
				for range 8 { // what else runs here may take the other core
					if r.kind == "fires" {
						awaitIdle(t)
					}
					rec := r.b.record(t, s.DSN("", ""), r.rates...)
					if wrong = wrongCase(diagnose.NewCase(rec, nil), "HW-12", r.kind); wrong != "" {
						continue
					}
					version, _ := rec.Setting("mysql", "version")
					origin := fmt.Sprintf("recorded: %s, %s %s, go test -tags extract ./diagnose/rules -run TestRecordOneCore/%s -args -only %s\n",
						rec.Run.Started.Format(time.DateOnly), diagnose.NewCase(rec, nil).Server(), version, s.Kind, r.name)
					if r.want != "" {
						origin += "want: " + r.want + "\n"
					}
					keepExtract(t, rec, nil, "HW-12", r.kind+"/"+server+"-"+r.name, origin)
					return
				}
				t.Error(wrong)
			})
		}
	})
}

// awaitIdle waits, up to some minutes, until more than a core of the machine is idle for a while.
func awaitIdle(t *testing.T) {
	idle := func() (ticks float64) {
		data, err := os.ReadFile("/proc/stat")
		if err != nil {
			t.Fatal(err)
		}
		ticks, _ = strconv.ParseFloat(strings.Fields(string(data))[4], 64)
		return ticks
	}
	for range 200 {
		was := idle()
		pause(2 * time.Second)
		if idle()-was > 220 { // of hundredths of a second
			return
		}
	}
}

// TestConstructOneCore makes the cases just under the threshold: what a process uses cannot be
// set.
//
//	go test -tags extract ./diagnose/rules -run TestConstructOneCore
func TestConstructOneCore(t *testing.T) {
	for _, from := range []string{"mariadb-puma-full", "mysql-node-full"} {
		rec := recordedCase(t, "testdata/HW-12/fires/"+from+".txtar")
		app := rec.Service.Of(kasoku.RoleApplication)[0]
		for i := range rec.Series {
			s := &rec.Series[i]
			if pid, _, _ := strings.Cut(s.Key.Instance, " "); s.Key.Source == diagnose.Process && (pid == fmt.Sprint(app.Processes[0].PID) ||
				strings.HasPrefix(pid, fmt.Sprint(app.Processes[0].PID)+"/")) && s.Kind == kasoku.Counter {
				for k := range s.Points {
					s.Points[k].Value *= 0.86
				}
			}
		}
		if w := wrongCase(diagnose.NewCase(rec, nil), "HW-12", "under"); w != "" {
			t.Errorf("%s: %s", from, w)
			continue
		}
		keepExtract(t, rec, nil, "HW-12", "under/"+from, "constructed: from fires/"+from+".txtar by taking 14 % of the process's CPU away, with TestConstructOneCore\n")
	}
}
