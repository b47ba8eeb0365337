package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
)

// repository is a folder with a clone.
type repository struct {
	dir      string
	identity []string // options before the command: who commits
}

// git returns the output of a git command, without the last newline.
func (r repository) git(args ...string) (string, error) {
	cmd := exec.Command("git", append(append([]string{"-C", r.dir}, r.identity...), args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}

// lines returns the lines that a git command prints.
func (r repository) lines(args ...string) ([]string, error) {
	out, err := r.git(args...)
	if err != nil || out == "" {
		return nil, err
	}
	return strings.Split(out, "\n"), nil
}

// clone makes a clone in a folder, with the same committer. What is done there does not change r.
func (r repository) clone(dir string) (repository, error) {
	c := repository{dir: dir}
	if _, err := r.git("clone", "--quiet", "--no-tags", ".", dir); err != nil {
		return c, err
	}
	for _, key := range []string{"user.name", "user.email"} {
		if value, err := r.git("config", key); err == nil { // else git says what is missing when it commits
			c.identity = append(c.identity, "-c", key+"="+value)
		}
	}
	return c, nil
}

// commit commits the changed files and returns the commit. Without a changed file it is empty.
func (r repository) commit(message string) (string, error) {
	if _, err := r.git("commit", "--quiet", "--all", "--allow-empty", "--message", message); err != nil {
		return "", err
	}
	return r.git("rev-parse", "HEAD")
}
