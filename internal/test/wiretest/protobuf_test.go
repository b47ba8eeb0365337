package wiretest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestProtobufRoundTrip(t *testing.T) {
	for _, row := range []struct{ name, doc string }{
		{"Lease", `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"a","labels":{"x":"y","z":""},"finalizers":["f","g"],"ownerReferences":[{"kind":"K","name":"o","uid":"u","apiVersion":"v1","controller":true,"blockOwnerDeletion":false}],"managedFields":[{"manager":"m","fieldsV1":{"f:spec":{}}}],"creationTimestamp":"2024-01-01T00:00:00Z"},"spec":{"holderIdentity":"","leaseTransitions":0,"renewTime":"2024-01-01T00:00:00.250000Z"}}`},
		{"LeaseCandidate", `{"apiVersion":"coordination.k8s.io/v1beta1","kind":"LeaseCandidate","metadata":{},"spec":{"leaseName":"l","binaryVersion":"1.2.3"}}`},
		{"EndpointsList", `{"apiVersion":"v1","kind":"EndpointsList","metadata":{"remainingItemCount":3},"items":[{"metadata":{},"subsets":[{"addresses":[{"ip":"1.2.3.4","targetRef":{"kind":"Pod"}}],"ports":[{"port":80}]}]}]}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			b, err := encodeProtobuf([]byte(row.doc))
			require.NoError(t, err)
			tree, err := decodeProtobuf(b)
			require.NoError(t, err)
			assert.Equal(t, parse(t, row.doc), tree)
		})
	}
}

func TestEncodeProtobufRefuses(t *testing.T) {
	for _, row := range []struct{ name, doc, err string }{
		{"an unknown field", `{"kind":"Lease","nonsense":1}`, `Lease has no field "nonsense"`},
		{"an unknown field below", `{"kind":"Lease","spec":{"kind":"x"}}`, `Lease.spec: LeaseSpec has no field "kind"`},
		{"an unknown kind", `{"kind":"Pod"}`, `no description of message "Pod"`},
		{"a number for a text", `{"kind":"Lease","spec":{"strategy":1}}`, "Lease.spec: LeaseSpec.strategy: 1 is not a string"},
		{"a text for a number", `{"kind":"Lease","spec":{"leaseTransitions":"1"}}`, "Lease.spec: LeaseSpec.leaseTransitions: 1 is not a number"},
		{"a text for an object", `{"kind":"Lease","spec":"x"}`, "Lease.spec: x is not an object"},
		{"no object", `[]`, "[] is not an object"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := encodeProtobuf([]byte(row.doc))
			assert.EqualError(t, err, row.err)
		})
	}
}

func TestDecodeProtobufRefuses(t *testing.T) {
	envelope := func(kind string, raw []byte) []byte {
		return appendBytes(appendBytes([]byte(protobufMagic), 1, appendBytes(nil, 2, []byte(kind))), 2, raw)
	}
	for _, row := range []struct {
		name string
		data []byte
		err  string
	}{
		{"JSON", []byte(`{}`), `no protobuf envelope: "{}"`},
		{"an unknown kind", envelope("Pod", nil), `no description of message "Pod"`},
		{"an unknown field", envelope("Lease", appendBytes(nil, 99, nil)), "Lease has an unknown field 99"},
		{"an unknown field below", envelope("Lease", appendBytes(nil, 2, appendInt(nil, 99, 0))), "Lease.spec: LeaseSpec has an unknown field 99"},
		{"a value that is cut off", envelope("Lease", []byte{1<<3 | 2, 5, 'a'}), "protobuf value is cut off"},
		{"a fixed number", envelope("Lease", []byte{1<<3 | 5, 0, 0, 0, 0}), "unexpected wire type 5"},
		{"a tag without a value", envelope("Lease", []byte{1 << 3}), "bad protobuf value"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := decodeProtobuf(row.data)
			assert.EqualError(t, err, row.err)
		})
	}
}

func TestDecodeProtobufKeepsZeroOnlyInOptionalFields(t *testing.T) {
	spec := appendInt(appendBytes(nil, 1, nil), 2, 0) // holderIdentity "", leaseDurationSeconds 0
	tree, err := decodeMessage("LeaseSpec", spec)
	require.NoError(t, err)
	assert.Equal(t, parse(t, `{"holderIdentity":"","leaseDurationSeconds":0}`), any(tree))
	tree, err = decodeMessage("EndpointPort", appendInt(appendBytes(nil, 1, nil), 2, 0)) // name "", port 0
	require.NoError(t, err)
	assert.Equal(t, parse(t, `{}`), any(tree))
}
