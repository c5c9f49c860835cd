package bench

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/kasoku/kasoku/load/scenario"
)

// An inbox takes what is pushed to the browsers of contestants, as a push service and the browsers
// would.
type inbox struct {
	listener net.Listener
	server   *http.Server
	private  *ecdh.PrivateKey
	auth     []byte

	mu     sync.Mutex
	takers map[string]taker // by path
	bad    error            // the first that was wrong
}

type taker struct {
	team *team
	of   *contestant
}

func newInbox() (*inbox, error) {
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	in := &inbox{private: key, auth: make([]byte, 16), takers: map[string]taker{}}
	if _, err := rand.Read(in.auth); err != nil {
		return nil, err
	}
	if in.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	in.server = &http.Server{Handler: http.HandlerFunc(in.take), ReadHeaderTimeout: answerWithin}
	go in.server.Serve(in.listener) //nolint:errcheck // it ends with close
	return in, nil
}

func (in *inbox) close() { _ = in.server.Close() }

func (in *inbox) origin() string { return "http://" + in.listener.Addr().String() }

// subscribe returns what a contestant's browser gives to the service.
func (in *inbox) subscribe(t *team, c *contestant) any {
	path := "/push/" + c.id
	in.mu.Lock()
	defer in.mu.Unlock()
	in.takers[path] = taker{t, c}
	encode := base64.RawURLEncoding.EncodeToString
	return map[string]string{"endpoint": in.origin() + path, "p256dh": encode(in.private.PublicKey().Bytes()),
		"auth": encode(in.auth)}
}

// largest is a record of a push service: RFC 8030, section 7.2.
const largest = 4096

// take takes one push message.
func (in *inbox) take(w http.ResponseWriter, r *http.Request) {
	in.mu.Lock()
	to, ok := in.takers[r.URL.Path]
	in.mu.Unlock()
	if !ok {
		http.Error(w, "no such subscription", http.StatusGone)
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, largest+1))
	if err == nil {
		err = in.signed(r.Header.Get("Authorization"), to.of.key)
	}
	var text []byte
	if err == nil {
		text, err = in.open(body)
	}
	var n notification
	if err == nil {
		err = json.Unmarshal(text, &n)
	}
	if err == nil {
		to.of.mu.Lock()
		if to.of.pushed[n.ID] {
			err = errors.New("a notification was pushed twice")
		}
		to.of.pushed[n.ID] = true
		to.of.mu.Unlock()
	}
	if err != nil {
		in.mu.Lock()
		if in.bad == nil {
			in.bad = err
		}
		in.mu.Unlock()
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	to.team.notes.add(&n)
	w.WriteHeader(http.StatusCreated)
}

// wrong returns the first push that was wrong.
func (in *inbox) wrong() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.bad
}

// open decrypts a message.
//
// Source: RFC 8188, section 2; RFC 8291, section 3.4.
func (in *inbox) open(b []byte) ([]byte, error) {
	const salt, head = 16, 16 + 4 + 1
	if len(b) < head || len(b) < head+int(b[head-1]) || len(b) > largest {
		return nil, errors.New("a push is no message of aes128gcm")
	}
	sender := b[head : head+int(b[head-1])]
	public, err := ecdh.P256().NewPublicKey(sender)
	if err != nil {
		return nil, err
	}
	shared, err := in.private.ECDH(public)
	if err != nil {
		return nil, err
	}
	info := "WebPush: info\x00" + string(in.private.PublicKey().Bytes()) + string(sender)
	secret, err := hkdf.Key(sha256.New, shared, in.auth, info, 32)
	if err != nil {
		return nil, err
	}
	key, err := hkdf.Key(sha256.New, secret, b[:salt], "Content-Encoding: aes128gcm\x00", 16)
	if err != nil {
		return nil, err
	}
	nonce, err := hkdf.Key(sha256.New, secret, b[:salt], "Content-Encoding: nonce\x00", 12)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	text, err := gcm.Open(nil, nonce, b[head+len(sender):], nil)
	if err != nil {
		return nil, fmt.Errorf("a push is not encrypted for its browser: %w", err)
	}
	text = []byte(strings.TrimRight(string(text), "\x00"))
	if len(text) == 0 || text[len(text)-1] != 2 { // the mark of the last record
		return nil, errors.New("a push has no end of its record")
	}
	return text[:len(text)-1], nil
}

// signed checks that a message is signed for this inbox with the service's key.
//
// Source: RFC 8292, section 2 and 3; RFC 7515, appendix A.3.
func (in *inbox) signed(authorization, key string) error {
	var token, with string
	for part := range strings.SplitSeq(strings.TrimPrefix(authorization, "vapid "), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "t":
			token = value
		case "k":
			with = value
		}
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 || with != key {
		return errors.New("a push is not signed with the key of the session")
	}
	decode := base64.RawURLEncoding.DecodeString
	point, err := decode(key)
	if err != nil {
		return err
	}
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil {
		return err
	}
	signature, err := decode(parts[2])
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	const half = 32
	if len(signature) != 2*half || !ecdsa.Verify(public, sum[:], new(big.Int).SetBytes(signature[:half]),
		new(big.Int).SetBytes(signature[half:])) {
		return errors.New("the signature of a push is wrong")
	}
	payload, err := decode(parts[1])
	if err != nil {
		return err
	}
	var claims struct {
		Audience string `json:"aud"`
		Expires  int64  `json:"exp"`
	}
	if err := json.Unmarshal(payload, &claims); err != nil {
		return err
	}
	if now := time.Now().Unix(); claims.Audience != in.origin() || claims.Expires < now || claims.Expires > now+24*60*60 {
		return errors.New("a push is signed for another service, or for too long")
	}
	return nil
}

// watch reports what was pushed wrongly.
func (in *inbox) watch(ctx context.Context, step *scenario.Step) error {
	return repeat(ctx, step, pollEach, func() error {
		if err := in.wrong(); err != nil {
			in.mu.Lock()
			in.bad = nil
			in.mu.Unlock()
			return scenario.Fail(Unsafe, err)
		}
		return nil
	})
}
