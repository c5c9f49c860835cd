package quota

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// NewDisk makes an empty group whose processes together may make so many writes a second on the disk that a
// directory is on: blkio.throttle.write_iops_device of version 1, io.max of version 2. What the kernel writes for
// them later, from its cache, is only held to it by version 2; by version 1 what they wait for (fsync) is.
func NewDisk(name, dir string, writes int) (*Group, error) {
	disk, err := diskOf(dir)
	if err != nil {
		return nil, fmt.Errorf("quota: the disk of %s: %w", dir, err)
	}
	g := &Group{}
	parent, file, line := filepath.Join(cgroupRoot, "blkio"), "blkio.throttle.write_iops_device",
		disk+" "+strconv.Itoa(writes)
	if _, err := os.Stat(filepath.Join(parent, "cgroup.procs")); err != nil {
		g.unified, parent, file, line = true, cgroupRoot, "io.max", disk+" wiops="+strconv.Itoa(writes)
		if err := os.WriteFile(filepath.Join(cgroupRoot, "cgroup.subtree_control"), []byte("+io"), 0o644); err != nil {
			return nil, fmt.Errorf("quota: a cgroup with a limit of writes: %w", err)
		}
	}
	made := filepath.Join(parent, "kasoku-"+name)
	if err := os.Mkdir(made, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("quota: a cgroup: %w", err)
	}
	g.dirs = []string{made}
	if err := os.WriteFile(filepath.Join(made, file), []byte(line), 0o644); err != nil {
		return nil, fmt.Errorf("quota: a limit of writes: %w", errors.Join(err, g.Remove()))
	}
	return g, nil
}

// Free takes the limit of writes away.
func (g *Group) Free(dir string) error {
	disk, err := diskOf(dir)
	if err != nil {
		return fmt.Errorf("quota: the disk of %s: %w", dir, err)
	}
	file, line := "blkio.throttle.write_iops_device", disk+" 0"
	if g.unified {
		file, line = "io.max", disk+" wiops=max"
	}
	if err := os.WriteFile(filepath.Join(g.dirs[0], file), []byte(line), 0o644); err != nil {
		return fmt.Errorf("quota: limit: %w", err)
	}
	return nil
}

// diskOf is the number, MAJOR:MINOR, of the disk that a directory is on; of a partition that of its whole disk, to
// which alone limits are given.
func diskOf(dir string) (string, error) {
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err != nil {
		return "", err
	}
	number := fmt.Sprintf("%d:%d", unix.Major(st.Dev), unix.Minor(st.Dev))
	node := "/sys/dev/block/" + number
	if _, err := os.Stat(node); err != nil {
		return "", fmt.Errorf("%s is no disk", number)
	}
	if _, err := os.Stat(node + "/partition"); err != nil {
		return number, nil
	}
	text, err := os.ReadFile(node + "/../dev") // of the disk: its directory is the one above
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(text)), nil
}
