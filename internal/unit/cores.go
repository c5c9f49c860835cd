package unit

import (
	"slices"
	"strconv"
	"strings"
)

// MostCores is the kernel's own limit on x86-64.
const MostCores = 8192

// ParseCores reads a list of cores as the kernel writes it: 0-3,8. What is no number is left
// out.
//
// Source: the kernel's Documentation/admin-guide/cputopology.rst.
func ParseCores(list string) (out []int) {
	for part := range strings.SplitSeq(strings.TrimSpace(list), ",") {
		first, last, ranged := strings.Cut(part, "-")
		from, err := strconv.Atoi(first)
		to := from
		if err == nil && ranged {
			to, err = strconv.Atoi(last)
		}
		if err != nil || from < 0 {
			continue
		}
		for cpu := from; cpu <= to && len(out) < MostCores; cpu++ {
			out = append(out, cpu)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// FormatCores writes a list of cores, ascending, as the kernel does; empty for none.
func FormatCores(cores []int) string {
	var out []string
	for i := 0; i < len(cores); {
		last := i
		for last+1 < len(cores) && cores[last+1] == cores[last]+1 {
			last++
		}
		text := strconv.Itoa(cores[i])
		if last > i {
			text += "-" + strconv.Itoa(cores[last])
		}
		out, i = append(out, text), last+1
	}
	return strings.Join(out, ",")
}
