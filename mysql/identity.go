package mysql

import (
	"context"
	"fmt"
	"time"
)

// An Epoch is one life of a server, from a start to the next.
type Epoch struct {
	Boot    time.Time // when the server was started, by its own clock, whole seconds
	Session uint64    // a connection id of that life; later ones are greater
}

// Epoch returns the server's present life, as of the reader's last connection.
func (r *Reader) Epoch() Epoch {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Epoch{r.life.boot, r.life.newest}
}

// RestartedSince reports whether the server was started anew after an epoch, as
// of the reader's last connection.
func (r *Reader) RestartedSince(e Epoch) bool {
	now := r.Epoch()
	return !now.Boot.Equal(e.Boot) || now.Session < e.Session
}

// An Identity distinguishes one server from another, whatever way leads to it.
type Identity struct {
	Flavor  Flavor
	Version string
	Host    string // that the server is on, by its own name
	Port    string
	Socket  string
	DataDir string
	UUID    string // server_uuid of MySQL, server_uid of MariaDB; older servers have none
}

// String returns "MariaDB 10.11.19 on db1, port 3306".
func (i Identity) String() string {
	return fmt.Sprintf("%s %s on %s, port %s", i.Flavor, i.Version, i.Host, i.Port)
}

// Same reports whether both are one server, perhaps of another version by now.
func (i Identity) Same(other Identity) bool {
	i.Version = other.Version
	return i == other
}

// Identity asks the server who it is.
func (r *Reader) Identity(ctx context.Context) (Identity, error) {
	vars, err := r.Variables(ctx)
	if err != nil {
		return Identity{}, fmt.Errorf("identify server: %w", err)
	}
	v := r.Version()
	return Identity{
		Flavor: r.Flavor(), Version: fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch), Host: vars["hostname"],
		Port:   vars["port"],
		Socket: vars["socket"], DataDir: vars["datadir"], UUID: vars["server_uuid"] + vars["server_uid"],
	}, nil
}
