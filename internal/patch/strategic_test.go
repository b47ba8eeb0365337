package patch

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const owned = `{"metadata":{"name":"x","labels":{"a":"1","b":"2"},"finalizers":["f/1","f/2","f/3"],"ownerReferences":[` +
	`{"apiVersion":"v1","kind":"K","name":"one","uid":"u1"},{"apiVersion":"v1","kind":"K","name":"two","uid":"u2"}],` +
	`"managedFields":[{"manager":"m"}]},"spec":{"holderIdentity":"h"}}`

// summary returns the fields that the patches below change.
func summary(l *Lease) string {
	var owners []string
	for _, o := range l.OwnerReferences {
		owners = append(owners, string(o.UID)+"="+o.Name)
	}
	labels, _ := json.Marshal(l.Labels)
	return strings.Join(l.Finalizers, " ") + "; " + strings.Join(owners, " ") + "; " + string(labels)
}

func TestStrategicMerge(t *testing.T) {
	const live = `f/1 f/2 f/3; u1=one u2=two; {"a":"1","b":"2"}`
	tests := map[string]struct{ metadata, want string }{
		"nothing":                                {`{}`, live},
		"items of the patch come first":          {`{"finalizers":["f/9","f/2"]}`, `f/9 f/1 f/2 f/3; u1=one u2=two; {"a":"1","b":"2"}`},
		"null deletes":                           {`{"finalizers":null,"labels":{"a":null,"q":null}}`, `; u1=one u2=two; {"b":"2"}`},
		"deletion from a primitive list":         {`{"$deleteFromPrimitiveList/finalizers":["f/2","f/8"]}`, `f/1 f/3; u1=one u2=two; {"a":"1","b":"2"}`},
		"deletion comes before addition":         {`{"finalizers":["f/2"],"$deleteFromPrimitiveList/finalizers":["f/2"]}`, `f/2 f/1 f/3; u1=one u2=two; {"a":"1","b":"2"}`},
		"deletion of null deletes the list":      {`{"$deleteFromPrimitiveList/finalizers":null}`, `; u1=one u2=two; {"a":"1","b":"2"}`},
		"order":                                  {`{"$setElementOrder/finalizers":["f/3","f/9","f/1"],"finalizers":["f/9"]}`, `f/2 f/3 f/9 f/1; u1=one u2=two; {"a":"1","b":"2"}`},
		"order alone":                            {`{"$setElementOrder/finalizers":["f/3","f/2","f/1"]}`, `f/3 f/2 f/1; u1=one u2=two; {"a":"1","b":"2"}`},
		"order of a keyed list":                  {`{"$setElementOrder/ownerReferences":[{"uid":"u2"},{"uid":"u1"}]}`, `f/1 f/2 f/3; u2=two u1=one; {"a":"1","b":"2"}`},
		"keyed items are merged":                 {`{"ownerReferences":[{"uid":"u2","name":"zwei"},{"uid":"u9","name":"nine"}]}`, `f/1 f/2 f/3; u1=one u2=zwei u9=nine; {"a":"1","b":"2"}`},
		"keyed items are deleted":                {`{"ownerReferences":[{"$patch":"delete","uid":"u1"},{"$patch":"delete","uid":"u8"}]}`, `f/1 f/2 f/3; u2=two; {"a":"1","b":"2"}`},
		"a keyed list is replaced":               {`{"ownerReferences":[{"$patch":"replace"},{"uid":"u9","name":"nine"}]}`, `f/1 f/2 f/3; u9=nine; {"a":"1","b":"2"}`},
		"deleted and added, in order":            {`{"ownerReferences":[{"$patch":"delete","uid":"u1"},{"uid":"u1","name":"new"}],"$setElementOrder/ownerReferences":[{"uid":"u2"},{"uid":"u1"}]}`, `f/1 f/2 f/3; u2=two u1=new; {"a":"1","b":"2"}`},
		"a map is replaced":                      {`{"labels":{"$patch":"replace","c":"3"}}`, `f/1 f/2 f/3; u1=one u2=two; {"c":"3"}`},
		"a map is emptied":                       {`{"labels":{"$patch":"delete","c":"3"}}`, `f/1 f/2 f/3; u1=one u2=two; {}`},
		"retained keys":                          {`{"labels":{"$retainKeys":["b","c"],"c":"3"}}`, `f/1 f/2 f/3; u1=one u2=two; {"b":"2","c":"3"}`},
		"retained keys of an item":               {`{"ownerReferences":[{"$retainKeys":["uid"],"uid":"u1"}]}`, `f/1 f/2 f/3; u1= u2=two; {"a":"1","b":"2"}`},
		"keys are merged in a list of deletions": {`{"$deleteFromPrimitiveList/ownerReferences":[{"uid":"u1","name":"eins"}]}`, `f/1 f/2 f/3; u1=eins u2=two; {"a":"1","b":"2"}`},
		"a key twice in the patch":               {`{"ownerReferences":[{"uid":"u9","name":"a"},{"uid":"u9","name":"b"}]}`, `f/1 f/2 f/3; u9=b u1=one u2=two; {"a":"1","b":"2"}`},
		"deletion from a list that is not there": {`{"annotations":null,"$deleteFromPrimitiveList/zz":["f/1"]}`, live},
		"names of lists in another case":         {`{"$setElementOrder/Finalizers":["f/3"]}`, live},
		"other lists are replaced":               {`{"managedFields":[]}`, live},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, owned)
			before := f.encode(t, f.live)
			obj, warnings, err := Strategic(f.object(), []byte(`{"metadata":`+test.metadata+`}`), Strict)
			require.NoError(t, err)
			assert.Empty(t, warnings)
			assert.Equal(t, test.want, summary(obj.(*Lease)))
			assert.Equal(t, before, f.encode(t, f.live), "the live object must not change")
		})
	}
}

func TestStrategicErrors(t *testing.T) {
	tests := []struct {
		body    string
		code    int
		message string
	}{
		{`[]`, 400, "json: cannot unmarshal array into Go value of type map[string]interface {}"},
		{`{"$patch":"merge"}`, 500, "unknown patch type: merge in map: map[$patch:merge]"},
		{`{"$patch":5}`, 500, "unknown patch type: %!s(int64=5) in map: map[$patch:5]"},
		{`{"metadata":{"$retainKeys":5}}`, 400, "invalid patch format of retainKeys"},
		{`{"metadata":{"$retainKeys":["name"],"labels":{}}}`, 400, "invalid patch format of retainKeys"},
		{`{"metadata":{"$retainKeys":[{}]}}`, 400, "invalid patch format of retainKeys"}, // upstream panics
		{`{"metadata":{"$deleteFromPrimitiveList":["f/1"]}}`, 400, "invalid patch format of primitive list"},
		{`{"metadata":{"$deleteFromPrimitiveListX/finalizers":["f/1"]}}`, 400, "invalid patch format of primitive list"},
		{`{"metadata":{"$setElementOrder":["f/1"]}}`, 400, "invalid patch format of setElementOrder list"},
		{`{"metadata":{"$setElementOrder/finalizers":5}}`, 500, "expected a []interface {}, but received a int64"},
		{`{"metadata":{"$setElementOrder/finalizers":null}}`, 500, "expected a []interface {}, but received a %!s(<nil>)"},
		{`{"metadata":{"$setElementOrder/labels":[]}}`, 500, "expected a []interface {}, but received a map[string]interface {}"},
		{`{"metadata":{"$setElementOrder/zz":[]}}`, 500, `unable to find api field in struct ObjectMeta for the json field "zz"`},
		{`{"metadata":{"$setElementOrder/generateName":[]}}`, 500, "expected slice or array type, but got: struct"},
		{`{"metadata":{"labels":{"$setElementOrder/zz":[]}}}`, 500, "merging an object in json but data type is not struct, instead is: map"},
		{`{"metadata":{"$setElementOrder/finalizers":["f/1"],"finalizers":["f/9"]}}`, 500,
			"The order in patch list:\n[f/9]\n doesn't match $setElementOrder list:\n[f/1]\n"},
		{`{"metadata":{"$setElementOrder/finalizers":[{}]}}`, 500, errNotComparable.Error()},  // upstream panics
		{`{"metadata":{"$setElementOrder/managedFields":[]}}`, 500, errNotComparable.Error()}, // upstream panics
		{`{"metadata":{"ownerReferences":[{"uid":{}}]}}`, 500, errNotComparable.Error()},      // upstream panics
		{`{"metadata":{"ownerReferences":["u1"],"$setElementOrder/ownerReferences":["u1"]}}`, 500, "expected a map[string]interface {}, but received a string"},
		{`{"metadata":{"$setElementOrder/ownerReferences":["u1"]}}`, 500, "value for key 0 is not a map"},
		{`{"metadata":{"$setElementOrder/ownerReferences":[{"name":"n"}]}}`, 500, "map: map[name:n] does not contain declared merge key: uid"},
		{`{"metadata":{"$setElementOrder/ownerReferences":[{"uid":"u1"}],"ownerReferences":[{"name":"n"}]}}`, 500, "map: map[name:n] does not contain declared merge key: uid"},
		{`{"metadata":{"$setElementOrder/ownerReferences":[{"name":"o"}],"ownerReferences":[{"uid":"u1"}]}}`, 500, "map: map[name:o] does not contain declared merge key: uid"},
		{`{"metadata":{"ownerReferences":[{"name":"n"}]}}`, 500, "map: map[name:n] does not contain declared merge key: uid"},
		{`{"metadata":{"ownerReferences":[{"$patch":"merge","uid":"u1"}]}}`, 500, "merging lists cannot yet be specified in the patch"},
		{`{"metadata":{"ownerReferences":[{"$patch":"bad","uid":"u1"}]}}`, 500, "unknown patch type: bad in map: map[$patch:bad uid:u1]"},
		{`{"metadata":{"ownerReferences":[{"uid":null},{"uid":null}]}}`, 500, "map: map[] does not contain declared merge key: uid"},
		{`{"metadata":{"ownerReferences":[{"uid":"u9","name":{"a":{}}},{"uid":"u9","name":{"a":{}}}]}}`, 500, "merging an object in json but data type is not struct, instead is: string"},
		{`{"metadata":{"$deleteFromPrimitiveList/managedFields":[{}]}}`, 500, "cannot merge lists without merge key for struct"},
		{`{"metadata":{"finalizers":[null]}}`, 500, "list element types are not identical: [[f/1 f/2 f/3] [<nil>]]"},
		{`{"metadata":{"finalizers":[["f/1"]]}}`, 500, "list element types are not identical: [[f/1 f/2 f/3] [[f/1]]]"},
		{`{"metadata":"x"}`, 422, ` "" is invalid: patch: Invalid value: "map[metadata:x]": cannot restore struct from: string`},
		// The patch is shown without directives and lists that were merged.
		{`{"metadata":{"$setElementOrder/finalizers":["f/9"],"finalizers":["f/9"],"labels":{"$retainKeys":[]}},"spec":{"leaseTransitions":1.5}}`, 422,
			` "" is invalid: patch: Invalid value: "map[metadata:map[labels:map[]] spec:map[leaseTransitions:1.5]]": cannot convert float64 to int32`},
	}
	for _, test := range tests {
		t.Run(test.body, func(t *testing.T) {
			for _, v := range []Validation{Ignore, Warn, Strict} {
				checkRefused(t, Strategic, owned, test.body, v, test.code, test.message)
			}
		})
	}
	t.Run("empty lists have no type", func(t *testing.T) {
		checkRefused(t, Strategic, plain, `{"metadata":{"$setElementOrder/finalizers":["f/1"],"finalizers":[]}}`, Warn, 500,
			"no elements in any of the given slices")
	})
	t.Run("lists of lists", func(t *testing.T) {
		checkRefused(t, Strategic, plain, `{"metadata":{"$setElementOrder/managedFields":[],"managedFields":[[]]}}`, Warn, 500, errNotComparable.Error())
	})
}

// The time must not be quadratic in the length of two lists.
func TestLongListsTakeLittle(t *testing.T) {
	const n = 100_000
	owners, finalizers, order := make([]string, n), make([]string, n), make([]string, n)
	for i := range n {
		owners[i] = fmt.Sprintf(`{"uid":"u%d"}`, n-i)
		finalizers[i] = fmt.Sprintf(`"f/%d"`, n-i)
		order[i] = finalizers[i]
	}
	body := fmt.Sprintf(`{"metadata":{"ownerReferences":[%s],"finalizers":[%s],"$setElementOrder/finalizers":[%s]}}`,
		strings.Join(owners, ","), strings.Join(finalizers, ","), strings.Join(order, ","))
	obj, _, err := Strategic(newFixture(t, owned).object(), []byte(body), Ignore)
	require.NoError(t, err)
	assert.Len(t, obj.(*Lease).OwnerReferences, n)
	require.Len(t, obj.(*Lease).Finalizers, n)
	assert.Equal(t, "f/1", obj.(*Lease).Finalizers[n-1])
}
