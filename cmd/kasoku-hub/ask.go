package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/kasoku/kasoku/fleet"
	"github.com/kasoku/kasoku/fleet/bus"
	"github.com/kasoku/kasoku/fleet/hubdir"
	"github.com/kasoku/kasoku/fleet/relay"
)

// ask takes questions from stdin to the hub, and answers to stdout, until stdin ends.
func ask(o *relay.Ask, stdin io.Reader, stdout io.Writer) error {
	r := relay.NewRelay(stdout)
	conn, err := operator(o.Dir, r)
	if readyErr := r.Begin(err); readyErr != nil {
		return fmt.Errorf("answer: %w", readyErr)
	}
	if err != nil {
		return nil // it was said
	}
	defer conn.Close()
	return r.Serve(stdin, conn)
}

func operator(dir string, r *relay.Relay) (*bus.Conn, error) {
	d, err := hubdir.Existing(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("there is no hub in " + dir)
	} else if err != nil {
		return nil, err
	}
	a, err := d.Operator()
	if err != nil {
		return nil, err
	}
	return bus.Connect(bus.Options{Address: a.Address, CA: a.CA, Seed: []byte(a.Seed), Name: fleet.Operator, Cluster: a.Cluster,
		Changed: func(err error) {
			if err != nil {
				r.Note("the hub is gone: " + err.Error())
			} else {
				r.Note("the hub is there again")
			}
		}})
}
