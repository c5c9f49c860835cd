package routes

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// openAPI is what is read of an OpenAPI document (3.x), or of its predecessor
// Swagger 2.0.
type openAPI struct {
	Servers []struct {
		URL string `json:"url" yaml:"url"`
	} `json:"servers" yaml:"servers"`
	BasePath string                    `json:"basePath" yaml:"basePath"`
	Paths    map[string]map[string]any `json:"paths" yaml:"paths"`
}

// FromOpenAPI returns the routes of an OpenAPI document in YAML or JSON, sorted.
func FromOpenAPI(path string) ([]Route, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read OpenAPI document: %w", err)
	}
	out, err := parseOpenAPI(b)
	if err != nil {
		return nil, fmt.Errorf("read OpenAPI document %s: %w", path, err)
	}
	return out, nil
}

func parseOpenAPI(b []byte) ([]Route, error) {
	var doc openAPI
	var err error
	if trimmed := strings.TrimSpace(string(b)); strings.HasPrefix(trimmed, "{") {
		err = json.Unmarshal(b, &doc)
	} else {
		err = yaml.Unmarshal(b, &doc)
	}
	if err != nil {
		return nil, err
	}
	base := doc.base()
	var out []Route
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		if !strings.HasPrefix(path, "/") {
			continue // an extension, x-…
		}
		for _, key := range slices.Sorted(maps.Keys(doc.Paths[path])) {
			if method := strings.ToUpper(key); isVerb(method) {
				out = append(out, Route{Method: method, Path: base + path})
			}
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no paths: expected an OpenAPI document with a paths object")
	}
	return out, nil
}

// base returns the path that all paths of the document are below.
func (d *openAPI) base() string {
	base := d.BasePath
	if len(d.Servers) > 0 {
		if u, err := url.Parse(d.Servers[0].URL); err == nil && !strings.ContainsAny(u.Path, "{}") {
			base = u.Path
		}
	}
	return strings.TrimSuffix(base, "/")
}

// isVerb reports whether s is a method of HTTP (RFC 9110, 9.3; RFC 5789).
func isVerb(s string) bool {
	switch s {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE":
		return true
	}
	return false
}
