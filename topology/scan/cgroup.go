package scan

import (
	"slices"
	"strings"
)

// parseCgroup returns the path of a control group, and the unit and the container that
// it shows: the last element that is a service of the system, an id of 64 hexadecimal
// digits. Where version 2 has the process at its root, as beside version 1 it may, the path
// is that of version 1, of the controller of CPU before others.
func parseCgroup(text []byte) (path, unit, container string) {
	best := 0
	for line := range strings.Lines(string(text)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		rank := 1 // the root of any
		switch below := fields[2] != "/"; {
		case below && fields[0] == "0":
			rank = 4
		case below && slices.Contains(strings.Split(fields[1], ","), "cpu"):
			rank = 3
		case below:
			rank = 2
		}
		if rank > best {
			best, path = rank, fields[2]
		}
		for part := range strings.SplitSeq(fields[2], "/") {
			if strings.HasSuffix(part, ".service") && !strings.HasPrefix(part, "user@") {
				unit = part
			}
			id := strings.TrimSuffix(part, ".scope")
			id = id[strings.LastIndexByte(id, '-')+1:]
			if len(id) == 64 && strings.Trim(id, "0123456789abcdef") == "" {
				container = id[:12]
			}
		}
	}
	if container != "" {
		unit = "" // that of the container's runtime
	}
	return path, unit, container
}
