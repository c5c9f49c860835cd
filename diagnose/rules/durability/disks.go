package durability

import (
	"fmt"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/observe/host"
	"github.com/kasoku/kasoku/observe/process"
)

// A diskUse is what one disk did over the run.
type diskUse struct {
	name   string
	writes float64
	each   time.Duration // for a write
	flush  time.Duration // for a flush; below 0 where it was not recorded
	busy   float64       // 0..1
	keys   []kasoku.Key
}

// databaseDisk returns the disk that the database writes to: of those of its host that took as
// many bytes as it wrote, the one that took the least time for a write. Which of several is
// the database's is not recorded, and a slow disk beside it may be a neighbour's.
func databaseDisk(c *diagnose.Case) (disk diskUse, err error) {
	err = fmt.Errorf("disks were not recorded")
	whole := evidence.WholeRun(c)
	db := c.Member(kasoku.RoleDatabase)
	own := written(whole, db)
	for _, s := range c.FindAll(diagnose.Host, host.DiskWrites) {
		if db != nil && db.Host != "" && s.Key.Host != "" && s.Key.Host != db.Host {
			continue
		}
		key := func(name string) kasoku.Key {
			return kasoku.Key{Host: s.Key.Host, Source: diagnose.Host, Name: name, Instance: s.Key.Instance}
		}
		writes, err1 := whole.Counters().Grown(s.Key)
		took, err2 := whole.Counters().Grown(key(host.DiskWriteTime))
		busy, err3 := whole.Counters().Grown(key(host.DiskBusy))
		if err1 != nil || err2 != nil || err3 != nil {
			continue
		}
		err = nil
		if n, err := whole.Counters().Grown(key(host.DiskWriteBytes)); err == nil && n.By < own/2 {
			continue
		}
		d := diskUse{name: s.Key.Instance, writes: writes.By, keys: []kasoku.Key{s.Key, key(host.DiskWriteTime)}}
		d.each = time.Duration(min(took.By/max(writes.By, 1), 1000) * float64(time.Second))
		d.flush = flushTime(whole, key)
		d.busy = min(busy.By/max(busy.Interval.Len().Seconds(), 0.001), 1)
		if d.writes >= evidence.FewCommits && (disk.name == "" || d.each < disk.each) {
			disk = d
		}
	}
	return disk, err
}

// flushTime returns how long a disk took for a flush on average, below 0 where the kernel does
// not count them. A disk without a volatile cache has none.
func flushTime(c *diagnose.Case, key func(name string) kasoku.Key) time.Duration {
	n, err := c.Counters().Grown(key(host.DiskFlushes))
	took, err2 := c.Counters().Grown(key(host.DiskFlushTime))
	if err != nil || err2 != nil {
		return -1
	}
	return time.Duration(min(took.By/max(n.By, 1), 1000) * float64(time.Second))
}

// written returns how many bytes a member wrote, 0 where it is not known.
func written(c *diagnose.Case, m *kasoku.Member) (bytes float64) {
	for _, s := range c.FindAll(diagnose.Process, process.IOWriteBytes) {
		if at := c.Processes().MemberOf(s.Key); m == nil || at == nil || at.ID != m.ID {
			continue
		}
		if n, err := c.Counters().Grown(s.Key); err == nil {
			bytes += n.By
		}
	}
	return bytes
}
