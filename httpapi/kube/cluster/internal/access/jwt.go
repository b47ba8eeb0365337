package access

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"

	_ "crypto/sha512" // for the curves P-384 and P-521
)

// This file signs and checks JSON web tokens in compact form with the algorithms of ServiceAccount tokens: RS256, ES256, ES384
// and ES512 (RFC 7515, RFC 7518).

// maxToken limits the tokens that are parsed, in bytes. A request has no longer header.
const maxToken = 1 << 20

// algorithm returns the name and the hash of the algorithm for a public key.
func algorithm(key crypto.PublicKey) (name string, hash crypto.Hash, err error) {
	switch k := key.(type) {
	case *rsa.PublicKey:
		return "RS256", crypto.SHA256, nil
	case *ecdsa.PublicKey:
		switch k.Curve {
		case elliptic.P256():
			return "ES256", crypto.SHA256, nil
		case elliptic.P384():
			return "ES384", crypto.SHA384, nil
		case elliptic.P521():
			return "ES512", crypto.SHA512, nil
		}
	}
	return "", 0, fmt.Errorf("got a key of type %T, want *rsa.PublicKey, or *ecdsa.PublicKey with the curve P-256, P-384 or P-521", key)
}

// keyID returns the id of a key, which is the same on a real server.
func keyID(key crypto.PublicKey) (string, error) {
	der, err := x509.MarshalPKIXPublicKey(key)
	sum := sha256.Sum256(der)
	return base64.RawURLEncoding.EncodeToString(sum[:]), err
}

func encodeJSON(v any) (string, error) {
	data, err := json.Marshal(v)
	return base64.RawURLEncoding.EncodeToString(data), err
}

// sign returns a token.
func sign(key crypto.Signer, claims any) (string, error) {
	name, hash, err := algorithm(key.Public())
	if err != nil {
		return "", err
	}
	id, err := keyID(key.Public())
	if err != nil {
		return "", err
	}
	head, err := encodeJSON(struct {
		Algorithm string `json:"alg"`
		KeyID     string `json:"kid"`
	}{name, id})
	if err != nil {
		return "", err
	}
	body, err := encodeJSON(claims)
	if err != nil {
		return "", err
	}
	signed := head + "." + body
	h := hash.New()
	h.Write([]byte(signed))
	signature, err := key.Sign(rand.Reader, h.Sum(nil), hash)
	if err != nil {
		return "", err
	}
	if k, ok := key.Public().(*ecdsa.PublicKey); ok {
		if signature, err = joined(signature, k); err != nil {
			return "", err
		}
	}
	return signed + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}

// joined returns an ECDSA signature in the form of a JWT: both numbers in full length.
func joined(der []byte, key *ecdsa.PublicKey) ([]byte, error) {
	var numbers struct{ R, S *big.Int }
	_, err := asn1.Unmarshal(der, &numbers)
	if err != nil {
		return nil, err
	}
	size := (key.Curve.Params().BitSize + 7) / 8
	out := make([]byte, 2*size)
	numbers.R.FillBytes(out[:size])
	numbers.S.FillBytes(out[size:])
	return out, nil
}

// errSignature is go-jose's, which a real server passes on.
var errSignature = errors.New("go-jose/go-jose: error in cryptographic primitive")

// parsed is a token whose signature was not checked.
type parsed struct {
	signed, algorithm, keyID string
	body, signature          []byte
}

// parseToken returns the parts of a token, or nil for any other text.
func parseToken(token string) *parsed {
	if len(token) > maxToken || strings.Count(token, ".") != 2 {
		return nil
	}
	cut := strings.LastIndexByte(token, '.')
	head, body, _ := strings.Cut(token[:cut], ".")
	var header struct {
		Algorithm string `json:"alg"`
		KeyID     string `json:"kid"`
	}
	data, err := base64.RawURLEncoding.DecodeString(head)
	if err != nil || json.Unmarshal(data, &header) != nil {
		return nil
	}
	p := &parsed{signed: token[:cut], algorithm: header.Algorithm, keyID: header.KeyID}
	if p.body, err = base64.RawURLEncoding.DecodeString(body); err != nil {
		return nil
	}
	if p.signature, err = base64.RawURLEncoding.DecodeString(token[cut+1:]); err != nil {
		return nil
	}
	return p
}

// checkSignature returns an error unless a key made the signature.
func (p *parsed) checkSignature(key crypto.PublicKey) error {
	name, hash, err := algorithm(key)
	if err != nil || name != p.algorithm {
		return errSignature
	}
	h := hash.New()
	h.Write([]byte(p.signed))
	ok := false
	switch k := key.(type) {
	case *rsa.PublicKey:
		ok = rsa.VerifyPKCS1v15(k, hash, h.Sum(nil), p.signature) == nil
	case *ecdsa.PublicKey:
		size := (k.Curve.Params().BitSize + 7) / 8
		ok = len(p.signature) == 2*size &&
			ecdsa.Verify(k, h.Sum(nil), new(big.Int).SetBytes(p.signature[:size]), new(big.Int).SetBytes(p.signature[size:]))
	}
	if !ok {
		return errSignature
	}
	return nil
}

// webKey is a key in the form of a JSON web key set (RFC 7517), with its members in the order of a kube-apiserver.
type webKey struct {
	Use       string `json:"use"`
	Type      string `json:"kty"`
	ID        string `json:"kid"`
	Curve     string `json:"crv,omitempty"`
	Algorithm string `json:"alg"`
	X         string `json:"x,omitempty"`
	Y         string `json:"y,omitempty"`
	N         string `json:"n,omitempty"`
	E         string `json:"e,omitempty"`
}

func newWebKey(key crypto.PublicKey) (*webKey, error) {
	name, _, err := algorithm(key)
	if err != nil {
		return nil, err
	}
	id, err := keyID(key)
	if err != nil {
		return nil, err
	}
	out := &webKey{Use: "sig", Algorithm: name, ID: id}
	text := base64.RawURLEncoding.EncodeToString
	switch k := key.(type) {
	case *rsa.PublicKey:
		out.Type, out.N, out.E = "RSA", text(k.N.Bytes()), text(big.NewInt(int64(k.E)).Bytes())
	case *ecdsa.PublicKey:
		point, err := k.Bytes() // 4, x, y
		if err != nil {
			return nil, err
		}
		half := 1 + len(point)/2
		out.Type, out.Curve, out.X, out.Y = "EC", k.Curve.Params().Name, text(point[1:half]), text(point[half:])
	}
	return out, nil
}
