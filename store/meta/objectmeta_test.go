package meta_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store/meta"
)

func TestMembersOfObjectMetaAreInOrder(t *testing.T) {
	at := meta.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	full := meta.ObjectMeta{
		Name: "n", GenerateName: "g", Namespace: "ns", SelfLink: "s", UID: "u", ResourceVersion: "1", Generation: 2,
		CreationTimestamp: at, DeletionTimestamp: &at, DeletionGracePeriodSeconds: new(int64(0)),
		Labels: map[string]string{"l": "1"}, Annotations: map[string]string{"a": "1"},
		OwnerReferences: []meta.OwnerReference{{APIVersion: "v1", Kind: "K", Name: "o", UID: "v", Controller: new(false)}},
		Finalizers:      []string{"f"},
		ManagedFields:   []meta.ManagedFieldsEntry{{Manager: "m", Operation: "Update", APIVersion: "v1", Time: &at, FieldsType: "FieldsV1", FieldsV1: &meta.FieldsV1{Raw: []byte(`{"f:a":{}}`)}}},
	}
	const want = `{"name":"n","generateName":"g","namespace":"ns","selfLink":"s","uid":"u","resourceVersion":"1","generation":2,` +
		`"creationTimestamp":"2026-01-02T03:04:05Z","deletionTimestamp":"2026-01-02T03:04:05Z","deletionGracePeriodSeconds":0,` +
		`"labels":{"l":"1"},"annotations":{"a":"1"},"ownerReferences":[{"apiVersion":"v1","kind":"K","name":"o","uid":"v","controller":false}],` +
		`"finalizers":["f"],"managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1","time":"2026-01-02T03:04:05Z","fieldsType":"FieldsV1","fieldsV1":{"f:a":{}}}]}`
	out, err := json.Marshal(full)
	require.NoError(t, err)
	assert.Equal(t, want, string(out))
	var again meta.ObjectMeta
	require.NoError(t, json.Unmarshal(out, &again))
	assert.Equal(t, full, again)

	out, err = json.Marshal(meta.ObjectMeta{})
	require.NoError(t, err)
	assert.Equal(t, "{}", string(out), "a creationTimestamp of zero is left out")
}

func TestFieldsV1IsItsText(t *testing.T) {
	out, err := json.Marshal(meta.FieldsV1{})
	require.NoError(t, err)
	assert.Equal(t, "null", string(out))
	f := meta.FieldsV1{Raw: []byte("{}")}
	require.NoError(t, f.UnmarshalJSON([]byte("null")))
	assert.Equal(t, "{}", string(f.Raw), "null leaves it alone")
	before := f.Raw
	require.NoError(t, f.UnmarshalJSON([]byte(`[]`)))
	assert.Equal(t, "{}", string(before), "what was shared does not change")
	assert.Equal(t, "[]", string(f.Raw))
}
