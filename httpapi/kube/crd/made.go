package crd

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"weak"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// made is the memory of the process.
var made = sync.OnceValue(func() *madeKinds { return new(madeKinds) })

// madeKinds finds the kinds of definitions, so that equal definitions in any number of stores share one. It keeps none alive: a kind
// that no store and no API uses is collected, and its entry goes with it.
type madeKinds struct {
	mu        sync.Mutex // guards all below
	kinds     map[[sha256.Size]byte]weak.Pointer[definedKind]
	installed map[meta.UID]weak.Pointer[Established] // by the uid that the definition has in a store
}

// maxInstalled is the number of installed definitions that are remembered. Beyond it all are forgotten, and read again.
const maxInstalled = 20_000

// defined returns the kind that an object defines.
func defined(o meta.Object) (kind.Kind, error) {
	crd := definitionOf(o)
	if e := made().establishedOf(crd); e != nil {
		return e.kind.Kind, nil
	}
	k, err := made().kindFor(crd, false)
	if err != nil {
		return nil, fmt.Errorf("CustomResourceDefinition %q: %w", crd.Name, err)
	}
	return k.Kind, nil
}

// kindFor returns the kind of a definition, with its accepted names, or with the names of its spec if it has none. It validates a
// definition that is not stored: the create of a stored one has done so, which may have taken seconds.
func (m *madeKinds) kindFor(crd *apiextensionsv1.CustomResourceDefinition, stored bool) (*definedKind, error) {
	crd = crd.DeepCopy()
	apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(crd)
	if n := crd.Status.AcceptedNames; n.Plural == "" || n.Singular == "" || n.Kind == "" || n.ListKind == "" {
		crd.Status.AcceptedNames = crd.Spec.Names
	}
	key, err := keyOf(crd)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	k := m.kinds[key].Value()
	m.mu.Unlock()
	if k != nil {
		return k, nil
	}
	if !stored {
		if err := validateNew(crd); err != nil {
			return nil, err
		}
	}
	return m.make(crd, key)
}

// make is kindFor for a definition with this key, of which there was no kind.
func (m *madeKinds) make(crd *apiextensionsv1.CustomResourceDefinition, key [sha256.Size]byte) (made *definedKind, err error) {
	errs := guarded(func() field.ErrorList {
		made, err = kindOf(crd, nil)
		return nil
	})
	if err = errors.Join(err, errorOf(errs)); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if k := m.kinds[key].Value(); k != nil {
		return k, nil // another goroutine was faster
	}
	if m.kinds == nil {
		m.kinds = map[[sha256.Size]byte]weak.Pointer[definedKind]{}
	}
	m.kinds[key] = weak.Make(made)
	runtime.AddCleanup(made, m.collected, key)
	return made, nil
}

// collected drops the entry of a kind that is gone, unless there is another kind of the definition by now.
func (m *madeKinds) collected(key [sha256.Size]byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kinds[key].Value() == nil {
		delete(m.kinds, key)
	}
}

// keyOf identifies the parts of a definition that its kind is made of.
func keyOf(crd *apiextensionsv1.CustomResourceDefinition) (key [sha256.Size]byte, err error) {
	spec, err := json.Marshal(crd.Spec)
	names, namesErr := json.Marshal(crd.Status.AcceptedNames)
	if err = errors.Join(err, namesErr); err != nil {
		return key, err
	}
	return sha256.Sum256(append(append(spec, names...), crd.Name...)), nil
}
