package wiretest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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
