package codec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	kjson "sigs.k8s.io/json"

	"github.com/kubecoord/kubecoord/store/meta"
)

// level is a custom type that is text.
type level [2]byte

func (l level) MarshalText() ([]byte, error) { return bytes.Trim(l[:], "\x00"), nil }

func (l *level) UnmarshalText(text []byte) error {
	if copy(l[:], text) < len(text) {
		return fmt.Errorf("too long: %q", text)
	}
	return nil
}

// rawCount is a custom type that is JSON.
type rawCount int32

func (c rawCount) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, "[%d]", int32(c)), nil }

func (c *rawCount) UnmarshalJSON(text []byte) error {
	*c += rawCount(len(text))
	return json.Unmarshal(text, new(any))
}

// userKind has the forms of fields that only kinds of users have.
type userKind struct {
	Lease `json:",inline"`
	Any   json.RawMessage            `json:"any,omitempty"`
	Level level                      `json:"level"`
	Next  *level                     `json:"next"`
	Count rawCount                   `json:"count"`
	Half  *rawCount                  `json:"half"`
	Texts map[Protocol]string        `json:"texts"`
	Raws  map[string]json.RawMessage `json:"raws"`
	Lists [][]level                  `json:"lists"`
	Inner struct {
		A, B *string
		C    *int32 `json:"c,omitempty"`
	} `json:"inner"`
}

// readableTypes are the types that the fuzz test reads.
func readableTypes() []*Type {
	return []*Type{
		compileFor[Lease]("v1"), compileFor[LeaseCandidate]("v1alpha2"), compileFor[Endpoints]("v1"),
		compileFor[Everything]("v1"), compileFor[userKind]("v1"),
	}
}

// sameAsLibrary reads a document with the reader and the library, and compares the
// results. It returns whether the reader read it.
func sameAsLibrary(t testing.TB, typ *Type, data []byte) bool {
	t.Helper()
	want, got, other, shares := fresh(typ), fresh(typ), fresh(typ), fresh(typ)
	strictErrs, err := kjson.UnmarshalStrict(bytes.Clone(data), want)
	_ = kjson.UnmarshalCaseSensitivePreserveInts([]byte(clientBodies[len(data)%len(clientBodies)]), other) // any object will do
	body := bytes.Clone(data)
	ok := typ.readJSON(body, typ.check(got), Like{})
	require.Equal(t, ok, typ.readJSON(body, typ.check(shares), Like{Object: other, Shares: len(data)%2 == 0}), "%s", data)
	for i := range body {
		body[i] = 'x' // the object must not share the memory of the body
	}
	if !ok {
		require.Equal(t, fresh(typ), got, "the object is zero again: %s", data)
		return false
	}
	require.NoError(t, err, "%s", data)
	require.Empty(t, strictErrs, "%s", data)
	require.Equal(t, want, got, "%s", data)
	require.Equal(t, want, shares, "%s", data)
	for _, shares := range []bool{false, true} {
		again := fresh(typ)
		require.True(t, typ.readJSON(data, typ.check(again), Like{Object: want, Shares: shares, Type: meta.TypeMeta{Kind: "Lease"}}))
		require.Equal(t, want, again, "%s", data)
	}
	return true
}

// clientBodies are bodies as clients write them.
var clientBodies = []string{
	`{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"node-000007","namespace":"default","uid":"8a1c6f9e-3b7d-4c52-9e10-000000000007",` +
		`"resourceVersion":"123456","creationTimestamp":"2026-01-02T03:04:05Z","labels":{"app":"agent","shard":"3"},"managedFields":[{"manager":"agent","operation":"Update",` +
		`"apiVersion":"coordination.k8s.io/v1","time":"2026-01-02T03:04:05Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:holderIdentity":{},"f:renewTime":{}}}}]},` +
		`"spec":{"holderIdentity":"node-000007","leaseDurationSeconds":40,"acquireTime":"2026-01-02T03:04:05.000000Z","renewTime":"2026-01-02T03:04:07.123456Z","leaseTransitions":3}}`,
	`{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"a","creationTimestamp":null},"spec":{"holderIdentity":"","renewTime":null,"strategy":"OldestEmulationVersion"}}`,
	`{
  "apiVersion": "coordination.k8s.io/v1alpha2", "kind": "LeaseCandidate",
  "metadata": { "name": "c", "annotations": { "a/b": "{\"q\":\"\\n\u003c\"}", "ü": "日本" }, "finalizers": [ "x/y", "z" ],
    "ownerReferences": [ { "apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u", "controller": true } ] },
  "spec": { "leaseName": "l", "binaryVersion": "1.36.0", "pingTime": "2026-01-02T03:04:05.000000Z" }
}` + "\n",
	`{"kind":"Endpoints","apiVersion":"v1","metadata":{"name":"web","labels":{}},"subsets":[{"addresses":[{"ip":"10.1.1.1","nodeName":"node-1","targetRef":{"kind":"Pod","namespace":"default",` +
		`"name":"web-1","uid":"11111111-2222-3333-4444-000000000001"}},{"ip":"10.1.1.2"},{"ip":"10.1.1.3","hostname":"h"}],"notReadyAddresses":[],"ports":[{"name":"http","port":8080,"protocol":"TCP"},` +
		`{"port":-1,"appProtocol":"x"}]},{},{"addresses":null}]}`,
	`{"any":{"a":[1,2.5e-3,true,false,null,"\u00e9\ud83d\ude00"]},"level":"x","next":"yy","count":17,"half":null,"texts":{"TCP":"a","UDP":null},"raws":{"a":null,"b":[ 1 ]},` +
		`"lists":[["a","b"],[],null],"inner":{"A":"a","B":null,"c":-0}}`,
}

// A renewal needs memory for the object, the values of its pointers, and its labels.
func TestReaderSharesStringsOfTheLiveObject(t *testing.T) {
	typ := compileFor[Endpoints]("v1")
	doc, err := typ.AppendJSON(nil, someEndpoints(50))
	require.NoError(t, err)
	live := new(Endpoints)
	require.True(t, typ.readJSON(doc, typ.check(live), Like{}))
	allocs := testing.AllocsPerRun(100, func() { typ.readJSON(doc, typ.check(new(Endpoints)), Like{Object: live}) })
	assert.LessOrEqual(t, allocs, 115.0, "50 addresses with 2 pointers each")
}

// A renewal of an object that never changes needs memory for what it changes.
func TestReaderSharesTheLiveObject(t *testing.T) {
	typ := compileFor[Lease]("v1")
	doc, live := []byte(clientBodies[0]), new(Lease)
	require.True(t, typ.readJSON(doc, typ.check(live), Like{}))
	like, again := Like{Object: live, Shares: true, Type: live.TypeMeta}, new(Lease)
	live.ManagedFields = append(make([]meta.ManagedFieldsEntry, 0, 4), live.ManagedFields...)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		*again = Lease{}
		typ.readJSON(doc, typ.check(again), like)
	}))
	renewed := bytes.Replace(doc, []byte("07.123456Z"), []byte("09.123456Z"), 1)
	assert.Equal(t, 1.0, testing.AllocsPerRun(100, func() {
		*again = Lease{}
		typ.readJSON(renewed, typ.check(again), like)
	}), "the new time")
	assert.Same(t, &live.ManagedFields[0], &again.ManagedFields[0])
	assert.Equal(t, 1, cap(again.ManagedFields), "an append must not write to the array of the live object")
}

// What a reader shares is equal: with any byte or member of a document gone or another one, the object is the same as without
// sharing.
func TestReaderSharesOnlyWhatIsEqual(t *testing.T) {
	types := readableTypes()
	for i, typ := range []*Type{types[0], types[0], types[1], types[2], types[4]} {
		doc, live := []byte(clientBodies[i]), fresh(typ)
		require.True(t, typ.readJSON(doc, typ.check(live), Like{}))
		before := fmt.Sprintf("%+v", live)
		check := func(head []byte, change string, tail []byte) {
			text := slices.Concat(head, []byte(change), tail)
			want, got := fresh(typ), fresh(typ)
			ok := typ.readJSON(text, typ.check(want), Like{})
			require.Equal(t, ok, typ.readJSON(text, typ.check(got), Like{Object: live, Shares: true}), "%s", text)
			require.Equal(t, want, got, "%s", text)
		}
		for at := range doc {
			for _, change := range []string{"", "x", "0", "Z", "\"", ",", " ", "{}", "[]", "null", `,"a":""`, `"":null,`, "é"} {
				check(doc[:at], change, doc[at+1:])
			}
			for end := at + 1; end < len(doc); end++ {
				if strings.IndexByte(",{[", doc[at]) >= 0 && strings.IndexByte(",}]", doc[end]) >= 0 {
					check(doc[:at+1], "", bytes.TrimPrefix(doc[end:], []byte(",")))
					check(doc[:at], "", doc[end:])
				}
			}
		}
		require.Equal(t, before, fmt.Sprintf("%+v", live))
	}
	live := &Lease{ObjectMeta: meta.ObjectMeta{Labels: map[string]string{"a": "x", "b": "x"}}}
	assert.False(t, types[0].readJSON([]byte(`{"metadata":{"labels":{"a":"x","a":"x"}}}`), types[0].check(new(Lease)), Like{Object: live, Shares: true}))
}

func TestReaderLeavesTheUnusualToTheLibrary(t *testing.T) {
	typ := compileFor[Everything]("v1")
	for _, doc := range []string{
		``, `null`, `[]`, `{`, `{}x`, `{"zzz":1}`, `{"Flag":true}`, `{"fl\u0061g":true}`, `{"flag":true,"flag":true}`, `{"flag":1}`, `{"flag":true,}`, `{,}`, `{"flag" true}`,
		`{"count":1.0}`, `{"count":1e2}`, `{"count":01}`, `{"count":-}`, `{"count":9223372036854775808}`, `{"maybeCount":2147483648}`, `{"count":"1"}`, `{"ratio":1e999}`, `{"ratio":.5}`, `{"ratio":1.}`,
		`{"data":"*"}`, `{"data":[1]}`, `{"at":"2026-01-02T03:04:05Z"}`, `{"at":"2026-02-30T03:04:05.000000Z"}`, `{"at":"2026-01-02T03:04:05.000000+01:00"}`, `{"at":"2026-01-02T03:04:60.000000Z"}`,
		`{"at":"2026-01-02T3:04:05.0000000Z"}`,
		`{"limits":{"a":1,"a":1}}`, `{"named":{"a":"b","a":"b"}}`, `{"Untagged":"` + "\xff" + `"}`, `{"Untagged":"` + "\n" + `"}`, `{"Untagged":"\x"}`, `{"Untagged":"\ud83d\ude00"}`, `{"Untagged":"a}`,
		`{"raw":{"a":01}}`, `{"raw":"\u12"}`, `{"raw":{"a"}}`, `{"raw":{"a":1 "b":2}}`, `{"raw":[1,]}`, `{"raw":nul}`,
		strings.Repeat(`{"child":`, 150) + `{}` + strings.Repeat(`}`, 150), `{"raw":` + strings.Repeat(`[`, 150) + strings.Repeat(`]`, 150) + `}`,
	} {
		assert.False(t, sameAsLibrary(t, typ, []byte(doc)), doc)
	}
	everything := &Everything{Untagged: "before"}
	assert.False(t, typ.readJSON([]byte(`{}`), typ.check(everything), Like{}), "an object that is not zero")
	assert.Equal(t, "before", everything.Untagged)
}

// Both readers of JSON give the same result, or the fast one leaves the document to the other.
func FuzzReadJSON(f *testing.F) {
	types := readableTypes()
	for i, body := range clientBodies {
		for typ := range types {
			if i == 0 || typ > 0 {
				f.Add([]byte(body), byte(typ))
			}
		}
	}
	for seed := range uint64(20) {
		doc, err := types[3].AppendJSON(nil, aSeed(seed))
		require.NoError(f, err)
		f.Add(doc, byte(3))
	}
	f.Fuzz(func(t *testing.T, data []byte, which byte) {
		sameAsLibrary(t, types[int(which)%len(types)], data)
	})
}
