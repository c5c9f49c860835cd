package symbols

import (
	"bytes"
	"strconv"
	"strings"
)

// mostMappings of a process are read: the kernel's own limit is 65,530 (vm.max_map_count).
const mostMappings = 65_536

// A mapping is a part of a process's memory that holds code.
type mapping struct {
	start, end, offset uint64
	device             string
	inode              uint64
	path               string // empty for memory without a file
}

// parseMaps reads the mappings of /proc/PID/maps that hold code, in their order:
//
//	55d4c8e21000-55d4c8e93000 r-xp 00021000 fd:01 1835 /usr/sbin/nginx
func parseMaps(text []byte) (out []mapping) {
	for len(text) > 0 && len(out) < mostMappings {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		text = rest
		if m, ok := parseMapping(string(line)); ok {
			out = append(out, m)
		}
	}
	return out
}

func parseMapping(line string) (m mapping, ok bool) {
	var field [5]string
	for i := range field {
		field[i], line, _ = strings.Cut(line, " ")
	}
	from, to, _ := strings.Cut(field[0], "-")
	var err [4]error
	m.start, err[0] = strconv.ParseUint(from, 16, 64)
	m.end, err[1] = strconv.ParseUint(to, 16, 64)
	m.offset, err[2] = strconv.ParseUint(field[2], 16, 64)
	m.inode, err[3] = strconv.ParseUint(field[4], 10, 64)
	for _, e := range err {
		if e != nil {
			return mapping{}, false
		}
	}
	m.device, m.path = field[3], strings.TrimLeft(line, " ")
	return m, m.start < m.end && len(field[1]) == 4 && field[1][2] == 'x'
}
