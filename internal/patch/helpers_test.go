package patch

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/store/meta"
)

type LeaseSpec struct {
	HolderIdentity   *string         `json:"holderIdentity,omitempty" protobuf:"1"`
	RenewTime        *meta.MicroTime `json:"renewTime,omitempty" protobuf:"4"`
	LeaseTransitions *int32          `json:"leaseTransitions,omitempty" protobuf:"5"`
}

type Lease struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata" protobuf:"1"`
	Spec            LeaseSpec `json:"spec,omitempty" protobuf:"2"`
}

type fixture struct {
	typ  *codec.Type
	live *Lease
}

// newFixture returns a live Lease whose metadata and spec come from doc.
func newFixture(t testing.TB, doc string) *fixture {
	t.Helper()
	f := &fixture{typ: codec.MustCompile(reflect.TypeFor[Lease](), "v1"), live: &Lease{}}
	faults, err := f.typ.DecodeJSON([]byte(doc), f.live, true)
	require.NoError(t, err)
	require.Empty(t, faults)
	f.live.TypeMeta = meta.TypeMeta{Kind: "Lease", APIVersion: "coordination.k8s.io/v1"}
	return f
}

func (f *fixture) object() Object { return Object{Type: f.typ, Current: f.live, Reader: f} }

// Decode implements Reader.
func (f *fixture) Decode(doc []byte, strict bool) (any, []error, error) {
	kind, apiVersion, err := codec.RecognizeJSON(doc)
	if err != nil {
		return nil, nil, err
	}
	if kind != "Lease" {
		return nil, nil, fmt.Errorf("no kind %q is registered for version %q", kind, apiVersion)
	}
	obj := &Lease{}
	faults, err := f.typ.DecodeJSON(doc, obj, strict)
	return obj, faults, err
}

// Read implements Reader.
func (f *fixture) Read(doc map[string]any, strict bool) (any, []error, error) {
	obj := &Lease{}
	faults, err := f.typ.FromUnstructured(doc, obj, strict)
	return obj, faults, err
}

func (f *fixture) encode(t testing.TB, obj any) string {
	t.Helper()
	b, err := f.typ.AppendJSON(nil, obj)
	require.NoError(t, err)
	return string(b)
}

type patchFunc func(Object, []byte, Validation) (any, []string, error)

// checkRefused checks the Status of a refused patch. Code 500 means an error
// without a Status.
func checkRefused(t *testing.T, apply patchFunc, live, body string, v Validation, code int, message string) {
	t.Helper()
	f := newFixture(t, live)
	before := f.encode(t, f.live)
	obj, warnings, err := apply(f.object(), []byte(body), v)
	require.Error(t, err)
	assert.Nil(t, obj)
	assert.Nil(t, warnings)
	status := meta.StatusOf(err)
	assert.EqualValues(t, code, status.Code)
	assert.Equal(t, message, status.Message)
	assert.Equal(t, before, f.encode(t, f.live), "the live object must not change")
}

const rejectedText = "the server rejected our request due to an error in our request"

// compact returns a document without space between its tokens.
func compact(doc []byte) ([]byte, error) {
	text, _, err := read(doc, nil, Ignore)
	return text, err
}
