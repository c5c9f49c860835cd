package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"time"

	"github.com/kasoku/kasoku/fleet/hub"
	"github.com/kasoku/kasoku/fleet/hubdir"
	"github.com/kasoku/kasoku/fleet/relay"
)

// serve is the hub until ctx is done.
func serve(ctx context.Context, o *relay.Serve, stdout, stderr io.Writer) error {
	d, err := hubdir.Open(o.Dir, o.Address)
	if err != nil {
		return err
	}
	alone, err := d.Alone()
	if err != nil {
		return hinted{err, "one hub serves a directory; `kasoku hub status` shows who is there; " +
			"another one needs --dir and --listen"}
	}
	defer func() { _ = alone() }() // the process ends
	var failed error
	err = hub.Run(ctx, d, o.Listen, func(at string) { failed = announce(d, o, at, stdout) },
		func(err error) { complain(stderr, err, 0) })
	if errors.Is(err, syscall.EADDRINUSE) {
		return hinted{err, "something listens there: --listen names another port"}
	}
	return errors.Join(err, failed)
}

// announce prints where the hub is, and the lines by which hosts join.
func announce(d *hubdir.Dir, o *relay.Serve, at string, w io.Writer) error {
	address := o.Address
	if address == "" {
		address = at
	}
	d, err := hubdir.Open(d.Path, address)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "hub at %s, its directory %s; Ctrl-C ends it\n", address, d.Path)
	if host, _, err := net.SplitHostPort(address); err == nil && net.ParseIP(host).IsLoopback() {
		fmt.Fprintln(w, "only this host reaches it: --listen names an address that the others reach")
	}
	if o.Lines > 0 {
		fmt.Fprintf(w, "on each host, within %s, one line a host; --allow says what it may be asked:\n", o.Invite)
	}
	for range o.Lines {
		t, err := d.Invite("", time.Now().Add(o.Invite))
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "  kasoku agent %s --allow load=URL\n", t)
	}
	return nil
}
