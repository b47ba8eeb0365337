package lease

import (
	"encoding/hex"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/store/meta"
)

func TestWireForm(t *testing.T) {
	typ := codec.MustCompile(reflect.TypeFor[Lease](), "v1")
	at := new(meta.NewMicroTime(time.Unix(1704164645, 123456789)))
	for name, row := range map[string]struct {
		spec      LeaseSpec
		json      string
		protoSpec string // hex
	}{
		"an empty lease": {LeaseSpec{}, `{"metadata":{},"spec":{}}`, "1200"},
		"zero values behind pointers": {
			LeaseSpec{HolderIdentity: new(""), LeaseTransitions: new(int32(0))},
			`{"metadata":{},"spec":{"holderIdentity":"","leaseTransitions":0}}`, "1204 0a00 2800"},
		"all fields": {
			LeaseSpec{
				HolderIdentity: new("h"), LeaseDurationSeconds: new(int32(15)), AcquireTime: at, RenewTime: at,
				LeaseTransitions: new(int32(0)), Strategy: new(OldestEmulationVersion), PreferredHolder: new("p"),
			},
			`{"metadata":{},"spec":{"holderIdentity":"h","leaseDurationSeconds":15,` +
				`"acquireTime":"2024-01-02T03:04:05.123456Z","renewTime":"2024-01-02T03:04:05.123456Z",` +
				`"leaseTransitions":0,"strategy":"OldestEmulationVersion","preferredHolder":"p"}}`,
			"123c 0a0168 100f 1a0b08a5facdac06108094ef3a 220b08a5facdac06108094ef3a 2800 3216" +
				hex.EncodeToString([]byte("OldestEmulationVersion")) + "3a0170"},
	} {
		t.Run(name, func(t *testing.T) {
			l := &Lease{Spec: row.spec}
			text, err := typ.AppendJSON(nil, l)
			require.NoError(t, err)
			assert.Equal(t, row.json, string(text))
			const emptyMetadata = "0a10 0a00 1200 1a00 2200 2a00 3200 3800 4200"
			assert.Equal(t, strings.ReplaceAll(emptyMetadata+row.protoSpec, " ", ""), hex.EncodeToString(typ.AppendProto(nil, l)))
		})
	}
}
