package host

import (
	"fmt"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	kasoku "github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/procfile"
)

// sectorBytes is the kernel's sector, 512 bytes on every device whatever its
// block size is.
const sectorBytes = 512

// A diskStat is one line of /proc/diskstats: what one block device has done
// since boot. All values but one only grow; take differences for rates. The time of a
// request (await) is read and write time over reads and writes, utilisation is busy
// time over time, and the mean queue is queue time over time.
//
// Kernel: Documentation/admin-guide/iostats.rst, fields 1-17 (16 and 17 since
// 5.5).
type diskStat struct {
	reads      uint64 // field 1
	readSect   uint64 // field 3, sectors
	readMS     uint64 // field 4; sums over parallel reads, so it can outrun the clock
	writes     uint64 // field 5
	writeSect  uint64 // field 7, sectors
	writeMS    uint64 // field 8
	inFlight   uint64 // field 9: now, the only one that falls
	busyMS     uint64 // field 10; at most 1,000 a second
	queueMS    uint64 // field 11: busy time times requests in flight
	flushes    uint64 // field 16
	flushMS    uint64 // field 17
	hasFlushes bool
}

// used reports whether the device has ever done anything.
func (d *diskStat) used() bool { return d.reads+d.writes+d.flushes > 0 }

// parseDisk reads one line. The name points into the line.
func parseDisk(line []byte) (name []byte, d diskStat, err error) {
	name, values := procfile.Word(procfile.Skip(line, 2)) // major, minor
	var n [17]uint64
	got := procfile.Uints(n[:], values)
	if len(name) == 0 || got < 11 {
		return nil, diskStat{}, fmt.Errorf("bad line %q", line)
	}
	return name, diskStat{
		reads: n[0], readSect: n[2], readMS: n[3],
		writes: n[4], writeSect: n[6], writeMS: n[7], inFlight: n[8], busyMS: n[9], queueMS: n[10],
		flushes: n[15], flushMS: n[16], hasFlushes: got == 17,
	}, nil
}

// A disk is what is known of a device.
type disk struct {
	name string
	skip bool
}

// collectDisks takes every whole disk that has been used. Partitions are left
// out, because the disk counts their I/O too; so are loop and RAM devices.
func (s *Source) collectDisks(text []byte, f *kasoku.Frame) error {
	for {
		line, rest, ok := procfile.Line(text)
		if !ok {
			return nil
		}
		text = rest
		name, d, err := parseDisk(line)
		if err != nil {
			return err
		}
		if !d.used() {
			continue
		}
		known := s.disks[string(name)]
		if known == nil {
			known = s.newDisk(string(name))
		}
		if !known.skip {
			d.emit(known.name, f)
		}
	}
}

func (s *Source) newDisk(name string) *disk {
	d := &disk{name: name, skip: strings.HasPrefix(name, "loop") || strings.HasPrefix(name, "ram")}
	if s.sysBlock != "" {
		// A slash in a device's name, as in cciss/c0d0, is an exclamation mark in sysfs.
		path := filepath.Join(s.sysBlock, strings.ReplaceAll(name, "/", "!"))
		d.skip = d.skip || unix.Access(path, unix.F_OK) != nil
	}
	s.disks[name] = d
	return d
}

func (d *diskStat) emit(name string, f *kasoku.Frame) {
	f.Counter(DiskReads, name, "count", float64(d.reads))
	f.Counter(DiskReadBytes, name, "bytes", float64(d.readSect)*sectorBytes)
	f.Counter(DiskReadTime, name, "s", float64(d.readMS)/1e3)
	f.Counter(DiskWrites, name, "count", float64(d.writes))
	f.Counter(DiskWriteBytes, name, "bytes", float64(d.writeSect)*sectorBytes)
	f.Counter(DiskWriteTime, name, "s", float64(d.writeMS)/1e3)
	f.Counter(DiskBusy, name, "s", float64(d.busyMS)/1e3)
	f.Counter(DiskQueueTime, name, "s", float64(d.queueMS)/1e3)
	f.Gauge(DiskInFlight, name, "count", float64(d.inFlight))
	if d.hasFlushes {
		f.Counter(DiskFlushes, name, "count", float64(d.flushes))
		f.Counter(DiskFlushTime, name, "s", float64(d.flushMS)/1e3)
	}
}
