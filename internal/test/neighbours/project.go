package neighbours

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/sandbox"
)

// A Project is a small web service as there are many: nginx → PHP-FPM by a Unix socket →
// MariaDB by TCP, with one page that runs a statement a row. A bed has some; a test that
// measures one has the hardest neighbours, which are of its kind.
type Project struct {
	Word string // stands in its files, statements and answers
	Dir  string // of all its files
	DB   *sandbox.Server
	Web  *sandbox.NginxServer
	PHP  *command.Process

	forks  bool
	client http.Client
}

// StartForking is StartProject of one whose page starts programs, and whose workers end
// after some requests: most of what it uses is of processes that no list of them shows.
func StartForking(ctx context.Context, dir, word string) (*Project, error) {
	return startProject(ctx, &Project{Word: word, Dir: dir, forks: true})
}

// StartProject starts a project in a directory, and returns when its page was answered
// once. The context bounds its life; [Project.Stop] ends it in order.
func StartProject(ctx context.Context, dir, word string) (*Project, error) {
	return startProject(ctx, &Project{Word: word, Dir: dir})
}

func startProject(ctx context.Context, p *Project) (_ *Project, err error) {
	p.client.Timeout = 5 * time.Second
	defer func() {
		if err != nil {
			p.Stop()
		}
	}()
	p.DB, err = sandbox.MariaDB(ctx, sandbox.Options{Dir: filepath.Join(p.Dir, "db"), Vars: map[string]string{
		"init_connect": "SET @project = '" + p.Word + "'",
	}})
	if err != nil {
		return nil, err
	}
	if err := p.startPHP(ctx); err != nil {
		return nil, err
	}
	p.Web, err = sandbox.Nginx(ctx, sandbox.NginxOptions{Dir: filepath.Join(p.Dir, "web"), Config: p.nginx()})
	if err != nil {
		return nil, err
	}
	return p, p.await(ctx)
}

// Stop ends what was started.
func (p *Project) Stop() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if p.Web != nil {
		_ = p.Web.Stop(ctx) // what lives on dies with the process that started it
	}
	if p.PHP != nil {
		_, _ = p.PHP.Stop() // it says how it ended, which is no fault
	}
	if p.DB != nil {
		_ = p.DB.Stop(ctx)
	}
}

// URL is the project's page, for a number that differs from request to request.
func (p *Project) URL(i int) string {
	return fmt.Sprintf("%s/%s/bills?id=%d", strings.TrimSuffix(p.Web.URL(), "/"), p.Word, i)
}

// Ask asks for the page.
func (p *Project) Ask(ctx context.Context, i int) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.URL(i), nil)
	if err != nil {
		return err
	}
	res, err := p.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err == nil && string(text) != p.Word+" ok" {
		err = fmt.Errorf("the page was %d %.200q", res.StatusCode, text)
	}
	return err
}

// await waits until the page is answered: PHP-FPM listens a moment after its start.
func (p *Project) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	for {
		err := p.Ask(ctx, 0)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// page is the project's one page, with a defect of its own: a statement a row.
const page = `<?php // {word}
$db = new mysqli('127.0.0.1', 'root', '', '', {database});
$db->query('CREATE DATABASE IF NOT EXISTS {word}');
$db->query('CREATE TABLE IF NOT EXISTS {word}.bills (id INT PRIMARY KEY AUTO_INCREMENT, customer INT, note VARCHAR(64))');
if ($db->query('SELECT COUNT(*) FROM {word}.bills')->fetch_row()[0] < 200)
  for ($i = 0; $i < 200; $i++) $db->query("INSERT INTO {word}.bills (customer, note) VALUES ($i % 20, '{word}')");
for ($i = 0; $i < 10; $i++) $db->query("SELECT * FROM {word}.bills WHERE customer = $i ORDER BY note")->fetch_all();
{more}echo '{word} ok';
`

// forking is what a page has that starts programs: a shell that counts, and one that has
// another count for it.
const forking = `$count = 'i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done';
shell_exec($count); shell_exec("sh -c '$count'; true");
`

// fill puts what is the project's own into a text.
func (p *Project) fill(text string) string {
	more, recycled := "", ""
	if p.forks {
		more, recycled = forking, "pm.max_requests=10\n"
	}
	text = strings.NewReplacer("{more}", more, "{recycled}", recycled).Replace(text)
	return strings.NewReplacer("{word}", p.Word, "{database}", fmt.Sprint(p.DB.Port), "{here}", p.Dir).Replace(text)
}

// startPHP starts PHP-FPM with the project's page.
func (p *Project) startPHP(ctx context.Context) error {
	if err := os.WriteFile(filepath.Join(p.Dir, "index.php"), []byte(p.fill(page)), 0o644); err != nil {
		return err
	}
	conf := p.fill("[global]\nerror_log={here}/fpm.log\ndaemonize=no\n[{word}]\nuser=root\ngroup=root\n" +
		"listen={here}/fpm.sock\nlisten.mode=0666\npm=static\npm.max_children=3\n{recycled}")
	file := filepath.Join(p.Dir, "fpm.conf")
	if err := os.WriteFile(file, []byte(conf), 0o644); err != nil {
		return err
	}
	programs, _ := filepath.Glob("/usr/sbin/php-fpm*") // the pattern is right
	if len(programs) == 0 {
		return errors.New("no /usr/sbin/php-fpm*: apt-get install php-fpm php-mysql")
	}
	var err error
	p.PHP, err = command.Start(ctx, command.Spec{Path: programs[0], Args: []string{"-R", "-y", file}, Stderr: os.Stderr, DieWithParent: true})
	return err
}

// nginx returns the configuration of the project's nginx, in {} as sandbox has it.
func (p *Project) nginx() string {
	return p.fill(`{user}
# {word}
worker_processes 1;
pid "{dir}/nginx.pid";
error_log "{dir}/error.log" warn;
events { worker_connections 512; }
http {
    {log_format}
    log_format {word} '$remote_addr [$time_local] "$request" $status $body_bytes_sent $request_time';
    access_log "{dir}/access.log" kasoku;
    access_log "{dir}/own.log" {word};
    client_body_temp_path "{dir}/body";
    proxy_temp_path "{dir}/proxy";
    fastcgi_temp_path "{dir}/fastcgi";
    uwsgi_temp_path "{dir}/uwsgi";
    scgi_temp_path "{dir}/scgi";
    server {
        listen 127.0.0.1:{port};
        location / {
            include /etc/nginx/fastcgi_params;
            fastcgi_param SCRIPT_FILENAME "{here}/index.php";
            fastcgi_pass "unix:{here}/fpm.sock";
        }
    }
}
`)
}
