package topology

import "testing"

// TestFindLogsJournal: the journal of a LevelDB is no log, also where its name ends like one.
func TestFindLogsJournal(t *testing.T) {
	l := &looker{view: &view{}, found: &Found{}}
	p := l.applications()
	p.apps = []*subject{{Service: &Service{Name: "app"}, fds: map[int]string{1: "/srv/app.out", 7: "/srv/queues/000005.log",
		8: "/srv/queues/MANIFEST-000004", 9: "/srv/queues/slow.log", 10: "/srv/0001.log"}}}
	p.findLogs()
	var got string
	for _, log := range p.found.Logs {
		got += log.Path + " "
	}
	if want := "/srv/app.out /srv/queues/slow.log /srv/0001.log "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
