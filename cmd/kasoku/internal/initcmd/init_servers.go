package initcmd

import (
	"fmt"

	"github.com/kasoku/kasoku/topology"
)

// tomlServers writes where the servers other than the database report numbers
// of themselves. What answered is in force; what does not run here has no table.
func (s *Surveyed) tomlServers(w *tomlWriter) {
	s.tomlNginx(w)
	s.tomlVarnish(w)
	s.tomlRedis(w)
	s.tomlDeclared(w)
	s.tomlGraphite(w)
}

func (s *Surveyed) tomlNginx(w *tomlWriter) {
	w.table("nginx", "The page on which nginx counts its connections and requests.")
	for _, v := range s.found.Of(topology.Nginx) {
		if v.Nginx != nil && v.Nginx.Status != "" {
			w.set("status", QuoteTOML(v.Nginx.Status), fmt.Sprintf("stub_status in the configuration of %s; it "+
				"answered.", ServiceText(v)))
			return
		}
	}
	w.example("status", "'http://127.0.0.1/nginx_status'", "A location that makes it: location = /nginx_status { "+
		"access_log off; allow 127.0.0.1; deny all; stub_status; }")
}

func (s *Surveyed) tomlVarnish(w *tomlWriter) {
	found := s.found.Of(topology.Varnish)
	if len(found) == 0 {
		return
	}
	w.table("varnish", "The cache whose counters are read, by varnishstat.")
	for _, v := range found {
		if v.Varnish == nil || !v.Varnish.Answers {
			w.say("%s runs here, and varnishstat does not report its numbers to %s.", ServiceText(v), s.who.Name)
			continue
		}
		w.set("stat", "'varnishstat'", fmt.Sprintf("%s runs here; it reported its numbers.", ServiceText(v)))
		if v.Varnish.Name != "" {
			w.set("name", QuoteTOML(v.Varnish.Name), "The instance, as varnishd's -n.")
		}
		return
	}
	w.example("stat", "'varnishstat'", "")
}

func (s *Surveyed) tomlRedis(w *tomlWriter) {
	found := s.found.Of(topology.Redis)
	if len(found) == 0 {
		return
	}
	w.table("redis", "The Redis to watch: commands, hits and misses, memory. A password belongs into an environment "+
		"variable, not in here.")
	for _, v := range found {
		if v.Redis == nil || v.Redis.Address == "" {
			w.say("%s runs here, and does not answer on loopback.", ServiceText(v))
			continue
		}
		w.set("address", QuoteTOML(v.Redis.Address), fmt.Sprintf("%s; it answered.", ServiceText(v)))
		if v.Redis.Password {
			w.set("password_env", "'REDIS_PASSWORD'", "It wants a password: set this variable before a run.")
		}
		if v.Redis.TLS {
			w.example("cacert", "'/etc/redis/ca.crt'", "It speaks TLS: the certificate of its authority, as redis-cli's "+
				"--cacert, unless the system knows it.")
		}
		if v.Redis.Stranger {
			w.example("cert", "'/etc/redis/client.crt'", "It wants a certificate of its clients, with key = '…', and "+
				"answered nothing else.")
		}
		return
	}
	w.example("address", "'127.0.0.1:6379'", "")
}

func (s *Surveyed) tomlGraphite(w *tomlWriter) {
	found := s.found.Of(topology.Carbon)
	if len(found) == 0 {
		return
	}
	w.table("graphite", "Where carbon or go-carbon reports about itself: once a minute, through its cache and its files.")
	for _, v := range found {
		c := v.Carbon
		if c == nil || c.Query == "" && c.Storage == "" {
			w.say("%s runs here; where its series are is not known.", ServiceText(v))
			continue
		}
		how := fmt.Sprintf("%s; its configuration says so.", ServiceText(v))
		if c.Query != "" {
			w.set("query", QuoteTOML(c.Query), how)
			how = ""
		}
		if c.Storage != "" {
			if r := topology.CheckFile(c.Storage, s.who); !r.Read {
				how += " The files cannot be read yet; `kasoku doctor` has the line that grants it."
			}
			w.set("storage", QuoteTOML(c.Storage), how)
		}
		return
	}
	w.example("query", "'127.0.0.1:7002'", "")
	w.example("storage", "'/var/lib/graphite/whisper'", "")
}

// tomlProfiles writes what Go programs report: the numbers of package expvar, profiles.
func (s *Surveyed) tomlProfiles(w *tomlWriter) {
	var vars, profiles []string
	for _, v := range LikelyApps(s.found) {
		if v.Go == nil {
			continue
		}
		if v.Go.Vars != "" {
			vars = append(vars, v.Go.Vars)
		}
		if v.Go.Pprof != "" {
			profiles = append(profiles, v.Go.Pprof)
		}
	}
	w.list("expvar", vars, "Numbers of programs in Go; they answered.", "['http://127.0.0.1:6060/debug/vars']", "Programs in Go with package expvar: memory, connection pools.")
	w.list("pprof", profiles, "Profiles of programs in Go are taken once under load; these "+
		"answered.", "['http://127.0.0.1:6060/debug/pprof/']", "Programs in Go with package net/http/pprof: which functions use the CPU.")
}
