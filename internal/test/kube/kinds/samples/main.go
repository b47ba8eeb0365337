// Command samples makes the objects that the comparison plays, and writes them to testdata/objects: for each resource the
// full object, which has as many members as the server accepts, and the minimal one, of which no member can be left out.
//
// A full object is made from the Go type, with a value for each member. What the server then calls wrong is mended by what its Status says,
// or left out. So a new member of a type needs no work here, unless its value has a form of its own (values.go).
//
//	go run ./samples -url http://127.0.0.1:8097 [-run pods]
package main

import (
	"encoding/json"
	"flag"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubecoord/kubecoord/internal/test/kube/kinds"
)

func main() {
	url := flag.String("url", "", "URL of a kube-apiserver that asks for no credentials")
	dir := flag.String("dir", "testdata/objects", "folder to write to")
	only := flag.String("run", ".", "regular expression of the files to write")
	verbose := flag.Bool("v", false, "log what the server calls wrong")
	flag.Parse()
	if err := run(*url, *dir, regexp.MustCompile(*only), *verbose); err != nil {
		log.Fatal(err)
	}
}

func run(url, dir string, only *regexp.Regexp, verbose bool) error {
	for _, r := range kinds.Resources() {
		if !only.MatchString(r.File()) {
			continue
		}
		typ, ok := scheme.Scheme.AllKnownTypes()[r.GroupVersionKind()]
		if !ok {
			log.Fatalf("client-go has no type for %v", r.GroupVersionKind())
		}
		m := &mender{url: url, resource: r, verbose: verbose}
		sample := kinds.Sample{Full: fullObject(r, typ)}
		delete(sample.Full, "status") // is filled by the status subresource
		if !m.mend(sample.Full, m.create) {
			log.Printf("%s: no full object; last answer %s", r.File(), m.last)
			continue
		}
		sample.Gated = m.ungated("", sample.Full, m.answer())
		if !m.mend(sample.Full, m.create) { // a volume without a source, for example
			log.Printf("%s: not full without gated members: %s", r.File(), m.last)
		}
		sample.Minimal = m.minimal(sample.Full)
		sample.Status, _ = fullObject(r, typ)["status"].(map[string]any)
		m.stored(&sample)
		data, err := json.MarshalIndent(sample, "", " ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, r.File()+".json"), append(data, '\n'), 0o644); err != nil {
			return err
		}
		log.Printf("%s: %d members left out: %s", r.File(), len(m.dropped), strings.Join(m.dropped, " "))
	}
	return nil
}
