package rules

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
)

// asLedger returns a link to this program under the service's name, so that its
// process can be distinguished from kasoku's.
func asLedger(dir string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	link := filepath.Join(dir, "ledger")
	return link, os.Symlink(self, link)
}

// perSecondLoad sends so many requests in each second, spread evenly, as a
// program does of which kasoku sees nothing but the access log.
func perSecondLoad(ctx context.Context, seconds []int, method, url string) {
	var wg sync.WaitGroup
	defer wg.Wait()
	begin := time.Now().Truncate(time.Second).Add(time.Second)
	for i, n := range seconds {
		for k := range n {
			wait := time.NewTimer(time.Until(begin.Add(time.Duration(i)*time.Second + time.Duration(k)*time.Second/time.Duration(n))))
			select {
			case <-ctx.Done():
				wait.Stop()
				return
			case <-wait.C:
			}
			wg.Go(func() {
				req, err := http.NewRequestWithContext(ctx, method, url, nil)
				if err != nil {
					return
				}
				if resp, err := http.DefaultClient.Do(req); err == nil {
					resp.Body.Close()
				}
			})
		}
	}
}

// taskGroup makes a control group of version 2 or 1 that may hold so many
// processes and threads, for the test's time. It needs root.
func taskGroup(t *testing.T, most int) (dir string) {
	t.Helper()
	parent := "/sys/fs/cgroup"
	if _, err := os.Stat(parent + "/cgroup.controllers"); err != nil {
		parent += "/pids"
	}
	dir = ledgerGroup(t, parent)
	if err := os.WriteFile(dir+"/pids.max", []byte(strconv.Itoa(most)), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// quotaGroups makes a control group of version 2, or two of version 1, that may use so many cores,
// for the test's time. It needs root.
func quotaGroups(t *testing.T, cores float64) (dirs []string) {
	t.Helper()
	const period = 100_000 // µs
	file, quota := "/cpu.max", fmt.Sprintf("%.0f %d", cores*period, period)
	parents := []string{"/sys/fs/cgroup"}
	if _, err := os.Stat(parents[0] + "/cgroup.controllers"); err != nil {
		parents = []string{"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpuacct"}
		file, quota = "/cpu.cfs_quota_us", fmt.Sprintf("%.0f", cores*period)
	}
	for _, parent := range parents {
		dirs = append(dirs, ledgerGroup(t, parent))
	}
	if err := os.WriteFile(dirs[0]+file, []byte(quota), 0o644); err != nil {
		t.Fatal(err)
	}
	return dirs
}

// ledgerGroup makes the service's control group below another one, for the test's time.
func ledgerGroup(t *testing.T, parent string) (dir string) {
	t.Helper()
	dir = parent + "/ledger.service"
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// The service and what it started have gone, or go in a moment.
		for range 100 {
			if err := os.Remove(dir); err == nil {
				return
			}
			pause(50 * time.Millisecond)
		}
		t.Errorf("%s is left over", dir)
	})
	return dir
}

// keepOnly drops what was sampled of other processes, and of their groups: it
// says nothing of the service, and names a machine.
func keepOnly(rec *kasoku.Recording, pids ...int) {
	rec.Series = slices.DeleteFunc(rec.Series, func(s kasoku.Series) bool {
		pid, _, named := strings.Cut(s.Key.Instance, " ")
		n, err := strconv.Atoi(pid)
		switch {
		case s.Key.Source == diagnose.Process && named:
			return err != nil || !slices.Contains(pids, n)
		case s.Key.Source == diagnose.Cgroup:
			return s.Key.Instance != "ledger.service"
		}
		return false
	})
}
