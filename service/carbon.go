package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku/command"
	"github.com/kasoku/kasoku/whisper"
)

// CarbonOptions say how to run a private carbon-cache.
type CarbonOptions struct {
	// Dir is where everything goes. Empty: a temporary one, removed when the server
	// stops.
	Dir string
	// LinePort on 127.0.0.1 takes lines over TCP; 0 takes a free one. The other
	// ports are always free ones.
	LinePort int
	// MetricInterval is the time between its own metrics, in whole seconds; 0 is
	// carbon's own minute.
	MetricInterval time.Duration
	// Settings are further ones of the section [cache], by their names:
	// MAX_UPDATES_PER_SECOND.
	Settings map[string]string
	// Schemas is the whole storage-schemas.conf. Empty: every metric is kept by the
	// second, for an hour.
	Schemas string
}

// A CarbonServer is a running or stopped carbon-cache; Port is its LinePort. Its
// methods are safe for concurrent use.
type CarbonServer struct {
	Daemon
	LinePort   int // lines over TCP
	UDPPort    int // lines over UDP
	PicklePort int // pickled batches
	QueryPort  int // what the cache has not yet written
	StorageDir string
	ConfigFile string
	LogFile    string // what it prints: who connects, which lines it refuses
	Host       string // as its own metrics name it: carbon.agents.HOST-a
}

const carbonHint = "install it: sudo apt-get install graphite-carbon (no need to run it)"

const carbonSchemas = "[all]\npattern = .*\nretentions = 1s:1h\n"

// Carbon starts a carbon-cache with the system's program, as the calling user, root
// included. It listens on loopback only; a line may be refused, never the
// connection. Tags are kept in the names of series and told to nobody. The context
// bounds the start alone, which takes about a second; the server lives until
// [Daemon.Stop], or the process that started it dies.
func Carbon(ctx context.Context, o CarbonOptions) (*CarbonServer, error) {
	program, err := command.LookPath("carbon-cache")
	if err != nil {
		if program, err = command.LookPath("carbon-cache.py"); err != nil { // as pip installs it
			return nil, &Error{Err: fmt.Errorf("carbon: %w", err), hint: carbonHint}
		}
	}
	s := &CarbonServer{}
	if err := s.place("carbon", o.Dir, o.LinePort); err != nil {
		return nil, err
	}
	s.StorageDir = filepath.Join(s.Dir, "storage")
	s.ConfigFile = filepath.Join(s.Dir, "carbon.conf")
	s.LogFile = filepath.Join(s.Dir, "console.log")
	if name, err := os.Hostname(); err == nil {
		s.Host = strings.ReplaceAll(name, ".", "_") + "-a"
	}
	err = s.launch(ctx, func() (daemonSpec, error) {
		pidFile := filepath.Join(s.Dir, "carbon.pid")
		return daemonSpec{
			path: program, args: []string{"--config=" + s.ConfigFile, "--pidfile=" + pidFile, "--nodaemon", "start"},
			env:     []string{"GRAPHITE_ROOT=" + s.Dir, "GRAPHITE_CONF_DIR=" + s.Dir, "PYTHONUNBUFFERED=1"},
			pidFile: pidFile, console: s.LogFile,
		}, s.configure(o)
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// configure chooses the other ports and writes the files.
func (s *CarbonServer) configure(o CarbonOptions) (err error) {
	s.LinePort = s.Port
	for _, port := range []*int{&s.PicklePort, &s.QueryPort} {
		if *port, err = FreePort(); err != nil {
			return err
		}
	}
	if s.UDPPort, err = freeUDPPort(); err != nil {
		return err
	}
	settings := map[string]string{
		"STORAGE_DIR": s.StorageDir, "LOCAL_DATA_DIR": filepath.Join(s.StorageDir, "whisper"), "CONF_DIR": s.Dir,
		"LOG_DIR": filepath.Join(s.Dir, "log"), "PID_DIR": s.Dir, "WHITELISTS_DIR": filepath.Join(s.Dir, "lists"),
		"LINE_RECEIVER_INTERFACE": "127.0.0.1", "LINE_RECEIVER_PORT": strconv.Itoa(s.LinePort),
		"ENABLE_UDP_LISTENER":    "True",
		"UDP_RECEIVER_INTERFACE": "127.0.0.1", "UDP_RECEIVER_PORT": strconv.Itoa(s.UDPPort),
		"PICKLE_RECEIVER_INTERFACE": "127.0.0.1", "PICKLE_RECEIVER_PORT": strconv.Itoa(s.PicklePort),
		"CACHE_QUERY_INTERFACE": "127.0.0.1", "CACHE_QUERY_PORT": strconv.Itoa(s.QueryPort),
		"ENABLE_TAGS": "False",
	}
	if o.MetricInterval > 0 {
		settings["CARBON_METRIC_INTERVAL"] = strconv.Itoa(int(o.MetricInterval / time.Second))
	}
	maps.Copy(settings, o.Settings)
	var b strings.Builder
	b.WriteString("[cache]\n")
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		fmt.Fprintf(&b, "%s = %s\n", name, settings[name])
	}
	schemas := o.Schemas
	if schemas == "" {
		schemas = carbonSchemas
	}
	for _, dir := range []string{settings["LOCAL_DATA_DIR"], settings["WHITELISTS_DIR"]} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(s.Dir, "storage-schemas.conf"), []byte(schemas), 0o644); err != nil {
		return err
	}
	return os.WriteFile(s.ConfigFile, []byte(b.String()), 0o644)
}

// LineAddr returns the host:port that takes lines over TCP.
func (s *CarbonServer) LineAddr() string { return loopback(s.LinePort) }

// UDPAddr returns the host:port that takes lines over UDP.
func (s *CarbonServer) UDPAddr() string { return loopback(s.UDPPort) }

// PickleAddr returns the host:port that takes pickled batches.
func (s *CarbonServer) PickleAddr() string { return loopback(s.PicklePort) }

// QueryAddr returns the host:port that answers what the cache holds.
func (s *CarbonServer) QueryAddr() string { return loopback(s.QueryPort) }

// Points returns what has been written of a metric to its file, in the order of
// time; nothing when there is no file yet. What the cache still holds is missing.
func (s *CarbonServer) Points(metric string) ([]whisper.Point, error) {
	points, err := whisper.Read(filepath.Join(s.StorageDir, "whisper", whisper.Path(metric)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return points, err
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// freeUDPPort returns a UDP port on 127.0.0.1 that nobody reads from.
func freeUDPPort() (int, error) {
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("free port: %w", err)
	}
	defer c.Close()
	return c.LocalAddr().(*net.UDPAddr).Port, nil
}
