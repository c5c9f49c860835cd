package cli

import (
	"bytes"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku/internal/lazyregexp"
	"github.com/kasoku/kasoku/internal/procstat"
	"github.com/kasoku/kasoku/mysqlflags"
)

// takeArgs returns the arguments of this process and hides the passwords that
// are among them from other users: /proc/PID/cmdline shows what lies where the
// kernel has put the arguments, until something else is written there. Nothing
// may use os.Args afterwards.
//
// Source: proc_pid_cmdline(5), proc_pid_stat(5) fields 48 and 49.
func takeArgs() []string {
	args := make([]string, len(os.Args))
	for i, a := range os.Args {
		args[i] = strings.Clone(a) // os.Args lies in that very place
	}
	shown, err := os.ReadFile("/proc/self/cmdline")
	hidden := hidePasswords(shown)
	if err != nil || bytes.Equal(hidden, shown) {
		return args
	}
	// Where that is not allowed, the arguments stay as they were typed.
	if start, length, ok := argumentsAt(); ok && length >= len(hidden) {
		if mem, err := os.OpenFile("/proc/self/mem", os.O_WRONLY, 0); err == nil {
			_, _ = mem.WriteAt(hidden, start)
			_ = mem.Close()
		}
	}
	return args
}

// hidePasswords returns arguments, each ended by a zero, with an x for each byte of a
// password. What comes after -- is a command's, which reads it itself.
func hidePasswords(shown []byte) []byte {
	args := strings.Split(string(shown), "\x00")
	peer := slices.Contains(args, "slowquery2tsv") || slices.Contains(args, "--as=slowquery2tsv") // its password is that of -p
	for i, a := range args {
		if a == "--" {
			break
		}
		if flag, dsn, ok := strings.Cut(a, "="); ok && namesDatabase(flag) {
			args[i] = flag + "=" + hideDSN(dsn)
		} else if i > 0 && namesDatabase(args[i-1]) {
			args[i] = hideDSN(a)
		} else if flag, address, ok := strings.Cut(a, "="); ok && namesURL(flag) {
			args[i] = flag + "=" + hideUser(address)
		} else if i > 0 && namesURL(args[i-1]) {
			args[i] = hideUser(a)
		} else if flag, header, ok := strings.Cut(a, "="); ok && namesHeader(flag) {
			args[i] = flag + "=" + hideHeader(header)
		} else if i > 0 && namesHeader(args[i-1]) {
			args[i] = hideHeader(a)
		} else if peer && i > 0 && args[i-1] == "-p" {
			args[i] = strings.Repeat("x", len(a))
		} else if peer && strings.HasPrefix(a, "-p=") {
			args[i] = "-p=" + strings.Repeat("x", len(a)-len("-p="))
		} else if strings.Contains(a, "://") {
			args[i] = inURL().ReplaceAllStringFunc(a, hideUser)
		}
	}
	return []byte(strings.Join(args, "\x00"))
}

// namesDatabase reports whether a flag is one whose value is a DSN.
func namesDatabase(flag string) bool { return flag == "--mysql" || flag == "--dsn" }

// namesURL reports whether a flag is one whose value is a URL that may have a user.
func namesURL(flag string) bool { return flag == "--push" || flag == "--url" }

// namesHeader reports whether a flag is one whose value is a header of requests, as Vegeta, curl and this program have it.
func namesHeader(flag string) bool { return flag == "-H" || flag == "-header" || flag == "--header" }

// hideHeader returns a header of the same length without its value: which of them let a client in is not known.
func hideHeader(header string) string {
	name, value, _ := strings.Cut(header, ":")
	return header[:len(header)-len(value)] + strings.Repeat("x", min(len(value), len(header)-len(name)))
}

// inURL is the user of a URL that is an argument or a part of one, with what stands around it: "GET http://me:word@host/".
var inURL = lazyregexp.New(`[a-zA-Z][a-zA-Z0-9+.-]*://[^/?#\s]*@`)

// hideUser returns a URL of the same length without its user and password: what lies between
// the scheme and the last @. Of one that cannot be read everything may be secret.
func hideUser(address string) string {
	if _, err := url.Parse(address); err != nil {
		return strings.Repeat("x", len(address))
	}
	end := strings.LastIndex(address, "@")
	if end < 0 {
		return address
	}
	from := 0
	if at := strings.Index(address[:end], "://"); at >= 0 {
		from = at + len("://")
	}
	return address[:from] + strings.Repeat("x", end-from) + address[end:]
}

// hideDSN returns a DSN of the same length without its password: what lies
// between the first colon and the last @ before the last slash. Of one that
// cannot be read everything may be secret.
func hideDSN(dsn string) string {
	if strings.HasPrefix(mysqlflags.Redact(dsn), "(") {
		return strings.Repeat("x", len(dsn))
	}
	end := strings.LastIndex(dsn[:max(strings.LastIndex(dsn, "/"), 0)], "@")
	if end < 0 {
		return dsn
	}
	user, password, _ := strings.Cut(dsn[:end], ":")
	return dsn[:min(len(user)+1, end)] + strings.Repeat("x", len(password)) + dsn[end:]
}

// argumentsAt returns where the kernel has put the arguments of this process.
func argumentsAt() (start int64, length int, ok bool) {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0, 0, false
	}
	first, _ := procstat.Field(stat, 48) // a line that is too short has no number
	end, _ := procstat.Field(stat, 49)
	from, err1 := strconv.ParseInt(string(first), 10, 64)
	to, err2 := strconv.ParseInt(string(end), 10, 64)
	return from, int(to - from), err1 == nil && err2 == nil && from > 0 && to > from
}
