package advise

import (
	"context"
	"time"

	"github.com/kasoku/kasoku/mysqlflags"
)

// ReadOptions say what to read.
type ReadOptions struct {
	For  time.Duration // between two readings of the status; 0: one, since the server was started
	Host *Host         // of the server, where that is this one; nil for another one
	RAM  uint64        // of the server, in bytes, where somebody says it; it stands above what Host says
}

// Host is what this host says of a server that runs on it.
type Host struct {
	PID    int
	Memory Memory
	System System
}

// Read asks a server over one connection, in at most ten queries.
func Read(ctx context.Context, conn mysqlflags.Querier, o ReadOptions) (Input, error) {
	return Input{}, nil
}
