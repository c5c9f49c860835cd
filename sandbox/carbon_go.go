package sandbox

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const goCarbonHint = "build it: go build github.com/go-graphite/go-carbon, in tools/peers/go-carbon of kasoku's source"

// GoCarbon starts a go-carbon, as the calling user, root included, as [Carbon] starts
// a carbon-cache. What its files do not have yet it gives through its carbonserver,
// which finds a new series within a second.
func GoCarbon(ctx context.Context, o CarbonOptions) (*CarbonServer, error) {
	program, err := find(o.Program, "go-carbon")
	if err != nil {
		return nil, &Error{Err: fmt.Errorf("go-carbon: %w", err), hint: goCarbonHint}
	}
	s := &CarbonServer{}
	if err := s.settle("go-carbon", o); err != nil {
		return nil, err
	}
	err = s.launch(ctx, func() (daemonSpec, error) {
		return daemonSpec{path: program, args: []string{"-config", s.ConfigFile}, started: "[main] started",
			console: s.LogFile}, s.configureGo(o)
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// configureGo chooses the other ports and writes the files.
func (s *CarbonServer) configureGo(o CarbonOptions) error {
	if err := s.choosePorts(&s.RenderPort); err != nil {
		return err
	}
	interval := o.MetricInterval
	if interval == 0 {
		interval = time.Minute
	}
	settings := map[string]string{
		"common.user": `""`, "common.metric-interval": strconv.Quote(interval.String()),
		"whisper.data-dir":     strconv.Quote(filepath.Join(s.StorageDir, "whisper")),
		"whisper.schemas-file": strconv.Quote(filepath.Join(s.Dir, "storage-schemas.conf")),
		"tcp.listen":           strconv.Quote(s.LineAddr()), "udp.listen": strconv.Quote(s.UDPAddr()),
		"pickle.listen": strconv.Quote(s.PickleAddr()), "carbonlink.listen": strconv.Quote(s.QueryAddr()),
		"carbonserver.enabled": "true", "carbonserver.listen": strconv.Quote(loopback(s.RenderPort)),
		"carbonserver.scan-frequency": `"1s"`, "grpc.enabled": "false",
		// Its caches keep for minutes that a series was not there.
		"carbonserver.query-cache-enabled": "false", "carbonserver.find-cache-enabled": "false",
		"carbonserver.glob-cache-enabled": "false",
	}
	maps.Copy(settings, o.Settings)
	var b strings.Builder
	section := ""
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		in, key, _ := strings.Cut(name, ".")
		if in != section {
			fmt.Fprintf(&b, "[%s]\n", in)
			section = in
		}
		fmt.Fprintf(&b, "%s = %s\n", key, settings[name])
	}
	// Each of its own metrics would be a line of the log too.
	for _, logger := range [][2]string{{"", "info"}, {"stat", "warn"}} {
		fmt.Fprintf(&b, "[[logging]]\nlogger = %q\nfile = \"stdout\"\nlevel = %q\nencoding = \"mixed\"\n", logger[0],
			logger[1])
	}
	return s.writeFiles(b.String(), o.Schemas)
}
