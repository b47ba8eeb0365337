package selector_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/selector"
)

// A selector of several terms selects what each of its terms selects.
func TestTermsHoldTogetherAsEachAlone(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	key := func() string { return pick("a", "b", "c", "n") }
	value := func() string {
		return pick("", "x", "y", "1", "5", "9", "9223372036854775807")
	}
	number := func() string { return pick("0", "4", "5", "6", "9223372036854775807", "9223372036854775806") }
	labelTerm := func() string {
		return pick(key(), "!"+key(), key()+"="+value(), key()+"=="+value(), key()+"!="+value(), key()+">"+number(), key()+"<"+number(),
			key()+" in ("+value()+","+value()+","+value()+")", key()+" notin ("+value()+","+value()+")")
	}
	fieldTerm := func() string { return pick("a", "b", "n") + pick("=", "==", "!=") + value() }
	selected := 0
	for range 20_000 {
		var labelTerms, fieldTerms []string
		for range 1 + r.IntN(6) {
			labelTerms, fieldTerms = append(labelTerms, labelTerm()), append(fieldTerms, fieldTerm())
		}
		object := map[string]string{}
		for range r.IntN(4) {
			object[key()] = pick(value(), number())
		}
		get := func(field string) string { return object[field] }

		labels, err := selector.ParseLabels(strings.Join(labelTerms, ","))
		require.NoError(t, err)
		fields, err := selector.ParseFields(strings.Join(fieldTerms, ","))
		require.NoError(t, err)
		wantLabels, wantFields := true, true
		for i := range labelTerms {
			one, err := selector.ParseLabels(labelTerms[i])
			require.NoError(t, err)
			wantLabels = wantLabels && one.Matches(object)
			other, err := selector.ParseFields(fieldTerms[i])
			require.NoError(t, err)
			wantFields = wantFields && other.Matches(get)
		}
		assert.Equal(t, wantLabels, labels.Matches(object), "%s of %v", labelTerms, object)
		assert.Equal(t, wantFields, fields.Matches(get), "%s of %v", fieldTerms, object)
		if wantLabels {
			selected++
		}
	}
	assert.Greater(t, selected, 1000)
}

func TestOneTermOfALabelSelector(t *testing.T) {
	object := map[string]string{"a": "x", "n": "5", "e": ""}
	for term, want := range map[string]bool{
		"a": true, "z": false, "!a": false, "!z": true, "a=x": true, "a==y": false, "z=": false, "e=": true, "a!=x": false, "a!=y": true, "z!=x": true,
		"a in (x,y)": true, "a in (y)": false, "z in (,x)": false, "a notin (x)": false, "a notin (y)": true, "z notin (x)": true,
		"n>4": true, "n>5": false, "n<6": true, "n<5": false, "a>0": false, "z<9": false, "n>9223372036854775807": false, "n<0": false,
	} {
		labels, err := selector.ParseLabels(term)
		require.NoError(t, err)
		assert.Equal(t, want, labels.Matches(object), term)
	}
}

// A selector with more keys than the object has labels is looked up by the labels.
func TestManyKeysMatchFewLabels(t *testing.T) {
	keys, object := "k=v", map[string]string{"k": "v"}
	for i := range 40 {
		keys += fmt.Sprintf(",!gone%d", i)
	}
	for i := range 20 {
		object[fmt.Sprintf("other%d", i)] = ""
	}
	for _, tt := range []struct {
		in   string
		want bool
	}{{keys, true}, {keys + ",k=w", false}, {keys + ",!other7", false}, {keys + ",needed", false}, {keys + ",needed!=x", true}} {
		labels, err := selector.ParseLabels(tt.in)
		require.NoError(t, err)
		for range 10 { // the order of the labels is random
			assert.Equal(t, tt.want, labels.Matches(object), tt.in)
		}
	}
}

// The cost of a match grows with the labels of the object, not with the selector.
func BenchmarkLabelsMatchManyTerms(b *testing.B) {
	for _, terms := range []int{1, 100, 20_000} {
		for name, form := range map[string]string{"keys": ",k%d!=v", "values": ",app!=v%d"} {
			b.Run(fmt.Sprintf("%s/terms=%d", name, terms), func(b *testing.B) {
				text := "app"
				for i := range terms {
					text += fmt.Sprintf(form, i)
				}
				labels, err := selector.ParseLabels(text)
				require.NoError(b, err)
				object := map[string]string{"app": "web", "tier": "back"}
				b.ReportAllocs()
				for b.Loop() {
					if !labels.Matches(object) {
						b.Fatal("not selected")
					}
				}
			})
		}
	}
}
