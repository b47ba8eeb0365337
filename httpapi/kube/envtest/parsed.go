package envtest

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/kube/crd"
	"github.com/kubecoord/kubecoord/httpapi/kube/internal/documents"
)

// definition is a definition of a file. It is shared by all environments of the process, and never changes.
type definition struct {
	crd *apiextensionsv1.CustomResourceDefinition
	// established returns the definition without a conversion webhook, ready to be installed.
	established func() (*crd.Established, error)
}

// parsedFiles remembers the definitions of files by their content.
type parsedFiles struct {
	buffers sync.Pool // of *bytes.Buffer: files are read again by each Start

	mu     sync.Mutex // guards byText
	byText map[string]func() ([]*definition, error)
}

// parsed is the memory of the process.
var parsed = sync.OnceValue(func() *parsedFiles {
	return &parsedFiles{
		buffers: sync.Pool{New: func() any { return new(bytes.Buffer) }},
		byText:  map[string]func() ([]*definition, error){},
	}
})

// maxParsed is the number of files that are remembered. Beyond it all are forgotten.
const maxParsed = 1000

// of returns the definitions in a file. Other documents are passed over.
func (p *parsedFiles) of(name string) ([]*definition, error) {
	file, err := os.Open(filepath.Clean(name))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	buffer := p.buffers.Get().(*bytes.Buffer)
	defer p.buffers.Put(buffer)
	buffer.Reset()
	if _, err := buffer.ReadFrom(file); err != nil {
		return nil, err
	}
	return p.parse(buffer.Bytes())()
}

// parse returns the function that parses a text once. The text may change afterwards.
func (p *parsedFiles) parse(text []byte) func() ([]*definition, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if parse := p.byText[string(text)]; parse != nil {
		return parse
	}
	own := string(text)
	parse := sync.OnceValues(func() ([]*definition, error) { return parseDefinitions([]byte(own)) })
	if len(p.byText) >= maxParsed {
		clear(p.byText)
	}
	p.byText[own] = parse
	return parse
}

func parseDefinitions(text []byte) (out []*definition, err error) {
	for doc, err := range documents.In(text) {
		if err != nil {
			return nil, err
		}
		of := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(doc, of); err != nil {
			return nil, err
		}
		if of.Kind != "CustomResourceDefinition" || of.Spec.Names.Kind == "" || of.Spec.Group == "" {
			continue
		}
		out = append(out, newDefinition(of))
	}
	return out, nil
}

func newDefinition(of *apiextensionsv1.CustomResourceDefinition) *definition {
	return &definition{of, sync.OnceValues(func() (*crd.Established, error) {
		plain := *of
		if !of.Spec.PreserveUnknownFields {
			plain.Spec.Conversion = nil
		}
		manager, _, _ := strings.Cut(rest.DefaultKubernetesUserAgent(), "/")
		return crd.Establish(&plain, manager)
	})}
}

// definitionsAt returns the definitions in the files of a directory, or in a file. The files are read at once.
func definitionsAt(path string) (out []*definition, err error) {
	files, err := filesAt(path)
	if err != nil {
		return nil, err
	}
	found, errs := make([][]*definition, len(files)), make([]error, len(files))
	atOnce(len(files), func(i int) {
		found[i], errs[i] = parsed().of(files[i])
	})
	for i, err := range errs {
		if err != nil {
			return nil, err
		}
		out = append(out, found[i]...)
	}
	return out, nil
}

// atOnce calls f with the numbers below n, in goroutines.
func atOnce(n int, f func(int)) {
	var work sync.WaitGroup
	for i := range n {
		work.Go(func() { f(i) })
	}
	work.Wait()
}

// installAtOnce installs definitions in a new API without requests. It reports whether it has: requests have to install
// definitions with conversion webhooks, of groups that belong to Kubernetes, and ones with a mistake, which their answers
// describe.
func installAtOnce(api *httpapi.API, o CRDInstallOptions, found *reading) ([]*apiextensionsv1.CustomResourceDefinition, bool) {
	found.done.Wait()
	all := found.all
	if len(o.WebhookOptions.LocalServingCAData) == 0 || o.WebhookOptions.IgnoreSchemeConvertible ||
		found.failed || twice(all) || convert(all, o.Scheme) {
		return nil, false
	}
	crds, err := crd.Install(context.Background(), api, found.ready...)
	return crds, err == nil
}

// reading are the definitions of an environment. In the first Start of a process they take longest, so they are read beside the
// start of the server.
type reading struct {
	done   sync.WaitGroup // guards all below
	all    []*definition
	ready  []*crd.Established
	failed bool // requests find and report the mistake
}

// begin reads the definitions and establishes them, until done.
func (r *reading) begin(o CRDInstallOptions) {
	r.done.Go(func() {
		for _, path := range o.Paths {
			found, err := definitionsAt(path)
			if err != nil && (o.ErrorIfPathMissing || !os.IsNotExist(err)) {
				r.failed = true
				return
			}
			r.all = append(r.all, found...)
		}
		for _, of := range o.CRDs {
			r.all = append(r.all, newDefinition(of))
		}
		errs := make([]error, len(r.all))
		r.ready = make([]*crd.Established, len(r.all))
		atOnce(len(r.all), func(i int) { r.ready[i], errs[i] = r.all[i].established() })
		r.failed = slices.ContainsFunc(errs, func(err error) bool { return err != nil })
	})
}

// kindOf returns the kind of a definition.
func kindOf(of *apiextensionsv1.CustomResourceDefinition) schema.GroupKind {
	return schema.GroupKind{Group: of.Spec.Group, Kind: of.Spec.Names.Kind}
}

// twice reports whether two definitions have the same name.
func twice(all []*definition) bool {
	names := map[string]bool{}
	for _, d := range all {
		names[d.crd.Name] = true
	}
	return len(names) < len(all)
}

// convert reports whether a definition gets a conversion webhook.
func convert(all []*definition, types *runtime.Scheme) bool {
	kinds := map[schema.GroupKind]bool{}
	for _, d := range all {
		kinds[kindOf(d.crd)] = true
	}
	return len(convertibles(types, kinds)) > 0
}
