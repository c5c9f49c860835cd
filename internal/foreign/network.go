package foreign

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/internal/command"
)

// OpenSocketDiag opens a netlink socket that asks for the sockets of the network
// namespace that a process is in (sock_diag(7)). It takes CAP_SYS_ADMIN there. The caller
// closes it.
func OpenSocketDiag(ctx context.Context, pid int) (fd int, err error) {
	p, err := Hold(pid)
	if err != nil {
		return -1, err
	}
	defer func() { _ = p.Close() }()
	return within(ctx, p, "its network namespace", func() (int, error) {
		ns, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return -1, fmt.Errorf("network namespace of pid %d: %w", pid, err)
		}
		defer func() { _ = unix.Close(ns) }()
		if now, ok := command.StartOf(pid); !ok || now != p.start {
			return -1, ErrGone
		}
		if err := unix.Setns(ns, unix.CLONE_NEWNET); err != nil {
			return -1, fmt.Errorf("network namespace of pid %d: %w", pid, err)
		}
		return NewSocketDiag()
	})
}

// NewSocketDiag opens such a socket in kasoku's own network namespace.
func NewSocketDiag() (fd int, err error) {
	fd, err = unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return -1, fmt.Errorf("open netlink: %w", err)
	}
	limit := unix.Timeval{Usec: 500_000}
	err = errors.Join(unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &limit),
		unix.Connect(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}))
	if err != nil {
		_ = unix.Close(fd) // nothing was sent
		return -1, fmt.Errorf("open netlink: %w", err)
	}
	return fd, nil
}
