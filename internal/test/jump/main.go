// Command jump runs a command of go with a package time in which the clock of the machine jumps. Every 7 seconds time.Now goes an
// hour forward or back, or returns, in each process at other moments. The monotonic clock and timers go on, as they do when
// somebody sets the clock of a real machine. Bubbles of testing/synctest keep their time.
//
//	go run ./internal/test/jump go test ./lease ./candidate
//	cd store/etcd && go run ../../internal/test/jump go test ./...
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "jump:", err)
		os.Exit(1)
	}
}

const (
	// now is a line of time.Now. mono counts the nanoseconds since the start of the process.
	now = "\tmono -= startNano\n"

	jumps = `
// jump returns how far the clock of the machine is off, in seconds.
func jump(mono int64) int64 {
	if mono > 1e17 { // a bubble
		return 0
	}
	return 3600 * ((startNano/1000+mono/7e9)%3 - 1)
}
`
)

func run(command []string) error {
	if len(command) == 0 {
		return errors.New("usage: jump go test ./...")
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	original := filepath.Join(strings.TrimSpace(string(root)), "src", "time", "time.go")
	source, err := os.ReadFile(original)
	if err != nil {
		return err
	}
	if strings.Count(string(source), now) != 1 {
		return fmt.Errorf("%s: time.Now is not the one that this program knows", original)
	}
	dir, err := os.MkdirTemp("", "jump")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	patched, overlay := filepath.Join(dir, "time.go"), filepath.Join(dir, "overlay.json")
	source = []byte(strings.Replace(string(source), now, now+"\tsec += jump(mono)\n", 1) + jumps)
	if err := os.WriteFile(patched, source, 0o600); err != nil {
		return err
	}
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{original: patched}})
	if err != nil {
		return err
	}
	if err := os.WriteFile(overlay, replace, 0o600); err != nil {
		return err
	}
	c := exec.Command(command[0], command[1:]...)
	c.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -overlay="+overlay)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	return c.Run()
}
