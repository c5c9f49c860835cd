package pathwalk_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/internal/pathwalk"
)

// tree makes a log, a link to it, one that leads nowhere, and a directory with a log.
func tree(t testing.TB) string {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err == nil {
		err = errors.Join(os.WriteFile(dir+"/access.log", []byte("a line\n"), 0o600), os.Symlink("access.log", dir+"/link"),
			os.Symlink("none", dir+"/loose"), os.Mkdir(dir+"/app", 0o700), os.WriteFile(dir+"/app/other.log", nil, 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestLook: what is looked at by steps, and at once, is what stat(2) sees.
func TestLook(t *testing.T) {
	dir := tree(t)
	t.Chdir(dir)
	for _, name := range []string{dir + "/access.log", "access.log", "app/../access.log", "link", dir + "/app", "/proc/self/stat", "/dev/null", "/"} {
		var want unix.Stat_t
		if err := unix.Stat(name, &want); err != nil {
			t.Fatal(err)
		}
		if st, err := pathwalk.Stat(name); err != nil || st.Dev != want.Dev || st.Ino != want.Ino {
			t.Errorf("%s: %d:%d, %v; want %d:%d", name, st.Dev, st.Ino, err, want.Dev, want.Ino)
		}
		got, err := pathwalk.Resolve(name)
		if real, _ := filepath.EvalSymlinks(filepath.Join(dir, name)); err != nil || !filepath.IsAbs(name) && got != real {
			t.Errorf("%s: %q, %v; want %q", name, got, err, real)
		}
	}
	for name, want := range map[string]error{"": fs.ErrNotExist, "none": fs.ErrNotExist, "loose": fs.ErrNotExist,
		dir + "/none/x": fs.ErrNotExist, dir + "/access.log/x": unix.ENOTDIR, "link/x": unix.ENOTDIR} {
		if _, err := pathwalk.Stat(name); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", name, err, want)
		}
	}
}

// TestLookIn: the links of the kernel to what a process has are followed.
func TestLookIn(t *testing.T) {
	dir := tree(t)
	t.Chdir(dir)
	want, err := pathwalk.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	for from, name := range map[string]string{"cwd": ".", "root": dir} {
		if st, err := pathwalk.StatIn("/proc/self", from, name); err != nil || st.Ino != want.Ino || st.Dev != want.Dev {
			t.Errorf("%s %s: %v, %v", from, name, st, err)
		}
	}
}

// TestGlob is [filepath.Glob].
func TestGlob(t *testing.T) {
	dir := tree(t)
	t.Chdir(dir)
	for _, pattern := range []string{"*", "*.log", dir + "/*.log", dir + "/*/*.log", "a*/../*.log", "none/*", "access.log", "[", "?ink"} {
		want, wantErr := filepath.Glob(pattern)
		got, err := pathwalk.Glob(pattern)
		if !slices.Equal(got, want) || (err == nil) != (wantErr == nil) {
			t.Errorf("%s: %q, %v; want %q, %v", pattern, got, err, want, wantErr)
		}
	}
}

// TestDir: of a directory the names are read, and what they are but for links.
func TestDir(t *testing.T) {
	d, err := pathwalk.OpenDir(tree(t))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	names, err := d.Names()
	slices.Sort(names)
	if want := []string{"access.log", "app", "link", "loose"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("%q, %v", names, err)
	}
	if st, err := d.Stat("access.log"); err != nil || st.Size != 7 || !pathwalk.IsRegular(&st) {
		t.Errorf("%v, %v", st, err)
	}
	if _, err := d.Stat("link"); err == nil {
		t.Error("a link was followed")
	}
}

// BenchmarkStat is what each log costs each second.
func BenchmarkStat(b *testing.B) {
	dir := tree(b)
	for name, path := range map[string]string{"root": dir + "/access.log", "link": dir + "/link", "memory": "/dev/shm"} {
		b.Run(name+"/os", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = os.Stat(path)
			}
		})
		b.Run(name+"/Stat", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := pathwalk.Stat(path); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
