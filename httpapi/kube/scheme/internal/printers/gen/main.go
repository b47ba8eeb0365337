// Command gen records the Tables of a kube-apiserver for package printers. It needs a server without controllers, which would
// change the objects, and with admin rights, and it deletes what it created.
//
//	cd httpapi/kube/scheme/internal/printers && go run ./gen -server http://127.0.0.1:8099
//
// It writes columns.txt, and for each file testdata/objects/*.yaml the rows that the server printed to testdata/rows/*.json.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	server := flag.String("server", "", "address of a kube-apiserver that needs no credentials")
	flag.Parse()
	if err := run(strings.TrimSuffix(*server, "/")); err != nil {
		log.Fatal(err)
	}
}

func run(address string) error {
	s := &server{address: address}
	if err := s.discover(); err != nil {
		return err
	}
	files, err := filepath.Glob("testdata/objects/*.yaml")
	if err != nil {
		return err
	}
	for _, file := range files {
		if err := recordRows(s, file); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	columns, err := recordColumns(s)
	if err != nil {
		return err
	}
	return os.WriteFile("columns.txt", columns, 0o644)
}
