package scheme

import (
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store"
)

// at returns the value of a member in a tree, or nil.
func at(o kinds.Object, path ...string) any {
	var v any = o.(*store.Unstructured).Content
	for _, name := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[name]
	}
	return v
}

// text returns the value of a member that is a string, "" if it is not set.
func text(path ...string) func(kinds.Object) string {
	return func(o kinds.Object) string {
		s, _ := at(o, path...).(string)
		return s
	}
}

// number returns the value of a member that is a number, "0" if it is not set.
func number(path ...string) func(kinds.Object) string {
	return func(o kinds.Object) string {
		n, _ := at(o, path...).(int64)
		return fmt.Sprint(n)
	}
}

// truth returns the value of a member that is a boolean, "false" if it is not set.
func truth(path ...string) func(kinds.Object) string {
	return func(o kinds.Object) string {
		b, _ := at(o, path...).(bool)
		return fmt.Sprint(b)
	}
}

// fields returns the selectable fields that are strings.
func fields(paths ...string) (out []kinds.SelectableField) {
	for _, path := range paths {
		out = append(out, kinds.SelectableField{Path: path, Value: text(strings.Split(path, ".")...)})
	}
	return out
}

func boolField(path string) kinds.SelectableField {
	return kinds.SelectableField{Path: path, Value: truth(strings.Split(path, ".")...)}
}

func intField(path string) kinds.SelectableField {
	return kinds.SelectableField{Path: path, Value: number(strings.Split(path, ".")...)}
}

// podFields are the fields of pods. status.podIPs is accepted, but no pod has a value of it; status.podIP is the first of
// podIPs (upstream: registry/core/pod, ToSelectableFields).
func podFields() []kinds.SelectableField {
	firstIP := func(o kinds.Object) string {
		ips, _ := at(o, "status", "podIPs").([]any)
		if len(ips) == 0 {
			return ""
		}
		first, _ := ips[0].(map[string]any)
		ip, _ := first["ip"].(string)
		return ip
	}
	return append(fields("spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "status.phase", "status.nominatedNodeName"),
		boolField("spec.hostNetwork"),
		kinds.SelectableField{Path: "spec.host", Value: text("spec", "nodeName")},
		kinds.SelectableField{Path: "status.podIP", Value: firstIP},
		kinds.SelectableField{Path: "status.podIPs", Value: func(kinds.Object) string { return "" }})
}

// eventFields are the fields of events of the core group. The source of an event without one is its reportingComponent.
func eventFields() []kinds.SelectableField {
	return append(fields("involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid", "involvedObject.apiVersion",
		"involvedObject.resourceVersion", "involvedObject.fieldPath", "reason", "reportingComponent", "type"),
		kinds.SelectableField{Path: "source", Value: func(o kinds.Object) string {
			if component := text("source", "component")(o); component != "" {
				return component
			}
			return text("reportingComponent")(o)
		}})
}

// groupEventFields are the fields of events of the group events.k8s.io. Stored events have the names of the core group.
func groupEventFields() (all []kinds.SelectableField) {
	all = []kinds.SelectableField{{Path: "reportingController", Value: text("reportingComponent")}}
	for _, f := range fields("reason", "type", "involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
		"involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath") {
		f.Path = strings.Replace(f.Path, "involvedObject.", "regarding.", 1)
		all = append(all, f)
	}
	return all
}

// Parts of the metadata that count a generation.
const (
	labels      = "metadata.labels"
	annotations = "metadata.annotations"
)

// counter returns the function that reports whether one of the members differs.
func counter(members []string) func(o, old kinds.Object) bool {
	return func(o, old kinds.Object) bool {
		for _, name := range members {
			var now, before any
			switch m, oldMeta := o.GetObjectMeta(), old.GetObjectMeta(); name {
			case labels:
				now, before = m.Labels, oldMeta.Labels
			case annotations:
				now, before = m.Annotations, oldMeta.Annotations
			default:
				now, before = at(o, name), at(old, name)
			}
			if !reflect.DeepEqual(now, before) && !(isEmpty(now) && isEmpty(before)) {
				return true
			}
		}
		return false
	}
}

// isEmpty reports whether a value is nil or has no items, which upstream's comparison does not distinguish.
func isEmpty(v any) bool {
	switch v := reflect.ValueOf(v); v.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Map, reflect.Slice:
		return v.Len() == 0
	}
	return false
}

// anyName is the name rule of a kind whose names need only be path segments, which all names must be.
func anyName(string, bool) []string { return nil }

// nameIsIP is the name rule of IPAddress.
func nameIsIP(name string, _ bool) (problems []string) {
	for _, err := range validation.IsValidIP(&field.Path{}, name) {
		problems = append(problems, err.Detail)
	}
	return problems
}
