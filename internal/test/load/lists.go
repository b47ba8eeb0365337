package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	allLeases = "/apis/coordination.k8s.io/v1/leases"
	asTable   = ";as=Table;v=v1;g=meta.k8s.io"
)

// lists reads the list of all objects in each format, several at once.
func lists(args []string) error {
	f := flag.NewFlagSet("lists", flag.ExitOnError)
	n := f.Int("n", 100_000, "how many objects")
	atOnce := f.Int("c", 8, "how many lists of a format at once")
	s, err := start(f, args)
	if err != nil {
		return err
	}
	if err := s.restartWith(*n); err != nil {
		return err
	}
	defer s.end(syscall.SIGTERM)
	for _, row := range []struct{ name, query, accept string }{
		{"JSON", "", typeJSON},
		{"pretty JSON", "?pretty=1", typeJSON},
		{"Table", "", typeJSON + asTable},
		{"YAML", "", "application/yaml"},
		{"Table in YAML", "", "application/yaml" + asTable},
	} {
		cpu, before := s.cpu(), s.rss()
		size, peak, err := s.readAtOnce(*atOnce, allLeases+row.query, row.accept)
		if err != nil {
			return err
		}
		fmt.Printf("%d lists of %d objects, %s, %d MB each: %.1f s of CPU, %d MB, at most %d MB, then %d MB\n",
			*atOnce, *n, row.name, size>>20, (s.cpu() - cpu).Seconds(), before, peak, s.rss())
	}
	return nil
}

// restartWith starts the server again with n Leases.
func (s *server) restartWith(n int) error {
	s.end(syscall.SIGTERM)
	dir, err := os.MkdirTemp("", "load")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "leases.yaml")
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(file)
	for i := range n {
		fmt.Fprintf(w, "---\napiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: l%06d, namespace: default, labels: {a: \"%d\"}}\n"+
			"spec: {holderIdentity: holder-%d, leaseDurationSeconds: 15}\n", i, i%7, i)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	return s.run("-load", path)
}

// readAtOnce reads an answer several times at once. It returns the bytes of one, and the
// most memory that the server used.
func (s *server) readAtOnce(n int, path, accept string) (size int64, peak int, err error) {
	var all errgroup.Group
	for i := range n {
		all.Go(func() error {
			req, err := http.NewRequest("GET", "http://"+s.addr+path, nil)
			if err != nil {
				return err
			}
			req.Header.Set("Accept", accept)
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			read, err := io.Copy(io.Discard, resp.Body)
			if i == 0 {
				size = read
			}
			if err == nil && resp.StatusCode != http.StatusOK {
				err = fmt.Errorf("%s: %s", path, resp.Status)
			}
			return err
		})
	}
	done := make(chan error)
	go func() { done <- all.Wait() }()
	for {
		select {
		case err := <-done:
			return size, peak, err
		case <-time.After(20 * time.Millisecond):
			peak = max(peak, s.rss())
		}
	}
}
