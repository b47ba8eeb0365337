package defaults_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/randfill"

	"github.com/kubecoord/kubecoord/httpapi/kube/scheme/internal/defaults"
	"github.com/kubecoord/kubecoord/httpapi/kube/scheme/internal/recorded"
)

// now is what members that default to the time are in the recorded answers.
func now() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC) }

// A line of a file of testdata: an object as kube-apiserver decoded it, and the same with its defaults. A line of
// rules.jsonl is written by hand without its output; the program adds it.
type line struct {
	Rule   string          `json:"rule"`
	Input  json.RawMessage `json:"input"`
	Output json.RawMessage `json:"output,omitempty"`
}

// TestDefaultsAreThoseOfKubeAPIServer compares every rule with what kube-apiserver's own code answered. With the program of
// package recorded it records the answers anew.
func TestDefaultsAreThoseOfKubeAPIServer(t *testing.T) {
	d := defaults.New(now)
	for _, file := range []string{"testdata/rules.jsonl", "testdata/kinds.jsonl"} {
		lines := read(t, file)
		require.NotEmpty(t, lines)
		if server, ok := recorded.Start(t); ok {
			if file == "testdata/kinds.jsonl" {
				lines = skeletons(t, server)
			}
			record(t, server, file, lines)
		}
		for _, l := range lines {
			t.Run(l.Rule, func(t *testing.T) {
				obj := recorded.Decode(t, l.Input)
				d.Default(obj)
				assertSame(t, l.Output, obj)
				d.Default(obj)
				assertSame(t, l.Output, obj)
			})
		}
	}
}

func assertSame(t *testing.T, want json.RawMessage, got runtime.Object) {
	expected := recorded.Decode(t, want)
	for _, obj := range []runtime.Object{expected, got} {
		obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	}
	wantJSON, err := json.MarshalIndent(expected, "", " ")
	require.NoError(t, err)
	gotJSON, err := json.MarshalIndent(got, "", " ")
	require.NoError(t, err)
	require.Equal(t, string(wantJSON), string(gotJSON))
}

func read(t *testing.T, file string) (lines []line) {
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var l line
		require.NoError(t, json.Unmarshal(in.Bytes(), &l), in.Text())
		lines = append(lines, l)
	}
	require.NoError(t, in.Err())
	return lines
}

func record(t *testing.T, server *recorded.Server, file string, lines []line) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	for i := range lines {
		answer := server.Ask(t, recorded.Question{Op: "default", Object: lines[i].Input})
		require.Empty(t, answer.Failed, lines[i].Rule)
		lines[i].Output = timeAdded(answer.Object)
		require.NoError(t, enc.Encode(lines[i]))
	}
	require.NoError(t, os.WriteFile(file, out.Bytes(), 0o644))
}

// timeAdded replaces the program's own time by the test's.
func timeAdded(body []byte) []byte {
	var tree any
	if json.Unmarshal(body, &tree) != nil {
		return body
	}
	const member = `"timeAdded":"`
	for i := 0; ; {
		at := bytes.Index(body[i:], []byte(member))
		if at < 0 {
			return body
		}
		i += at + len(member)
		end := bytes.IndexByte(body[i:], '"')
		body = slices.Concat(body[:i], []byte(now().Format(time.RFC3339)), body[i+end:])
	}
}

// skeletons returns, for each served kind, an object in which every member is there and empty, as a kube-apiserver decodes it: members
// that came later are gone.
func skeletons(t *testing.T, server *recorded.Server) (lines []line) {
	for _, gvk := range kinds() {
		obj, err := clientgoscheme.Scheme.New(gvk)
		require.NoError(t, err)
		fill(reflect.ValueOf(obj).Elem())
		if hpa, ok := obj.(*autoscalingv1.HorizontalPodAutoscaler); ok {
			hpa.Status = autoscalingv1.HorizontalPodAutoscalerStatus{} // becomes an annotation when it is converted to v2
		}
		obj.GetObjectKind().SetGroupVersionKind(gvk)
		body, err := json.Marshal(obj)
		require.NoError(t, err)
		answer := server.Ask(t, recorded.Question{Op: "decode", Object: body})
		if strings.Contains(answer.Failed, "no kind") {
			continue
		}
		require.Empty(t, answer.Failed, gvk)
		lines = append(lines, line{Rule: gvk.String(), Input: answer.Object})
	}
	return lines
}

// kinds returns the kinds of client-go's scheme in the versions that a server has by default.
func kinds() (gvks []schema.GroupVersionKind) {
	for gvk, typ := range clientgoscheme.Scheme.AllKnownTypes() {
		stable := gvk.Version == "v1" || gvk.Version == "v2"
		_, object := reflect.New(typ).Interface().(metav1.Object)
		if stable && object && gvk.Group != "__internal" && !strings.Contains(typ.PkgPath(), "apimachinery") {
			gvks = append(gvks, gvk)
		}
	}
	slices.SortFunc(gvks, func(a, b schema.GroupVersionKind) int { return strings.Compare(a.String(), b.String()) })
	return gvks
}

// fill makes every pointer point, every list have an item, and every ResourceList a quantity that needs rounding.
func fill(v reflect.Value) {
	switch v.Type() {
	case reflect.TypeFor[metav1.ObjectMeta](), reflect.TypeFor[metav1.Time](), reflect.TypeFor[runtime.RawExtension]():
		return
	case reflect.TypeFor[corev1.ResourceList]():
		v.Set(reflect.ValueOf(corev1.ResourceList{"cpu": resource.MustParse("1.00001")}))
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.Uint8 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			fill(v.Index(0))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i))
			}
		}
	}
}

// TestDefaultNeverPanics fills objects at random: nil and empty everywhere, references that do not parse.
func TestDefaultNeverPanics(t *testing.T) {
	d := defaults.New(now)
	d.Default(nil)
	d.Default((*corev1.Pod)(nil))
	for _, gvk := range kinds() {
		for seed := range int64(20) {
			obj, err := clientgoscheme.Scheme.New(gvk)
			require.NoError(t, err)
			randfill.NewWithSeed(seed).NilChance(0.3).NumElements(0, 3).MaxDepth(12).Funcs(
				func(*runtime.RawExtension, randfill.Continue) {},
			).Fill(obj)
			assert.NotPanics(t, func() { d.Default(obj) }, "%s, seed %d", gvk, seed)
		}
	}
}

// FuzzDefault takes bodies of any kind.
func FuzzDefault(f *testing.F) {
	f.Add([]byte(`{"apiVersion":"v1","kind":"Pod","spec":{"containers":[null,{"image":"a:b:c@"}],"resources":{"limits":{"cpu":1}}}}`))
	f.Add([]byte(`{"apiVersion":"v1","kind":"Secret","stringData":{"a":"b"}}`))
	d := defaults.New(now)
	f.Fuzz(func(t *testing.T, body []byte) {
		obj, _, err := clientgoscheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
		if err == nil {
			d.Default(obj)
		}
	})
}
