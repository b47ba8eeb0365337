package scheme

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecoord/kubecoord/httpapi/kube/internal/boxes"
	"github.com/kubecoord/kubecoord/httpapi/kube/internal/gates"
	"github.com/kubecoord/kubecoord/httpapi/kube/scheme/internal/defaults"
	"github.com/kubecoord/kubecoord/httpapi/kube/scheme/internal/gated"
	"github.com/kubecoord/kubecoord/httpapi/kube/scheme/internal/validation"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	storeschema "github.com/kubecoord/kubecoord/store/schema"
)

// Options say what the Go types of a scheme do not. The zero value is ready for use.
type Options struct {
	// Resource, if not nil, changes how a kind is served. It is called for each kind that is not built in, with the defaults in r: a
	// member of the first version that is named "status" is a subresource. The group and the kind stay as they are.
	Resource func(kind schema.GroupKind, r *Resource)
	// Versions, if not nil, reports whether a version is served of a built-in kind that a kube-apiserver does not serve by default, such as
	// DeviceClasses of resource.k8s.io/v1beta2. LeaseCandidates are not asked about.
	Versions func(schema.GroupVersionResource) bool
	// FeatureGates turns feature gates of kube-apiserver on or off. Built-in objects lose the members of gates that are off when they
	// are written, unless they had them before.
	FeatureGates map[string]bool
}

// Resource describes how a kind that is not built in is served. Built-in kinds are served as a kube-apiserver serves them.
type Resource = kind.Resource

// Kinds returns the kinds of the Go types in a scheme: the built-in kinds among them, then the other kinds sorted by
// group and name. The error names a type that cannot be served, with the member and the rule that it breaks, or a gate that cannot be
// set. Built-in kinds are made once per process, and shared by all servers with the same gates.
func Kinds(s *runtime.Scheme, opts Options) ([]kind.Kind, error) {
	g, err := gates.Default(), error(nil)
	if len(opts.FeatureGates) > 0 {
		if g, err = gates.New(opts.FeatureGates); err != nil {
			return nil, fmt.Errorf("scheme: %w", err)
		}
	}
	var out []kind.Kind
	for _, make := range builtins(g, opts.Versions) {
		if !s.Recognizes(make.gvk) {
			continue
		}
		k, err := make.kind()
		if err != nil {
			return nil, fmt.Errorf("scheme: %w", err)
		}
		out = append(out, k)
	}
	for _, c := range customKinds(s) {
		k, err := c.kind(opts)
		if err != nil {
			return nil, fmt.Errorf("scheme: %w", err)
		}
		out = append(out, k)
	}
	return out, nil
}

// builtin is a built-in kind that is made when it is first used.
type builtin struct {
	gvk  schema.GroupVersionKind
	kind func() (kind.Kind, error)
}

// builtins returns the built-in kinds with gates, and with the versions that on reports. All stores of a process share them.
func builtins(g *gates.Gates, on func(schema.GroupVersionResource) bool) []builtin {
	key := gated.Relevant(g, validation.Gates()...) + ";"
	switched := map[schema.GroupVersionResource]bool{}
	for _, r := range resources() {
		for _, version := range r.off {
			if in := r.in(version); on != nil && on(in) {
				switched[in] = true
				key += in.String() + " "
			}
		}
	}
	made, _ := madeKinds().LoadOrStore(key, sync.OnceValue(func() []builtin { return newBuiltins(g, switched) }))
	return made.(func() []builtin)()
}

// in returns the resource in a version.
func (r served) in(version string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: r.group, Version: version, Resource: r.plural}
}

// madeKinds has the functions that return the built-in kinds, by the gates that matter to them and by their versions.
var madeKinds = sync.OnceValue(func() *sync.Map { return &sync.Map{} })

func newBuiltins(g *gates.Gates, switched map[schema.GroupVersionResource]bool) (out []builtin) {
	b := newBuilder()
	b.gates, b.rules, b.on = g, validation.New(g), func(r schema.GroupVersionResource) bool { return switched[r] }
	for _, r := range resources() {
		made := sync.OnceValues(func() (kind.Kind, error) { return b.builtin(r) })
		if r.alias {
			made = aliasIn(r.group, out[slices.IndexFunc(out, func(core builtin) bool { return core.gvk.Kind == r.kind })].kind)
		}
		out = append(out, builtin{schema.GroupVersionKind{Group: r.group, Version: r.version, Kind: r.kind}, made})
	}
	return out
}

// aliasIn returns the function that returns a kind in another group.
func aliasIn(group string, made func() (kind.Kind, error)) func() (kind.Kind, error) {
	return func() (kind.Kind, error) {
		k, err := made()
		if err != nil {
			return nil, err
		}
		all := k.Groups()
		return all[slices.IndexFunc(all, func(k kind.Kind) bool { return k.Info().Group == group })], nil
	}
}

// builder makes the built-in kinds.
type builder struct {
	mu       sync.Mutex // guards schemas
	schemas  schemas
	library  *kind.Library
	defaults *defaults.Defaulter
	gates    *gates.Gates
	rules    *validation.Rules
	on       func(schema.GroupVersionResource) bool // versions that are off by default
}

func newBuilder() *builder {
	return &builder{library: boxes.Library(nil), defaults: defaults.New(time.Now), gates: gates.Default(), rules: validation.New(gates.Default()), on: func(schema.GroupVersionResource) bool { return false }}
}

// schemaOf returns the schema of a Go type.
func (b *builder) schemaOf(t reflect.Type) (*storeschema.Schema, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.schemas.of(t)
}

// custom is a kind of a user's own Go types, in its versions.
type custom struct {
	kindName schema.GroupKind
	versions []version
}

type version struct {
	name   string
	goType reflect.Type
}

// customKinds returns the kinds in a scheme that are not built in, sorted. Types of Kubernetes' own modules are left out: a
// kube-apiserver serves them by itself, by other packages, or not by default.
func customKinds(s *runtime.Scheme) []custom {
	found := map[schema.GroupKind]*custom{}
	for gvk, t := range s.AllKnownTypes() {
		if gvk.Version == runtime.APIVersionInternal || strings.HasPrefix(t.PkgPath(), "k8s.io/") {
			continue
		}
		if _, isObject := reflect.New(t).Interface().(metav1.ObjectMetaAccessor); !isObject {
			continue
		}
		c := found[gvk.GroupKind()]
		if c == nil {
			c = &custom{kindName: gvk.GroupKind()}
			found[gvk.GroupKind()] = c
		}
		c.versions = append(c.versions, version{gvk.Version, t})
	}
	var out []custom
	for _, c := range found {
		order := s.PrioritizedVersionsForGroup(c.kindName.Group)
		slices.SortFunc(c.versions, func(a, b version) int {
			place := func(v version) int {
				return slices.Index(order, schema.GroupVersion{Group: c.kindName.Group, Version: v.name})
			}
			return cmp.Or(cmp.Compare(place(a), place(b)), strings.Compare(a.name, b.name))
		})
		out = append(out, *c)
	}
	slices.SortFunc(out, func(a, b custom) int { return strings.Compare(a.kindName.String(), b.kindName.String()) })
	return out
}

// kind returns a custom kind. As with a CustomResourceDefinition whose strategy of conversion is None, a version has the
// members that its type describes.
func (c custom) kind(opts Options) (kind.Kind, error) {
	var made schemas
	d := kind.Descriptor[*store.Unstructured]{Table: kind.Table[*store.Unstructured]{Columns: nameAndAge()}}
	r := &d.Resource
	r.Group, r.Kind = c.kindName.Group, c.kindName.Kind
	for i, v := range c.versions {
		s, err := made.of(v.goType)
		if err != nil {
			return nil, fmt.Errorf("kind %s: version %s: %w", c.kindName, v.name, err)
		}
		if i == 0 {
			r.Status = slices.ContainsFunc(s.Properties, func(p storeschema.Property) bool { return p.Name == "status" })
		}
		d.Versions = append(d.Versions, kind.Version[*store.Unstructured]{Name: v.name, Schema: s})
	}
	if opts.Resource != nil {
		opts.Resource(c.kindName, r)
		r.Group, r.Kind = c.kindName.Group, c.kindName.Kind
	}
	return store.Compile(d)
}

// nameAndAge are the columns of a kind that has no others.
func nameAndAge() []kind.Column[*store.Unstructured] {
	doc := metav1.ObjectMeta{}.SwaggerDoc()
	name, age := kind.NameColumn[*store.Unstructured](), kind.AgeColumn[*store.Unstructured]()
	name.Description, age.Type, age.Description = doc["name"], "date", doc["creationTimestamp"]
	return []kind.Column[*store.Unstructured]{name, age}
}
