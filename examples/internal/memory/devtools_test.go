package memory

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// findBrowser returns the path of a Chromium, or skips the test.
func findBrowser(t *testing.T) string {
	if runtime.GOOS == "windows" {
		t.Skip("no file descriptors can be handed to a browser on Windows")
	}
	if named := os.Getenv("CHROMIUM"); named != "" {
		return named
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "headless-shell"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no browser: looked for $CHROMIUM, chromium, chromium-browser and google-chrome")
	return ""
}

// browser is a headless Chromium with one page, driven over the DevTools protocol
// by two pipes: file descriptors 3 and 4 of its own, JSON with a zero byte after
// each message.
type browser struct {
	t       *testing.T
	ctx     context.Context
	session string

	mu      sync.Mutex // guards all below, and the writing of commands
	out     *os.File
	last    int
	answers map[int]chan message
	events  []message
	ended   error
}

type message struct {
	ID      int             `json:"id,omitempty"`
	Session string          `json:"sessionId,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
	// Raw is all of it as it came.
	Raw string `json:"-"`
}

// startBrowser starts a browser, which ends with the test.
func startBrowser(t *testing.T, flags ...string) *browser {
	t.Helper()
	path := findBrowser(t)
	// A browser that hangs fails the test instead of holding it up.
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	theirIn, ourOut, err := os.Pipe()
	require.NoError(t, err)
	ourIn, theirOut, err := os.Pipe()
	require.NoError(t, err)
	profile := filepath.Join(t.TempDir(), "profile")
	cmd := exec.CommandContext(ctx, path, append([]string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--no-proxy-server",
		"--user-data-dir=" + profile, "--remote-debugging-pipe",
	}, append(flags, "about:blank")...)...)
	cmd.ExtraFiles = []*os.File{theirIn, theirOut}
	// Wait waits until no process of the browser has this open any more: only
	// then is the profile left alone.
	var noise bytes.Buffer
	cmd.Stderr = &noise
	cmd.WaitDelay = 20 * time.Second
	require.NoError(t, cmd.Start())
	theirIn.Close()
	theirOut.Close()
	b := &browser{t: t, ctx: ctx, out: ourOut, answers: map[int]chan message{}}
	read := make(chan struct{})
	go func() {
		defer close(read)
		b.read(bufio.NewReader(ourIn))
	}()
	t.Cleanup(func() {
		b.call("Browser.close", nil, nil) // it may be gone before it answers
		ourOut.Close()
		<-read
		ourIn.Close()
		err := cmd.Wait()
		if t.Failed() {
			t.Logf("%s: %v\n%s", path, err, noise.Bytes())
		}
	})
	b.openPage()
	return b
}

func (b *browser) openPage() {
	b.t.Helper()
	var target struct{ TargetID string }
	b.must("Target.createTarget", object{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.must("Target.attachToTarget", object{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.must(domain+".enable", nil, nil)
	}
}

// read takes in what the browser says until it ends.
func (b *browser) read(in *bufio.Reader) {
	var err error
	for err == nil {
		var data []byte
		if data, err = in.ReadBytes(0); err != nil {
			break
		}
		var m message
		if err = json.Unmarshal(bytes.TrimSuffix(data, []byte{0}), &m); err != nil {
			break
		}
		b.mu.Lock()
		if answer := b.answers[m.ID]; answer != nil {
			delete(b.answers, m.ID)
			answer <- m
		} else {
			m.Raw = string(data)
			b.events = append(b.events, m)
		}
		b.mu.Unlock()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = fmt.Errorf("the browser ended: %w", err)
	for id, answer := range b.answers {
		delete(b.answers, id)
		close(answer)
	}
}

// call sends a command, and waits for its answer.
func (b *browser) call(method string, params, result any) error {
	answer := make(chan message, 1)
	b.mu.Lock()
	if b.ended != nil {
		b.mu.Unlock()
		return b.ended
	}
	b.last++
	b.answers[b.last] = answer
	data, err := json.Marshal(message{ID: b.last, Session: b.session, Method: method, Params: params})
	if err == nil {
		_, err = b.out.Write(append(data, 0))
	}
	b.mu.Unlock()
	if err != nil {
		return err
	}
	select {
	case m, ok := <-answer:
		switch {
		case !ok:
			return errors.New("the browser ended before it answered")
		case m.Error != nil:
			return fmt.Errorf("%s: %s", method, m.Error)
		case result == nil:
			return nil
		}
		return json.Unmarshal(m.Result, result)
	case <-b.ctx.Done():
		return fmt.Errorf("%s: %w", method, b.ctx.Err())
	}
}

func (b *browser) must(method string, params, result any) {
	b.t.Helper()
	require.NoError(b.t, b.call(method, params, result))
}

// open goes to a page.
func (b *browser) open(url string) {
	b.t.Helper()
	var went struct{ ErrorText string }
	b.must("Page.navigate", object{"url": url}, &went)
	require.Empty(b.t, went.ErrorText)
}

// eval returns the value of an expression in the page, awaited if it is a
// promise.
func (b *browser) eval(expression string, value any) {
	b.t.Helper()
	var got struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	b.must("Runtime.evaluate", object{"expression": expression, "awaitPromise": true, "returnByValue": true}, &got)
	require.Empty(b.t, string(got.ExceptionDetails), expression)
	if value != nil {
		require.NoError(b.t, json.Unmarshal(got.Result.Value, value), expression)
	}
}

// wait waits until an expression in the page is true: it is looked at whenever
// the page has changed.
func (b *browser) wait(condition string) {
	b.t.Helper()
	b.eval(`new Promise((resolve) => {
		const look = () => { if (document.body && (`+condition+`)) { watcher.disconnect(); resolve(true); } };
		const watcher = new MutationObserver(look);
		watcher.observe(document, {subtree: true, childList: true, characterData: true, attributes: true});
		look();
	})`, nil)
}

// clean checks that the page broke no rule, and asked nobody but one server.
func (b *browser) clean(url string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	requests := 0
	for _, m := range b.events {
		switch m.Method {
		case "Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled":
			if strings.Contains(m.Raw, "a status of 422") {
				continue // a form with a mistake
			}
			assert.Fail(b.t, "the page complains", "%s", m.Raw)
		case "Network.requestWillBeSent":
			requests++
			asked := m.Params.(object)["request"].(object)["url"].(string)
			assert.Contains(b.t, asked, url+"/debug/")
		}
	}
	assert.NotZero(b.t, requests)
}
