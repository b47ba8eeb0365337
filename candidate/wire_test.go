package candidate

import (
	"encoding/hex"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/candidate/internal/v1alpha1"
	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/store/meta"
)

func TestWireForm(t *testing.T) {
	const emptyMetadata = "0a10 0a00 1200 1a00 2200 2a00 3200 3800 4200"
	at := new(meta.NewMicroTime(time.Unix(1704164645, 123456789)))
	const atJSON, atProto = `"2024-01-02T03:04:05.123456Z"`, "0b08a5facdac06108094ef3a"
	for name, row := range map[string]struct {
		obj   any
		json  string
		proto string // hex, after the metadata
	}{
		"v1beta1, only what is always there": {&LeaseCandidate{},
			`{"metadata":{},"spec":{"leaseName":"","binaryVersion":""}}`, "1208 0a00 2200 2a00 3200"},
		"v1beta1, all fields": {
			&LeaseCandidate{Spec: LeaseCandidateSpec{
				LeaseName: "l", PingTime: at, RenewTime: at, BinaryVersion: "b", EmulationVersion: "e", Strategy: "s", PreferredStrategies: strategies{"s", "t"},
			}},
			`{"metadata":{},"spec":{"leaseName":"l","pingTime":` + atJSON + `,"renewTime":` + atJSON + `,"binaryVersion":"b","emulationVersion":"e","strategy":"s"}}`,
			"1226 0a016c 12" + atProto + "1a" + atProto + "220162 2a0165 320173"},
		"v1alpha1, only what is always there": {&v1alpha1.LeaseCandidate{},
			`{"metadata":{},"spec":{"leaseName":""}}`, "1206 0a00 2200 2a00"},
		"v1alpha1, all fields": {
			&v1alpha1.LeaseCandidate{Spec: v1alpha1.LeaseCandidateSpec{
				LeaseName: "l", PingTime: at, RenewTime: at, BinaryVersion: "b", EmulationVersion: "e", PreferredStrategies: strategies{"s", "t"},
			}},
			`{"metadata":{},"spec":{"leaseName":"l","pingTime":` + atJSON + `,"renewTime":` + atJSON + `,"binaryVersion":"b","emulationVersion":"e","preferredStrategies":["s","t"]}}`,
			"1229 0a016c 12" + atProto + "1a" + atProto + "220162 2a0165 320173 320174"},
	} {
		t.Run(name, func(t *testing.T) {
			typ := codec.MustCompile(reflect.TypeOf(row.obj).Elem(), "v")
			text, err := typ.AppendJSON(nil, row.obj)
			require.NoError(t, err)
			assert.Equal(t, row.json, string(text))
			assert.Equal(t, strings.ReplaceAll(emptyMetadata+row.proto, " ", ""), hex.EncodeToString(typ.AppendProto(nil, row.obj)))
		})
	}
}

// Kubernetes' type of a strategy is in the package v1 of the API for every version of LeaseCandidates.
func TestWrongStrategyIsNamedAsAnAPIServerNamesIt(t *testing.T) {
	for _, row := range []struct {
		obj              any
		version, doc, of string
	}{
		{&LeaseCandidate{}, "v1beta1", `{"spec":{"strategy":1}}`, "v1.CoordinatedLeaseStrategy"},
		{&v1alpha1.LeaseCandidate{}, "v1alpha1", `{"spec":{"preferredStrategies":[1]}}`, "v1.CoordinatedLeaseStrategy"},
		{&v1alpha1.LeaseCandidate{}, "v1alpha1", `{"spec":{"preferredStrategies":1}}`, "[]v1.CoordinatedLeaseStrategy"},
	} {
		_, err := codec.MustCompile(reflect.TypeOf(row.obj).Elem(), row.version).DecodeJSON([]byte(row.doc), row.obj, false)
		require.Error(t, err, row.doc)
		assert.Equal(t, row.of, err.Error()[strings.LastIndex(err.Error(), " ")+1:], row.doc)
	}
}
