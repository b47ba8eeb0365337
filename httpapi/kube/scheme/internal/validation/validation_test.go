package validation_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecoord/kubecoord/httpapi/kube/internal/gates"
	"github.com/kubecoord/kubecoord/httpapi/kube/scheme/internal/defaults"
	"github.com/kubecoord/kubecoord/httpapi/kube/scheme/internal/recorded"
	"github.com/kubecoord/kubecoord/httpapi/kube/scheme/internal/validation"
)

// TestErrorsAreThoseOfKubeAPIServer plays the cases of testdata/*.txt. A file has, in this order as often as needed:
//
//	object {...}                    a valid object, in JSON, for the cases that follow
//	vary                            below it, the recorded errors of every object made by a mistake in one place
//	create EDITS                    the object with changes is created
//	update EDITS => EDITS           the object with the second changes replaces the object with the first
//	update/SUBRESOURCE EDITS => EDITS
//
// EDITS are separated by " ; ": path=JSON sets a value, -path removes it. Lines that begin with a tab are what kube-apiserver
// answered: reason, field and message of each error, a long message by a hash. With the program of package recorded, they are recorded anew.
func TestErrorsAreThoseOfKubeAPIServer(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { playFile(t, file) })
	}
}

// A testCase is one line of a file with what was answered.
type testCase struct {
	line, sub string
	old, obj  json.RawMessage // old is nil for create
	want      []recorded.Cause
}

func playFile(t *testing.T, file string) {
	body, err := os.ReadFile(file)
	require.NoError(t, err)
	server, live := recorded.Start(t)
	rules := validation.New(gates.Default())
	var out bytes.Buffer
	var object any
	var current *testCase
	finish := func() {
		if current == nil {
			return
		}
		if live {
			current.want = ask(t, server, current)
			writeCauses(&out, current.want)
		}
		play(t, rules, current)
		current = nil
	}
	in := bufio.NewScanner(bytes.NewReader(body))
	in.Buffer(nil, 1<<20)
	skip := false
	for in.Scan() {
		line := in.Text()
		if answer, ok := strings.CutPrefix(line, "\t"); ok {
			if current != nil {
				current.want = append(current.want, parseCause(t, answer))
			}
			continue
		}
		finish()
		varied := strings.HasPrefix(line, "~")
		if skip && varied {
			continue
		}
		skip = false
		fmt.Fprintln(&out, line)
		line = strings.TrimPrefix(line, "~")
		verb, rest, _ := strings.Cut(line, " ")
		switch {
		case verb == "object":
			require.NoError(t, json.Unmarshal([]byte(rest), &object), line)
			current = &testCase{line: line, obj: encode(t, object)}
		case verb == "vary" && live:
			skip = true
			known := map[string]string{} // what a create with the same changes got: an update that gets the same is not recorded
			for _, v := range vary(object, rest) {
				c := newCase(t, object, v)
				c.want = ask(t, server, c)
				if len(c.want) == 0 {
					play(t, rules, c)
					continue
				}
				_, edits, _ := strings.Cut(v, " ")
				same := known[edits] == text(c.want)
				known[edits] = text(c.want)
				if !same && !rare(v) && c.want[0].Reason != "failed" && !strings.Contains(c.want[0].Message, "compilation failed") {
					fmt.Fprintln(&out, "~"+v)
					writeCauses(&out, c.want)
				}
				play(t, rules, c)
			}
		case verb == "create" || strings.HasPrefix(verb, "update"):
			current = newCase(t, object, line)
		}
	}
	finish()
	require.NoError(t, in.Err())
	if live {
		require.NoError(t, os.WriteFile(file, out.Bytes(), 0o644))
	}
}

func writeCauses(out *bytes.Buffer, causes []recorded.Cause) {
	for _, c := range causes {
		fmt.Fprintf(out, "\t%s\t%s\t%s\n", strings.TrimPrefix(c.Reason, "FieldValue"), c.Field, strconv.Quote(c.Message))
	}
}

// short abbreviates a long message: its beginning and a hash of the whole.
func short(message string) string {
	const limit = 120
	if len(message) <= limit {
		return message
	}
	h := fnv.New64a()
	h.Write([]byte(message))
	return fmt.Sprintf("%s ... %x", strings.ToValidUTF8(message[:limit-30], ""), h.Sum64())
}

func newCase(t *testing.T, object any, line string) *testCase {
	verb, rest, _ := strings.Cut(line, " ")
	c := &testCase{line: line}
	if verb == "create" {
		c.obj = encode(t, edit(t, object, rest))
		return c
	}
	_, c.sub, _ = strings.Cut(verb, "/")
	before, after, ok := strings.Cut(rest, "=>")
	if !ok {
		before, after = "", rest
	}
	c.old, c.obj = encode(t, edit(t, object, before)), encode(t, edit(t, object, after))
	return c
}

func parseCause(t *testing.T, line string) recorded.Cause {
	parts := strings.SplitN(line, "\t", 3)
	require.Len(t, parts, 3, line)
	message, err := strconv.Unquote(parts[2])
	require.NoError(t, err, line)
	return recorded.Cause{Reason: parts[0], Field: parts[1], Message: message}
}

func encode(t *testing.T, tree any) json.RawMessage {
	body, err := json.Marshal(tree)
	require.NoError(t, err)
	return body
}

func ask(t *testing.T, server *recorded.Server, c *testCase) []recorded.Cause {
	q := recorded.Question{Op: "create", Object: c.obj, Old: c.old, Subresource: c.sub}
	if c.old != nil {
		q.Op = "update"
	}
	answer := server.Ask(t, q)
	if answer.Failed != "" {
		return []recorded.Cause{{Reason: "failed", Message: answer.Failed}}
	}
	// Without a server nobody knows whether the user may read the parameters of an admission policy.
	answer.Errors = slices.DeleteFunc(answer.Errors, func(c recorded.Cause) bool { return strings.HasSuffix(c.Message, "resourceResolver is nil") })
	for i := range answer.Errors {
		answer.Errors[i].Message = short(answer.Errors[i].Message)
		answer.Errors[i].Reason = strings.TrimPrefix(answer.Errors[i].Reason, "FieldValue")
	}
	return answer.Errors
}

// play compares our errors with the recorded ones. Upstream's order of errors about entries of a map is random, so only the
// errors of equal fields must be in order.
func play(t *testing.T, rules *validation.Rules, c *testCase) {
	if slices.ContainsFunc(c.want, func(c recorded.Cause) bool {
		return c.Reason == "failed" || strings.Contains(c.Message, "compilation failed")
	}) {
		return // the body is not decoded, upstream panics, or CEL has something to say
	}
	// Upstream checks metadata up to four times in an update; the root module does so once.
	once := map[recorded.Cause]bool{}
	again := func(c recorded.Cause) bool {
		defer func() { once[c] = true }()
		return strings.HasPrefix(c.Field, "metadata.") && once[c]
	}
	got := slices.DeleteFunc(validate(t, rules, c), again)
	clear(once)
	want := slices.DeleteFunc(slices.Clone(c.want), again)
	if !slices.Equal(got, want) {
		byField := func(a, b recorded.Cause) int { return strings.Compare(a.Field+a.Message, b.Field+b.Message) }
		slices.SortStableFunc(got, byField)
		slices.SortStableFunc(want, byField)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s\n want: %s\n got:  %s", c.line, text(want), text(got))
	}
}

func text(causes []recorded.Cause) string {
	var lines []string
	for _, c := range causes {
		lines = append(lines, fmt.Sprintf("%s %s %q", c.Reason, c.Field, c.Message))
	}
	return strings.Join(lines, "\n       ")
}

// validate does what the store does with an object: defaults, the rules of metadata, the rules of the kind.
func validate(t *testing.T, rules *validation.Rules, c *testCase) (causes []recorded.Cause) {
	d := defaults.New(func() time.Time { return time.Unix(0, 0) })
	decode := func(body []byte) runtime.Object {
		obj := recorded.Decode(t, body)
		d.Default(obj)
		if h, ok := obj.(*autoscalingv1.HorizontalPodAutoscaler); ok {
			return storedAutoscaler(h)
		}
		return obj
	}
	obj := decode(c.obj)
	m, err := meta.Accessor(obj)
	require.NoError(t, err)
	prepare(obj, c)
	var old runtime.Object
	rule := validation.NameRule(obj.GetObjectKind().GroupVersionKind())
	list := apivalidation.ValidateObjectMetaAccessor(m, m.GetNamespace() != "", rule, field.NewPath("metadata"))
	if c.old != nil {
		old = decode(c.old)
		was, err := meta.Accessor(old)
		require.NoError(t, err)
		list = updateMeta(m, was)
	}
	for _, err := range append(list, rules.Validate(c.sub, obj, old)...) {
		causes = append(causes, recorded.Cause{
			Reason: strings.TrimPrefix(string(err.Type), "FieldValue"), Field: err.Field, Message: short(err.ErrorBody()),
		})
	}
	return causes
}

// storedAutoscaler returns an autoscaler of v1, whose annotations hold nothing, in the form that is validated.
func storedAutoscaler(h *autoscalingv1.HorizontalPodAutoscaler) *autoscalingv2.HorizontalPodAutoscaler {
	out := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: h.ObjectMeta, Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
		ScaleTargetRef: autoscalingv2.CrossVersionObjectReference(h.Spec.ScaleTargetRef), MinReplicas: h.Spec.MinReplicas, MaxReplicas: h.Spec.MaxReplicas,
	}}
	if cpu := h.Spec.TargetCPUUtilizationPercentage; cpu != nil {
		out.Spec.Metrics = []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
			Name: "cpu", Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: cpu},
		}}}
	}
	return out
}

// prepare does what upstream's strategies do, as far as validation depends on it: a Job gets its selector, a claim without an allocation has no devices.
func prepare(obj runtime.Object, c *testCase) {
	if claim, ok := obj.(*resourcev1.ResourceClaim); ok && c.sub == "status" && claim.Status.Allocation == nil {
		claim.Status.Devices = nil
	}
	if j, ok := obj.(*batchv1.Job); ok && c.old == nil {
		j.UID = "uid"
		if *j.Spec.ManualSelector {
			return
		}
		t, generated := &j.Spec.Template, map[string]string{"job-name": j.Name, "batch.kubernetes.io/job-name": j.Name, "controller-uid": "uid", "batch.kubernetes.io/controller-uid": "uid"}
		maps.Copy(generated, t.Labels)
		t.Labels = generated
		if j.Spec.Selector == nil {
			j.Spec.Selector = &metav1.LabelSelector{}
		}
		selector := map[string]string{"batch.kubernetes.io/controller-uid": "uid"}
		maps.Copy(selector, j.Spec.Selector.MatchLabels)
		j.Spec.Selector.MatchLabels = selector
	}
}

func updateMeta(m, was metav1.Object) field.ErrorList {
	for _, o := range []metav1.Object{m, was} {
		o.SetResourceVersion("1")
		o.SetUID("uid")
	}
	return apivalidation.ValidateObjectMetaAccessorUpdate(m, was, field.NewPath("metadata"))
}

// edit returns the tree with the changes of EDITS.
func edit(t *testing.T, tree any, edits string) any {
	var copied any
	require.NoError(t, json.Unmarshal(encode(t, tree), &copied))
	for one := range strings.SplitSeq(edits, " ; ") {
		one = strings.TrimSpace(one)
		if one == "" {
			continue
		}
		if path, ok := strings.CutPrefix(one, "-"); ok {
			copied = set(t, copied, split(path), nil, true)
			continue
		}
		path, value, ok := strings.Cut(one, "=")
		require.True(t, ok, one)
		var v any
		require.NoError(t, json.Unmarshal([]byte(value), &v), one)
		copied = set(t, copied, split(path), v, false)
	}
	return copied
}

// split returns the parts of a path: a.b[0]["c.d"].
func split(path string) (parts []string) {
	for path != "" {
		switch {
		case strings.HasPrefix(path, `["`):
			end := strings.Index(path, `"]`)
			parts, path = append(parts, path[2:end]), path[end+2:]
		case path[0] == '[':
			end := strings.IndexByte(path, ']')
			parts, path = append(parts, path[:end+1]), path[end+1:]
		default:
			path = strings.TrimPrefix(path, ".")
			end := strings.IndexAny(path, ".[")
			if end < 0 {
				end = len(path)
			}
			parts, path = append(parts, path[:end]), path[end:]
		}
	}
	return parts
}

func set(t *testing.T, tree any, parts []string, value any, remove bool) any {
	if len(parts) == 0 {
		return value
	}
	if index, ok := strings.CutPrefix(parts[0], "["); ok {
		list, _ := tree.([]any)
		i, err := strconv.Atoi(strings.TrimSuffix(index, "]"))
		require.NoError(t, err)
		if i >= len(list) {
			list = append(list, make([]any, i+1-len(list))...)
		}
		if remove && len(parts) == 1 {
			return slices.Delete(list, i, i+1)
		}
		list[i] = set(t, list[i], parts[1:], value, remove)
		return list
	}
	m, _ := tree.(map[string]any)
	if m == nil {
		m = map[string]any{}
	}
	if remove && len(parts) == 1 {
		delete(m, parts[0])
		return m
	}
	m[parts[0]] = set(t, m[parts[0]], parts[1:], value, remove)
	return m
}

// vary returns cases with a mistake at every place of the object: what is there is missing, empty, too small, too large, of
// another form, or there twice. verbs are the verbs of the lines, separated by spaces; none means create.
func vary(object any, verbs string) (lines []string) {
	if verbs == "" {
		verbs = "create"
	}
	root := object.(map[string]any)
	for verb := range strings.FieldsSeq(verbs) {
		for _, key := range slices.Sorted(maps.Keys(root)) {
			if key == "apiVersion" || key == "kind" || key == "metadata" {
				continue
			}
			varyAt(key, root[key], func(edits string) { lines = append(lines, verb+" "+edits) })
		}
	}
	return lines
}

// rare reports whether a mistake is compared with the program, but not recorded: another one there gives much the same errors.
func rare(line string) bool {
	return slices.ContainsFunc([]string{`"../x"`, `"x"`, "=1", "=0", "=2147483647"}, func(end string) bool { return strings.HasSuffix(line, end) }) ||
		strings.HasPrefix(line, "update") && strings.HasSuffix(line, "a"+`"`)
}

func varyAt(path string, value any, add func(string)) {
	add("-" + path)
	switch v := value.(type) {
	case map[string]any:
		add(path + "={}")
		for _, key := range slices.Sorted(maps.Keys(v)) {
			child := path + "." + key
			if strings.ContainsAny(key, ".[/") {
				child = path + `["` + key + `"]`
			}
			varyAt(child, v[key], add)
		}
	case []any:
		add(path + "=[]")
		for i, item := range v {
			varyAt(fmt.Sprintf("%s[%d]", path, i), item, add)
		}
		if len(v) > 0 {
			twice, _ := json.Marshal(append(slices.Clone(v), v[0]))
			add(path + "=" + string(twice))
		}
	case string:
		if strings.HasSuffix(path, "xpression") { // CEL
			add(path + `=""`)
			return
		}
		for _, other := range []string{`""`, `"Bad Value!"`, `"../x"`, `"` + strings.Repeat("a", 70) + `"`, `"x"`} {
			add(path + "=" + other)
		}
	case float64:
		for _, other := range []string{"-1", "0", "1", "70000", "2147483647"} {
			add(path + "=" + other)
		}
	case bool:
		add(path + "=" + strconv.FormatBool(!v))
	}
}
