package sandbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/kasoku/kasoku/internal/command"
)

// A GraphiteWebServer is a running or stopped graphite-web. Its methods are safe for
// concurrent use.
type GraphiteWebServer struct{ Daemon }

const graphiteWebHint = "install it: sudo apt-get install graphite-web (no need to run it)"

// GraphiteWeb starts a graphite-web, by Django's own server, that answers from the
// files and the cache of a carbon. Nothing is remembered of an answer. Lists of users
// and dashboards, for which it has a database, are not there: it renders. The context
// bounds the start alone.
func GraphiteWeb(ctx context.Context, carbon *CarbonServer) (*GraphiteWebServer, error) {
	program, err := command.LookPath("graphite-manage")
	if err != nil {
		return nil, &Error{Err: fmt.Errorf("graphite-web: %w", err), hint: graphiteWebHint}
	}
	s := &GraphiteWebServer{}
	if err := s.place("graphite-web", "", 0); err != nil {
		return nil, err
	}
	err = s.launch(ctx, func() (daemonSpec, error) {
		return daemonSpec{
			path: program, args: []string{"runserver", "--noreload", "--insecure", s.Addr()},
			env:     []string{"GRAPHITE_SETTINGS_MODULE=kasoku_settings", "PYTHONPATH=" + s.Dir, "PYTHONUNBUFFERED=1"},
			started: "Starting development server", console: filepath.Join(s.Dir, "console.log"),
		}, os.WriteFile(filepath.Join(s.Dir, "kasoku_settings.py"), s.settings(carbon), 0o600)
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// settings returns the text of the settings, in Python.
func (s *GraphiteWebServer) settings(carbon *CarbonServer) []byte {
	var b []byte
	set := func(name, value string) { b = fmt.Appendf(b, "%s = %s\n", name, value) }
	files := strconv.Quote(filepath.Join(carbon.StorageDir, "whisper"))
	set("SECRET_KEY", `"of a test"`)
	set("TIME_ZONE", `"UTC"`)
	set("ALLOWED_HOSTS", `["127.0.0.1"]`)
	for _, name := range []string{"STORAGE_DIR", "CONF_DIR", "LOG_DIR"} {
		set(name, strconv.Quote(s.Dir))
	}
	set("INDEX_FILE", strconv.Quote(filepath.Join(s.Dir, "index")))
	set("WHISPER_DIR", files)
	set("STANDARD_DIRS", "["+files+"]")
	set("CARBONLINK_HOSTS", "["+strconv.Quote(carbon.QueryAddr())+"]")
	set("FIND_CACHE_DURATION", "0")
	set("DEFAULT_CACHE_DURATION", "0")
	set("DATABASES", fmt.Sprintf(`{"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": %q}}`,
		filepath.Join(s.Dir, "graphite.db")))
	return b
}

// URL returns the address, without a slash at the end.
func (s *GraphiteWebServer) URL() string { return "http://" + s.Addr() }
