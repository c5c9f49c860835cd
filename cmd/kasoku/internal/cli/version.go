package cli

import (
	"runtime/debug"
)

// version is set by the linker for a release.
var version string

// VersionString is the release, else what the build knows of the revision.
func VersionString() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	revision, dirty := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= 7:
			revision = "-" + s.Value[:7]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "-dirty"
		}
	}
	return "0.1.0-dev" + revision + dirty
}
