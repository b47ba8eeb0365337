package debug

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/store/meta"
)

func TestFaultRoundTripsThroughJSON(t *testing.T) {
	for text, want := range map[string]faultJSON{
		`{}`: {},
		`{"verb":"update","resource":"leases","first":2,"answer":{"code":409}}`: {
			Match: apitest.Match{Verb: "update", Resource: "leases"}, First: 2, Answer: meta.Status{Code: 409},
		},
		`{"namespace":"a","name":"b","userAgent":"python","client":"c","first":3,"answer":{"details":{"retryAfterSeconds":1},"code":429}}`: {
			Match: apitest.Match{Namespace: "a", Name: "b", UserAgent: "python", Client: "c"}, First: 3, Answer: meta.Status{Code: 429, Details: &meta.StatusDetails{RetryAfterSeconds: 1}},
		},
		`{"delay":"1.5s","cut":"after"}`:             {Delay: 1500 * time.Millisecond, Cut: "after"},
		`{"expireHistory":true,"slowEvents":"1m0s"}`: {ExpireHistory: true, SlowEvents: time.Minute},
		`{"partition":"silent"}`:                     {Partition: "silent"},
		`{"verb":"get","stale":{"everyRead":true}}`: {
			Match: apitest.Match{Verb: "get"}, Stale: &apitest.StaleOptions{
				EveryRead: true,
			},
		},
		`{"stale":{"resourceVersion":"1001","changes":3,"age":"2s"}}`: {Stale: &apitest.StaleOptions{ResourceVersion: "1001", Changes: 3, Age: 2 * time.Second}},
		`{"hang":true}`:                                          {Hang: true},
		`{"client":"c","stale":{"changes":3}}`:                   {Match: apitest.Match{Client: "c"}, Stale: &apitest.StaleOptions{Changes: 3}},
		`{"stale":{"resourceVersion":"1003","skipMissed":true}}`: {Stale: &apitest.StaleOptions{ResourceVersion: "1003", SkipMissed: true}},
		`{"resource":"leases","adversary":{"seed":42,"percent":20,"maxDelay":"1s"}}`: {
			Match: apitest.Match{Resource: "leases"}, Adversary: &apitest.AdversaryOptions{Seed: 42, Percent: 20, MaxDelay: time.Second},
		},
		`{"tear":{}}`:                                    {Tear: &tearJSON{}},
		`{"tear":{"after":3,"midFrame":true}}`:           {Tear: &tearJSON{After: 3, MidFrame: true}},
		`{"tear":{"error":{"message":"no","code":410}}}`: {Tear: &tearJSON{Error: meta.Status{Code: 410, Message: "no"}}},
		`{"answer":{"details":{"causes":[{"field":"f"},{"reason":"r"}]},"code":422}}`: {
			Answer: meta.Status{Code: 422, Details: &meta.StatusDetails{Causes: []meta.StatusCause{{Field: "f"}, {Type: "r"}}}},
		},
	} {
		t.Run(text, func(t *testing.T) {
			got := faultJSON{Match: apitest.Match{Name: "replaced"}}
			require.NoError(t, json.Unmarshal([]byte(text), &got))
			assert.Equal(t, want, got)
			written, err := json.Marshal(got)
			require.NoError(t, err)
			assert.Equal(t, text, string(written))
		})
	}
}

func TestEveryFieldOfFaultIsInJSON(t *testing.T) {
	full := fill(reflect.TypeFor[faultJSON]())
	text, err := json.Marshal(full.Interface())
	require.NoError(t, err)
	var again faultJSON
	require.NoError(t, json.Unmarshal(text, &again))
	assert.Equal(t, full.Interface(), again)
}

// fill returns a value in which every field but functions is set.
func fill(t reflect.Type) reflect.Value {
	v := reflect.New(t).Elem()
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			v.Field(i).Set(fill(t.Field(i).Type))
		}
	case reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		v.Elem().Set(fill(t.Elem()))
	case reflect.Slice:
		v = reflect.Append(v, fill(t.Elem()))
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint64:
		v.SetUint(7)
	}
	return v
}

func TestFaultFromJSONNamesWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		`{"verb":"get","verb":"list"}`: "verb: got it twice, want it once",
		`{"Verb":"get"}`:               "Verb: got an unknown member, want one of verb, resource, subresource, namespace, name, userAgent, client, first, delay,",
		`{"tear":{"before":1}}`:        "tear.before: got an unknown member, want one of after, midFrame, error",
		`{"answer":{"status":409}}`:    "answer.status: got 409, want a text",
		`{"answer":{"code":"409"}}`:    `answer.code: got "409", want a whole number`,
		`{"answer":{"code":1e99}}`:     `answer.code: got 1e99, want a whole number`,
		`{"answer":409}`:               "answer: got 409, want an object",
		`{"answer":{"details":{"causes":[{"reason":"r"},{"reason":1}]}}}`: "answer.details.causes[1].reason: got 1, want a text",
		`{"answer":{"details":{"causes":{}}}}`:                            "answer.details.causes: got {}, want a list",
		`{"first":1.5}`:                                                   "first: got 1.5, want a whole number",
		`{"delay":1}`:                                                     `delay: got 1, want a duration such as "1.5s" or "10m"`,
		`{"delay":"1 s"}`:                                                 `delay: got "1 s", want a duration such as "1.5s" or "10m"`,
		`{"hang":"yes"}`:                                                  `hang: got "yes", want true or false`,
		`{"when":"always"}`:                                               "when: got an unknown member, want one of",
		`[]`:                                                              "got [], want an object",
		`null`:                                                            "got null, want an object",
		`"` + strings.Repeat("x", 99) + `"`:                               `got "` + strings.Repeat("x", 39) + "..., want an object",
	} {
		f := faultJSON{Match: apitest.Match{Verb: "get"}}
		err := f.UnmarshalJSON([]byte(text))
		assert.ErrorContains(t, err, "fault: "+want, text)
		assert.Equal(t, faultJSON{Match: apitest.Match{Verb: "get"}}, f, "it does not change")
	}
	assert.EqualError(t, json.Unmarshal([]byte(`{"adversary":{"seed":-1}}`), &faultJSON{}), "fault: adversary.seed: got -1, want a whole number, 0 or more")
	assert.Error(t, json.Unmarshal([]byte(`{"verb":`), &faultJSON{}))
}
