package sandbox

import (
	"cmp"
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

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/wire/whisper"
)

// CarbonOptions configure how to run a private carbon-cache or go-carbon.
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
	// MAX_UPDATES_PER_SECOND. Of a go-carbon the name has its section before it, and
	// the value is TOML: whisper.max-updates-per-second.
	Settings map[string]string
	// Schemas is the whole storage-schemas.conf. Empty: every metric is kept by the
	// second, for an hour.
	Schemas string
	// Program is the one to run. Empty: the one on PATH.
	Program string
	// Instance is the name of a carbon-cache among several of a host, in the names of its own
	// metrics; empty: a.
	Instance string
	// StorageDir is where the files are, which caches beside a relay share. Empty: below Dir.
	StorageDir string
}

// A CarbonServer is a running or stopped carbon-cache or go-carbon; Port is its
// LinePort. Its methods are safe for concurrent use.
type CarbonServer struct {
	Daemon
	LinePort   int // lines over TCP
	UDPPort    int // lines over UDP
	PicklePort int // pickled batches
	QueryPort  int // what the cache has not yet written
	RenderPort int // HTTP: /render/ of go-carbon's carbonserver; 0 of carbon-cache
	StorageDir string
	ConfigFile string
	LogFile    string // what it prints: who connects, which lines it refuses
	Host       string // as its own metrics name it: carbon.agents.HOST-a, of go-carbon without -a
}

const carbonHint = "install it: sudo apt-get install graphite-carbon (no need to run it)"

const carbonSchemas = "[all]\npattern = .*\nretentions = 1s:1h\n"

// Carbon starts a carbon-cache with the system's program, as the calling user, root
// included. It listens on loopback only; a line may be refused, never the
// connection. Tags are kept in the names of series and not reported. The context
// bounds the start alone, which takes about a second; the server lives until
// [Daemon.Stop], or the process that started it dies.
func Carbon(ctx context.Context, o CarbonOptions) (*CarbonServer, error) {
	program, err := find(o.Program, "carbon-cache", "carbon-cache.py") // the latter as pip installs it
	if err != nil {
		return nil, &Error{Err: fmt.Errorf("carbon: %w", err), hint: carbonHint}
	}
	s := &CarbonServer{}
	if err := s.settle("carbon", o); err != nil {
		return nil, err
	}
	s.Host += "-" + cmp.Or(o.Instance, "a")
	err = s.launch(ctx, func() (daemonSpec, error) {
		pidFile, err := filepath.Join(s.Dir, "carbon.pid"), s.configure(o)
		return daemonSpec{
			path: program, args: []string{"--config=" + s.ConfigFile, "--pidfile=" + pidFile, "--nodaemon",
				"--instance=" + cmp.Or(o.Instance, "a"), "start"},
			env:     []string{"GRAPHITE_ROOT=" + s.Dir, "GRAPHITE_CONF_DIR=" + s.Dir, "PYTHONUNBUFFERED=1"},
			pidFile: pidFile, console: s.LogFile, ports: []int{s.PicklePort, s.QueryPort},
		}, err
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// find returns the program, or else the first of the names that is on PATH.
func find(program string, names ...string) (path string, err error) {
	if program != "" {
		return program, nil
	}
	for _, name := range names {
		if path, err = command.LookPath(name); err == nil {
			break
		}
	}
	return path, err
}

// settle makes the directory and says what lies where in it.
func (s *CarbonServer) settle(name string, o CarbonOptions) error {
	if err := s.place(name, o.Dir, o.LinePort); err != nil {
		return err
	}
	s.StorageDir = cmp.Or(o.StorageDir, filepath.Join(s.Dir, "storage"))
	s.ConfigFile = filepath.Join(s.Dir, name+".conf")
	s.LogFile = filepath.Join(s.Dir, "console.log")
	if host, err := os.Hostname(); err == nil {
		s.Host = strings.ReplaceAll(host, ".", "_")
	}
	return nil
}

// choosePorts takes free ones beside that of lines.
func (s *CarbonServer) choosePorts(more ...*int) (err error) {
	s.LinePort = s.Port
	for _, port := range append(more, &s.PicklePort, &s.QueryPort) {
		if *port, err = FreePort(); err != nil {
			return err
		}
	}
	s.UDPPort, err = freeUDPPort()
	return err
}

// writeFiles makes the directories and writes the configuration.
func (s *CarbonServer) writeFiles(config, schemas string) error {
	if schemas == "" {
		schemas = carbonSchemas
	}
	if err := os.MkdirAll(filepath.Join(s.StorageDir, "whisper"), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(s.Dir, "storage-schemas.conf"), []byte(schemas), 0o644); err != nil {
		return err
	}
	return os.WriteFile(s.ConfigFile, []byte(config), 0o644)
}

// configure chooses the other ports and writes the files.
func (s *CarbonServer) configure(o CarbonOptions) error {
	if err := s.choosePorts(); err != nil {
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
	if err := os.MkdirAll(settings["WHITELISTS_DIR"], 0o755); err != nil {
		return err
	}
	return s.writeFiles(section("cache", settings), o.Schemas)
}

// section is a section of carbon.conf.
func section(name string, settings map[string]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[%s]\n", name)
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		fmt.Fprintf(&b, "%s = %s\n", name, settings[name])
	}
	return b.String()
}

// LineAddr returns the host:port that takes lines over TCP.
func (s *CarbonServer) LineAddr() string { return loopback(s.LinePort) }

// UDPAddr returns the host:port that takes lines over UDP.
func (s *CarbonServer) UDPAddr() string { return loopback(s.UDPPort) }

// PickleAddr returns the host:port that takes pickled batches.
func (s *CarbonServer) PickleAddr() string { return loopback(s.PicklePort) }

// QueryAddr returns the host:port that answers what the cache holds.
func (s *CarbonServer) QueryAddr() string { return loopback(s.QueryPort) }

// RenderURL returns the URL of go-carbon's carbonserver: it knows /render/ alone, with
// times in seconds, and its JSON is not that of graphite-web.
func (s *CarbonServer) RenderURL() string { return "http://" + loopback(s.RenderPort) + "/render/" }

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

// freeUDPPort returns a UDP port on 127.0.0.1 that is not in use.
func freeUDPPort() (int, error) {
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("free port: %w", err)
	}
	defer func() { _ = c.Close() }() // only asked
	return c.LocalAddr().(*net.UDPAddr).Port, nil
}
