package codec

import (
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEnvelope(t *testing.T) {
	got := AppendEnvelope([]byte("before"), "v1", "Status", []byte{0x0a, 0x00})
	assert.Equal(t, "before", string(got[:6]))
	got = got[6:]
	assert.Equal(t, hex.EncodeToString(unhex(t, "6b387300 0a0c 0a027631 1206537461747573 1202 0a00 1a00 2200")), hex.EncodeToString(got))
	e, err := OpenEnvelope(got)
	require.NoError(t, err)
	assert.Equal(t, Envelope{APIVersion: "v1", Kind: "Status", Raw: []byte{0x0a, 0x00}}, e)
}

func TestOpenEnvelopeErrors(t *testing.T) {
	for _, row := range []struct{ data, want string }{
		{"", "empty data"},
		{"6b3873", "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"},
		{"7b7d", "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"},
		{"6b387300", "empty body"},
		{"6b387300 0a", "unexpected EOF"},
		{"6b387300 0801", "proto: wrong wireType = 0 for field TypeMeta"},
		{"6b387300 0a02 0801", "proto: wrong wireType = 0 for field APIVersion"},
		{"6b387300 0a02 1001", "proto: wrong wireType = 0 for field Kind"},
		{"6b387300 1001", "proto: wrong wireType = 0 for field Raw"},
		{"6b387300 1801", "proto: wrong wireType = 0 for field ContentEncoding"},
		{"6b387300 2001", "proto: wrong wireType = 0 for field ContentType"},
		{"6b387300 0200", "proto: Unknown: illegal tag 0 (wire type 2)"},
		{"6b387300 0a01 04", "proto: TypeMeta: wiretype end group for non-group"},
		{"6b387300 36", "proto: illegal wireType 6"},
	} {
		_, err := OpenEnvelope(unhex(t, row.data))
		assert.EqualError(t, err, row.want, row.data)
	}
}
