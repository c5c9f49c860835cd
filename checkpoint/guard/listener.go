package guard

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/internal/pathwalk"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/topology"
)

// A Listener is what is known, without a word to it, of the server that listens where a DSN
// leads on this host: so that a guard process asks nothing of another server that has got
// the port or the socket since. The zero value is not known, as on other hosts.
type Listener struct {
	Socket string `json:"socket,omitempty"` // the kernel's number of the listening socket, or of its file
	Data   string `json:"data,omitempty"`   // the data directory that its process works in, and its user; empty when it cannot be seen
}

// Listener returns who listens where the hold's server was reached.
func (h *Hold) Listener() Listener {
	l, pid := listenerAt(mysqlflags.Address(h.me.DSN))
	if pid == "" {
		return l
	}
	// A proxy works in a directory that says nothing of the server.
	own, err := pathwalk.StatIn("/proc/"+pid, "cwd", ".")
	if err != nil {
		l.Data = ""
		return l
	}
	data, err := pathwalk.StatIn("/proc/"+pid, "root", h.server.DataDir)
	if err != nil || h.server.DataDir == "" || own.Dev != data.Dev || own.Ino != data.Ino {
		l.Data = ""
	}
	return l
}

// check returns an [ErrOtherServer] unless the same server listens there still: by the same
// socket or, when it was restarted, in the same data directory.
func (l Listener) check(dsn string) error {
	if l.Socket == "" {
		return nil
	}
	network, address := mysqlflags.Address(dsn)
	now, _ := listenerAt(network, address)
	switch {
	case now.Socket == l.Socket, now.Socket != "" && l.Data != "" && now.Data == l.Data:
		return nil
	case now.Socket == "":
		return fmt.Errorf("nothing listens at %s any more; nothing was sent there", address)
	}
	return fmt.Errorf("%w: what listens at %s is not known to be the server that was recorded; nothing was sent to it",
		ErrOtherServer, address)
}

// listenerAt returns who listens at an address of this host, and the process; empty when it
// cannot be seen.
func listenerAt(network, address string) (l Listener, pid string) {
	inodes := topology.Listening(network, address)
	l.Socket = strings.Join(inodes, " ")
	if network == "unix" {
		st, err := pathwalk.Stat(address)
		if err != nil {
			return Listener{}, ""
		}
		l.Socket = fmt.Sprint(st.Dev, " ", st.Ino, " ", st.Mtim.Nano())
	}
	holders := topology.Holders(inodes)
	if len(inodes) != 1 || len(holders) == 0 { // of two that listen there, one may be a stranger's
		return l, ""
	}
	pid = strconv.Itoa(holders[0])
	path, err := os.Readlink("/proc/" + pid + "/cwd")
	st, err2 := pathwalk.StatIn("/proc/"+pid, "cwd", ".")
	var process unix.Stat_t
	if errors.Join(err, err2, unix.Stat("/proc/"+pid, &process)) == nil {
		l.Data = fmt.Sprint(st.Dev, " ", st.Ino, " ", path, " of ", process.Uid) // others may work there, too
	}
	return l, pid
}
