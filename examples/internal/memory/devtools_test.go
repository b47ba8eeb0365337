package memory

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
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

// browser is a headless Chromium with one page, driven over the DevTools protocol by two pipes: file descriptors 3 and 4 of its own, JSON
// with a zero byte after each message.
type browser struct {
	t       *testing.T
	session string
	in      *bufio.Reader
	out     *os.File
	last    int
	events  []message // that came before the answers
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
	b := &browser{t: t, in: bufio.NewReader(ourIn), out: ourOut}
	t.Cleanup(func() {
		b.call("Browser.close", nil, nil) // it may be gone before it answers
		ourOut.Close()
		ourIn.Close()
		err := cmd.Wait()
		if t.Failed() {
			t.Logf("%s: %v\n%s", path, err, noise.Bytes())
		}
	})
	var target struct{ TargetID string }
	b.must("Target.createTarget", object{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.must("Target.attachToTarget", object{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.must(domain+".enable", nil, nil)
	}
	return b
}

// call sends a command, and reads what the browser says until it answers.
func (b *browser) call(method string, params, result any) error {
	b.last++
	data, err := json.Marshal(message{ID: b.last, Session: b.session, Method: method, Params: params})
	if err != nil {
		return err
	}
	if _, err := b.out.Write(append(data, 0)); err != nil {
		return err
	}
	for {
		data, err := b.in.ReadBytes(0)
		if err != nil {
			return fmt.Errorf("%s: the browser ended: %w", method, err)
		}
		m := message{Raw: string(data)}
		if err := json.Unmarshal(bytes.TrimSuffix(data, []byte{0}), &m); err != nil {
			return err
		}
		switch {
		case m.ID != b.last:
			b.events = append(b.events, m)
		case m.Error != nil:
			return fmt.Errorf("%s: %s", method, m.Error)
		case result == nil:
			return nil
		default:
			return json.Unmarshal(m.Result, result)
		}
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
