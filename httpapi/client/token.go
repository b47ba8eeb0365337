package client

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// tokenAge is how long the token of a file is used, as by client-go.
const tokenAge = time.Minute

// token is a bearer token, or none.
type token struct {
	file string

	mu    sync.Mutex // guards all below
	value string
	read  time.Time // when value was read from file
}

// header returns the header Authorization, or "".
func (t *token) header() (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.file != "" && time.Since(t.read) >= tokenAge {
		// A file that is being replaced may be missing for a moment.
		if value, err := readToken(t.file); err == nil {
			t.value, t.read = value, time.Now()
		} else if t.value == "" {
			return "", err
		}
	}
	if t.value == "" {
		return "", nil
	}
	return "Bearer " + t.value, nil
}

// refused reads the file again because of an answer 401, and reports whether it has another token
// than the header that was sent.
func (t *token) refused(sent string) bool {
	t.mu.Lock()
	t.read = time.Time{}
	t.mu.Unlock()
	now, err := t.header()
	return err == nil && now != sent
}

// readToken reads the token in a file.
func readToken(file string) (string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("client: token file: %w", err)
	}
	value := strings.TrimSpace(string(data))
	if value == "" || strings.ContainsAny(value, "\r\n") {
		return "", fmt.Errorf("client: token file %s: got no single line, want one token", file)
	}
	return value, nil
}
