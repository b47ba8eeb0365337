// Command upgrade shows what another version of Kubernetes changes. It changes nothing in the tree.
//
//	cd internal/test/etcd/referee
//	go run ./upgrade 1.38.0
//
// It copies the tree into a scratch folder, sets the modules of the kube-apiserver there, and builds it. It then starts the kube-apiserver of
// today and the next one, and records each: its feature gates, the resources in its discovery documents, the fields in its OpenAPI
// documents, and its answers to the scenarios of internal/test/kube/kinds. The next one also plays the scenarios of httpapi/testdata/wire. What
// differs is printed by kind; the recordings stay in the scratch folder.
//
// A module that cannot be downloaded is named, and the scratch folder is removed. A version that needs a newer Go is built with GOTOOLCHAIN
// set to it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
)

func main() {
	log.SetFlags(0)
	today := flag.String("today", "", "binary of today's kube-apiserver, built before; otherwise it is built")
	next := flag.String("next", "", "binary of the next kube-apiserver, built before")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: go run ./upgrade [-today BINARY] [-next BINARY] VERSION\n\nShows what a version of Kubernetes, such as 1.38.0, changes.")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, flag.Arg(0), *today, *next); err != nil {
		stop()
		log.Fatal("upgrade: ", err)
	}
}

func run(ctx context.Context, out io.Writer, name, today, next string) error {
	to, err := parseVersion(name)
	if err != nil {
		return err
	}
	top, err := command(ctx, ".", "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	root := strings.TrimSpace(top)
	scratch, err := os.MkdirTemp("", "upgrade-")
	if err != nil {
		return err
	}
	u := &upgrade{root: root, scratch: scratch, to: to}
	err = u.build(ctx, &next)
	if err == nil {
		err = u.buildToday(ctx, &today)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(scratch))
	}
	log.Printf("recording into %s", scratch)
	before, err := u.record(ctx, "today", today)
	if err != nil {
		return fmt.Errorf("today's server: %w", err)
	}
	after, err := u.record(ctx, "next", next)
	if err != nil {
		return fmt.Errorf("the next server: %w", err)
	}
	if after.wire, err = u.playWire(ctx, next); err != nil {
		return err
	}
	report(out, u.from, to, before, after)
	return nil
}

// upgrade compares the version of the tree with another one.
type upgrade struct {
	root, scratch string
	from, to      version
}

// tree is the copy of the tree.
func (u *upgrade) tree() string { return filepath.Join(u.scratch, "tree") }

const referee = "internal/test/etcd/referee/kube-apiserver"

// build copies the tree, sets the version in the copy, and builds the next server unless it is built.
func (u *upgrade) build(ctx context.Context, next *string) error {
	if err := copyTree(ctx, u.root, u.tree()); err != nil {
		return err
	}
	module := filepath.Join(u.tree(), referee, "go.mod")
	text, err := os.ReadFile(module)
	if err != nil {
		return err
	}
	if u.from, err = required(string(text)); err != nil {
		return err
	}
	set := u.to.set(string(text), u.from)
	if err := os.WriteFile(module, []byte(set), 0o644); err != nil {
		return err
	}
	if *next != "" {
		return nil
	}
	*next = filepath.Join(u.scratch, "kube-apiserver-next")
	for _, args := range [][]string{append([]string{"mod", "download", "-json"}, u.to.modules(set)...), {"mod", "tidy"}, {"build", "-o", *next, "."}} {
		if _, err := command(ctx, filepath.Dir(module), "go", args...); err != nil {
			return undownloaded(err)
		}
	}
	return nil
}

// buildToday builds today's server unless it is built.
func (u *upgrade) buildToday(ctx context.Context, binary *string) error {
	if *binary != "" {
		return nil
	}
	*binary = filepath.Join(u.scratch, "kube-apiserver-today")
	_, err := command(ctx, filepath.Join(u.root, referee), "go", "build", "-o", *binary, ".")
	return err
}

// copyTree copies the files that git knows, as they are in the work tree.
func copyTree(ctx context.Context, from, to string) error {
	files, err := command(ctx, from, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(files, "\x00"), "\x00") {
		data, err := os.ReadFile(filepath.Join(from, name))
		if errors.Is(err, os.ErrNotExist) {
			continue // removed, and not committed
		}
		if err != nil {
			return err
		}
		path := filepath.Join(to, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, data, 0o644)); err != nil {
			return err
		}
	}
	return nil
}

// command runs a program in a folder. The servers are built outside of the workspace. The error has what it printed.
func command(ctx context.Context, dir, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	if strings.HasSuffix(dir, referee) {
		cmd.Env = append(os.Environ(), "GOWORK=off")
	}
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s%s", program, strings.Join(args, " "), err, stdout.String(), stderr.String())
	}
	return stdout.String(), nil
}
