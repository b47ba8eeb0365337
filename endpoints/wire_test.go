package endpoints

import (
	"encoding/hex"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/codec"
)

const emptyMetadata = "0a10 0a00 1200 1a00 2200 2a00 3200 3800 4200"

func TestWireForm(t *testing.T) {
	typ := codec.MustCompile(reflect.TypeFor[Endpoints](), "v1")
	for name, row := range map[string]struct {
		subsets []EndpointSubset
		json    string
		proto   string // hex, after the metadata
	}{
		"no subsets": {nil, `{"metadata":{}}`, ""},
		"only required fields": {
			[]EndpointSubset{{NotReadyAddresses: []EndpointAddress{{}}, Ports: []EndpointPort{{Port: 80}}}},
			`{"metadata":{},"subsets":[{"notReadyAddresses":[{"ip":""}],"ports":[{"port":80}]}]}`,
			"120e 1204 0a00 1a00 1a06 0a00 1050 1a00"},
		"all fields": {
			[]EndpointSubset{{
				Addresses: []EndpointAddress{{
					IP: "i", Hostname: "h", NodeName: new("n"), TargetRef: &ObjectReference{
						Kind: "k", Namespace: "s", Name: "n", UID: "u", APIVersion: "v", ResourceVersion: "1", FieldPath: "f",
					},
				}},
				Ports: []EndpointPort{{Name: "n", Port: 1, Protocol: "P", AppProtocol: new("a")}},
			}},
			`{"metadata":{},"subsets":[{"addresses":[{"ip":"i","hostname":"h","nodeName":"n","targetRef":` +
				`{"kind":"k","namespace":"s","name":"n","uid":"u","apiVersion":"v","resourceVersion":"1","fieldPath":"f"}}],` +
				`"ports":[{"name":"n","port":1,"protocol":"P","appProtocol":"a"}]}]}`,
			"122f 0a20 0a0169 1215 0a016b 120173 1a016e 220175 2a0176 320131 3a0166 1a0168 22016e 1a0b 0a016e 1001 1a0150 220161"},
	} {
		t.Run(name, func(t *testing.T) {
			e := &Endpoints{Subsets: row.subsets}
			text, err := typ.AppendJSON(nil, e)
			require.NoError(t, err)
			assert.Equal(t, row.json, string(text))
			assert.Equal(t, strings.ReplaceAll(emptyMetadata+row.proto, " ", ""), hex.EncodeToString(typ.AppendProto(nil, e)))
		})
	}
}

func TestSubsetsHaveOneOwnerAsAWhole(t *testing.T) {
	subsets := codec.MustCompile(reflect.TypeFor[Endpoints](), "v1").Field("subsets")
	assert.Equal(t, "atomic", subsets.ListType)
	address := subsets.Type.Elem.Field("addresses").Type.Elem
	assert.True(t, address.Atomic)
	assert.True(t, address.Field("targetRef").Type.Atomic)
	assert.True(t, subsets.Type.Elem.Field("ports").Type.Elem.Atomic)
}
