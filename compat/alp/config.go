package alp

import (
	"fmt"
	"os"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/spf13/pflag"
)

// configKeys are the keys of a configuration file that are not named as the flag
// is, with _ for -.
var configKeys = map[string][]string{
	"pos":            {"pos_file", "pos"},
	"page":           {"pagination_limit", "page"},
	"restime-key":    {"restime_key", "response_time_key"},
	"reqtime-key":    {"reqtime_key", "request_time_key"},
	"restime-subexp": {"restime_subexp", "response_time_subexp"},
	"reqtime-subexp": {"reqtime_subexp", "request_time_subexp"},
}

// readConfig sets the flags that were not given to what a configuration file
// says. A section named as the kind of log, or as the command, comes first.
func (o *options) readConfig(path, command string, fl *pflag.FlagSet) error {
	if path == "" {
		return nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read configuration: %w", err)
	}
	var all map[string]any
	if err := yaml.Unmarshal(b, &all); err != nil {
		return fmt.Errorf("read configuration %s: %w", path, err)
	}
	sections := []map[string]any{sectionOf(all, command), sectionOf(all, o.fields.kind), all}
	fl.VisitAll(func(f *pflag.Flag) {
		if err != nil || f.Changed {
			return
		}
		where := sections
		if command == "topN" && f.Name == "sort" {
			where = sections[:1] // the others sort something else
		}
		v := lookUp(where, f.Name)
		if v == nil {
			return
		}
		if list, ok := v.([]any); ok && f.Name == "matching-groups" {
			for _, g := range list {
				o.uris.groups = append(o.uris.groups, fmt.Sprint(g))
			}
			return
		}
		if bad := f.Value.Set(configText(v)); bad != nil {
			err = fmt.Errorf("read configuration %s: %s: %w", path, strings.ReplaceAll(f.Name, "-", "_"), bad)
		}
	})
	return err
}

func sectionOf(all map[string]any, name string) map[string]any {
	m, _ := all[name].(map[string]any)
	return m
}

func lookUp(sections []map[string]any, flag string) any {
	keys := configKeys[flag]
	if keys == nil {
		keys = []string{strings.ReplaceAll(flag, "-", "_")}
	}
	for _, s := range sections {
		for _, k := range keys {
			if v := s[k]; v != nil {
				if _, nested := v.(map[string]any); !nested {
					return v
				}
			}
		}
	}
	return nil
}

// configText returns a value as it would stand after its flag.
func configText(v any) string {
	list, ok := v.([]any)
	if !ok {
		return fmt.Sprint(v)
	}
	var out []string
	for _, e := range list {
		out = append(out, fmt.Sprint(e))
	}
	return strings.Join(out, ",")
}
