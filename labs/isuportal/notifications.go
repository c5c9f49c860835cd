package isuportal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	webpush "github.com/SherClockHolmes/webpush-go"

	"github.com/kasoku/kasoku/internal/onehost"

	"github.com/kasoku/kasoku/labs/kit"
)

// A notification says that a job is finished, or a question answered.
type notification struct {
	ID   int64  `json:"id"`
	Kind string `json:"kind"` // job, clarification
	Of   int64  `json:"of"`   // the id of it
	At   int64  `json:"created_at"`
}

type notifications struct {
	Last int64          `json:"last_answered_clarification_id"`
	All  []notification `json:"notifications"`
}

// listNotifications are those after the last that a contestant has. Where they are pushed there is
// nothing to poll for.
func (s *server) listNotifications(ctx context.Context, p *person, r *http.Request) (any, error) {
	if !s.d.Has("APP-06") {
		return notifications{All: []notification{}}, nil
	}
	after, _ := strconv.ParseInt(r.FormValue("after"), 10, 64) // without it all that are not read
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback() // it was committed, or the error before counts
	rows, err := tx.QueryContext(ctx,
		"SELECT id, encoded_message, created_at FROM notifications WHERE contestant_id = ? AND id > ? "+
			"ORDER BY id", p.id, after)
	type row struct {
		id   int64
		text string
		at   time.Time
	}
	all, err := kit.Collect(rows, err, func(n *row) []any { return []any{&n.id, &n.text, &n.at} })
	if err != nil {
		return nil, err
	}
	if _, err := tx.ExecContext(ctx,
		"UPDATE notifications SET is_read = TRUE WHERE contestant_id = ? AND is_read = FALSE",
		p.id); err != nil {
		return nil, err
	}
	if err := tx.Commit(); err != nil {
		return nil, err
	}
	out := notifications{All: []notification{}}
	for _, n := range all {
		one := notification{ID: n.id, At: n.at.UnixMilli()}
		if _, err := fmt.Sscanf(n.text, "%s %d", &one.Kind, &one.Of); err != nil {
			return nil, err
		}
		out.All = append(out.All, one)
	}
	err = s.db.QueryRowContext(ctx,
		"SELECT id FROM clarifications WHERE (team_id = ? OR disclosed = TRUE) AND answered_at IS NOT NULL "+
			"ORDER BY id DESC LIMIT 1", p.team).Scan(&out.Last)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return out, err
}

// members returns the contestants of a team.
func (s *server) members(team int64) func(context.Context) ([]string, error) {
	return func(ctx context.Context) ([]string, error) {
		rows, err := s.db.QueryContext(ctx, "SELECT id FROM contestants WHERE team_id = ?", team)
		return kit.Collect(rows, err, func(id *string) []any { return []any{id} })
	}
}

// everyone returns all contestants who have a team.
func (s *server) everyone(ctx context.Context) ([]string, error) {
	rows, err := s.db.QueryContext(ctx, "SELECT id FROM contestants WHERE team_id IS NOT NULL")
	return kit.Collect(rows, err, func(id *string) []any { return []any{id} })
}

// notify stores a notification for each contestant, and pushes it to those who subscribed.
func (s *server) notify(ctx context.Context, kind string, of int64, to func(context.Context) ([]string, error)) error {
	ids, err := to(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		now := time.Now().UTC()
		res, err := s.db.ExecContext(ctx,
			"INSERT INTO notifications (contestant_id, encoded_message, created_at) VALUES (?, ?, ?)", id,
			kind+" "+strconv.FormatInt(of, 10), now)
		if err != nil {
			return err
		}
		n := notification{Kind: kind, Of: of, At: now.UnixMilli()}
		if n.ID, err = res.LastInsertId(); err != nil {
			return err
		}
		if s.d.Has("APP-06") {
			continue
		}
		if err := s.send(ctx, id, n); err != nil {
			return err
		}
	}
	return nil
}

// A subscription is where a contestant's browser takes what is pushed.
//
// Source: W3C Push API, PushSubscription.toJSON.
type subscription struct {
	Endpoint string `json:"endpoint"`
	P256dh   string `json:"p256dh"`
	Auth     string `json:"auth"`
}

// subscribe takes note of a browser. This is a lab: it pushes to its own host alone.
func (s *server) subscribe(ctx context.Context, p *person, r *http.Request) (any, error) {
	var to subscription
	if err := read(r, &to); err != nil {
		return nil, err
	}
	u, err := url.Parse(to.Endpoint)
	if err != nil || u.Scheme != "http" || u.Hostname() != "127.0.0.1" {
		return nil, errBody
	}
	_, err = s.db.ExecContext(ctx,
		"INSERT IGNORE INTO push_subscriptions (contestant_id, endpoint, p256dh, auth, created_at) "+
			"VALUES (?, ?, ?, ?, ?)", p.id, to.Endpoint, to.P256dh, to.Auth, time.Now().UTC())
	return nothing{}, err
}

// send pushes a notification to the browsers of a contestant.
func (s *server) send(ctx context.Context, id string, n notification) error {
	rows, err := s.db.QueryContext(ctx,
		"SELECT endpoint, p256dh, auth FROM push_subscriptions WHERE contestant_id = ?", id)
	all, err := kit.Collect(rows, err, func(to *subscription) []any { return []any{&to.Endpoint, &to.P256dh, &to.Auth} })
	if err != nil || len(all) == 0 {
		return err
	}
	if err := s.push.learn(ctx, s.db); err != nil {
		return err
	}
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	for _, to := range all {
		s.push.queue(delivery{to, text})
	}
	return nil
}

// Bounds of what is pushed.
const (
	pushers     = 8
	mostWaiting = 10_000
	pushWithin  = 5 * time.Second
	pushTries   = 3
	recordSize  = 512 // of an encrypted message, with its padding
)

// A pusher sends encrypted notifications, and keeps those that wait.
type pusher struct {
	waiting chan delivery
	stop    chan struct{}
	client  *http.Client
	workers sync.WaitGroup

	mu              sync.Mutex
	public, private string
}

type delivery struct {
	to   subscription
	text []byte
}

func newPusher() *pusher {
	p := &pusher{waiting: make(chan delivery, mostWaiting), stop: make(chan struct{}),
		client: onehost.NewClient(&http.Transport{MaxIdleConnsPerHost: pushers}, pushWithin)}
	for range pushers {
		p.workers.Go(p.work)
	}
	return p
}

func (p *pusher) close() {
	close(p.stop)
	p.workers.Wait()
	p.client.CloseIdleConnections()
}

// learn reads the keys that both processes have, and makes them where there are none.
func (p *pusher) learn(ctx context.Context, db *sql.DB) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.public != "" {
		return nil
	}
	read := func() error {
		return db.QueryRowContext(ctx, "SELECT public, private FROM push_keys WHERE id = 1").Scan(&p.public, &p.private)
	}
	if err := read(); !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	private, public, err := webpush.GenerateVAPIDKeys()
	if err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, "INSERT IGNORE INTO push_keys VALUES (1, ?, ?)", public, private); err != nil {
		return err
	}
	return read() // the other process may have been first
}

// key is the server's public key; empty before it is known.
func (p *pusher) key() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.public
}

// queue has a delivery sent; beyond mostWaiting it waits for room.
func (p *pusher) queue(d delivery) {
	select {
	case p.waiting <- d:
	case <-p.stop:
	}
}

func (p *pusher) work() {
	for {
		select {
		case <-p.stop:
			return
		case d := <-p.waiting:
			for try := 0; try < pushTries && !p.deliver(d); try++ {
			}
		}
	}
}

// deliver posts one, encrypted for the browser and signed by the server.
//
// Source: RFC 8030, 8188, 8291, 8292.
func (p *pusher) deliver(d delivery) bool {
	resp, err := webpush.SendNotification(d.text, &webpush.Subscription{Endpoint: d.to.Endpoint,
		Keys: webpush.Keys{P256dh: d.to.P256dh, Auth: d.to.Auth}}, &webpush.Options{
		HTTPClient: p.client, Subscriber: "portal@example.com", VAPIDPublicKey: p.key(), VAPIDPrivateKey: p.private,
		TTL: 60, RecordSize: recordSize,
	})
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<10)) // so that the connection is kept
	return resp.StatusCode == http.StatusCreated
}
