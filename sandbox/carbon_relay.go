package sandbox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
)

// CarbonRelayOptions configure how to run a private carbon-relay.
type CarbonRelayOptions struct {
	// Dir is where everything goes. Empty: a temporary one, removed when the relay stops.
	Dir string
	// Caches are where it sends to, by consistent hashing; with the setting RELAY_METHOD = rules each point
	// goes to all of them. At least one.
	Caches []*CarbonServer
	// Settings are further ones of the section [relay], by their names: MAX_QUEUE_SIZE.
	Settings map[string]string
	// Program is the one to run. Empty: the one on PATH.
	Program string
}

// CarbonRelay starts a carbon-relay with the system's program, as [Carbon] starts a
// carbon-cache. Only its ports for lines and pickles over TCP are there.
func CarbonRelay(ctx context.Context, o CarbonRelayOptions) (*CarbonServer, error) {
	program, err := find(o.Program, "carbon-relay", "carbon-relay.py") // the latter as pip installs it
	if err != nil {
		return nil, &Error{Err: fmt.Errorf("carbon-relay: %w", err), hint: carbonHint}
	}
	if len(o.Caches) == 0 {
		return nil, errors.New("carbon-relay: no cache to send to")
	}
	s := &CarbonServer{}
	if err := s.settle("carbon-relay", CarbonOptions{Dir: o.Dir}); err != nil {
		return nil, err
	}
	s.Host += "-a"
	err = s.launch(ctx, func() (daemonSpec, error) {
		pidFile, err := filepath.Join(s.Dir, "relay.pid"), s.configureRelay(o)
		return daemonSpec{
			path: program, args: []string{"--config=" + s.ConfigFile, "--pidfile=" + pidFile, "--nodaemon", "start"},
			env:     []string{"GRAPHITE_ROOT=" + s.Dir, "GRAPHITE_CONF_DIR=" + s.Dir, "PYTHONUNBUFFERED=1"},
			pidFile: pidFile, console: s.LogFile, ports: []int{s.PicklePort},
		}, err
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// configureRelay chooses the ports and writes the files.
func (s *CarbonServer) configureRelay(o CarbonRelayOptions) error {
	if err := s.choosePorts(); err != nil {
		return err
	}
	var to string
	for i, c := range o.Caches {
		if i > 0 {
			to += ", "
		}
		to += "127.0.0.1:" + strconv.Itoa(c.PicklePort) + ":" + string(rune('a'+i))
	}
	settings := map[string]string{
		"RELAY_METHOD": "consistent-hashing", "DESTINATIONS": to, "LINE_RECEIVER_INTERFACE": "127.0.0.1",
		"LINE_RECEIVER_PORT": strconv.Itoa(s.LinePort), "PICKLE_RECEIVER_INTERFACE": "127.0.0.1",
		"PICKLE_RECEIVER_PORT": strconv.Itoa(s.PicklePort), "CONF_DIR": s.Dir, "LOG_DIR": filepath.Join(s.Dir,
			"log"), "PID_DIR": s.Dir,
	}
	maps.Copy(settings, o.Settings)
	if settings["RELAY_METHOD"] == "rules" {
		rules := "[all]\ndefault = true\ndestinations = " + to + "\n"
		if err := os.WriteFile(filepath.Join(s.Dir, "relay-rules.conf"), []byte(rules), 0o644); err != nil {
			return err
		}
	}
	return s.writeFiles(section("relay", settings), "")
}
