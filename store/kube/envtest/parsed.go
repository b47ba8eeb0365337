package envtest

import (
	"context"
	"crypto/sha256"
	"os"
	"slices"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store/kube/crd"
)

// definition is a definition of a file. It is shared by all environments of the process, and never changes.
type definition struct {
	crd *apiextensionsv1.CustomResourceDefinition
	// established returns the definition without a conversion webhook, ready to be installed.
	established func() (*crd.Established, error)
}

// parsedFiles remembers the definitions of files by their content.
type parsedFiles struct {
	mu     sync.Mutex // guards byText
	byText map[[sha256.Size]byte]func() ([]*definition, error)
}

// parsed is the memory of the process.
var parsed = sync.OnceValue(func() *parsedFiles {
	return &parsedFiles{byText: map[[sha256.Size]byte]func() ([]*definition, error){}}
})

// maxParsed is the number of files that are remembered. Beyond it all are forgotten.
const maxParsed = 1000

// of returns the definitions in a file. Other documents are passed over.
func (p *parsedFiles) of(text []byte) ([]*definition, error) {
	key := sha256.Sum256(text)
	p.mu.Lock()
	parse := p.byText[key]
	if parse == nil {
		parse = sync.OnceValues(func() ([]*definition, error) { return parseDefinitions(text) })
		if len(p.byText) >= maxParsed {
			clear(p.byText)
		}
		p.byText[key] = parse
	}
	p.mu.Unlock()
	return parse()
}

func parseDefinitions(text []byte) (out []*definition, err error) {
	docs, err := documentsIn(text)
	if err != nil {
		return nil, err
	}
	for _, doc := range docs {
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
		text, err := os.ReadFile(files[i])
		if err == nil {
			found[i], err = parsed().of(text)
		}
		errs[i] = err
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
func installAtOnce(api *httpapi.API, o CRDInstallOptions) ([]*apiextensionsv1.CustomResourceDefinition, bool) {
	var all []*definition
	for _, path := range o.Paths {
		found, err := definitionsAt(path)
		if err != nil {
			if os.IsNotExist(err) && !o.ErrorIfPathMissing {
				continue
			}
			return nil, false
		}
		all = append(all, found...)
	}
	for _, of := range o.CRDs {
		all = append(all, newDefinition(of))
	}
	if len(o.WebhookOptions.LocalServingCAData) == 0 || o.WebhookOptions.IgnoreSchemeConvertible || twice(all) || convert(all, o.Scheme) {
		return nil, false
	}
	ready, failed := make([]*crd.Established, len(all)), make([]error, len(all))
	atOnce(len(all), func(i int) { ready[i], failed[i] = all[i].established() })
	if slices.ContainsFunc(failed, func(err error) bool { return err != nil }) {
		return nil, false
	}
	crds, err := crd.Install(context.Background(), api, ready...)
	return crds, err == nil
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
	convertible := convertibles(types)
	return slices.ContainsFunc(all, func(d *definition) bool {
		return convertible[schema.GroupKind{Group: d.crd.Spec.Group, Kind: d.crd.Spec.Names.Kind}]
	})
}
