package access

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A token is accepted only with the head and the claims that were signed.
func FuzzToken(f *testing.F) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(f, err)
	valid, err := sign(key, claims{Issuer: "me", Audience: audience{"api"}})
	require.NoError(f, err)
	parts := strings.Split(valid, ".")
	for _, seed := range []string{valid, "", ".", "..", "a.b.c", parts[0] + ".." + parts[2], parts[0] + "." + parts[1] + ".", "e30.e30.e30", "bnVsbA.bnVsbA."} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, token string) {
		p := parseToken(token)
		if p != nil && p.checkSignature(key.Public()) == nil {
			assert.Equal(t, parts[0]+"."+parts[1], p.signed)
		}
	})
}
