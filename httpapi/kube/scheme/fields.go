package scheme

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// text returns the value of a member that is a string, "" if it is not set.
func text(path ...string) func(meta.Object) string {
	return func(o meta.Object) string {
		s, _ := at(o, path...).(string)
		return s
	}
}

// number returns the value of a member that is a number, "0" if it is not set.
func number(path ...string) func(meta.Object) string {
	return func(o meta.Object) string {
		n, _ := at(o, path...).(int64)
		return fmt.Sprint(n)
	}
}

// truth returns the value of a member that is a boolean, "false" if it is not set.
func truth(path ...string) func(meta.Object) string {
	return func(o meta.Object) string {
		b, _ := at(o, path...).(bool)
		return fmt.Sprint(b)
	}
}

// fields returns the selectable fields that are strings.
func fields(paths ...string) (out []kind.SelectableField[meta.Object]) {
	for _, path := range paths {
		out = append(out, kind.SelectableField[meta.Object]{Path: path, Value: text(strings.Split(path, ".")...)})
	}
	return out
}

func boolField(path string) kind.SelectableField[meta.Object] {
	return kind.SelectableField[meta.Object]{Path: path, Value: truth(strings.Split(path, ".")...)}
}

func intField(path string) kind.SelectableField[meta.Object] {
	return kind.SelectableField[meta.Object]{Path: path, Value: number(strings.Split(path, ".")...)}
}

// podFields are the fields of pods. status.podIPs is accepted, but no pod has a value of it; status.podIP is the first of
// podIPs (upstream: registry/core/pod, ToSelectableFields).
func podFields() []kind.SelectableField[meta.Object] {
	firstIP := func(o meta.Object) string {
		if ips := value[corev1.Pod](o).Status.PodIPs; len(ips) > 0 {
			return ips[0].IP
		}
		return ""
	}
	return append(fields("spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "status.phase", "status.nominatedNodeName"),
		boolField("spec.hostNetwork"),
		kind.SelectableField[meta.Object]{Path: "spec.host", Value: text("spec", "nodeName")},
		kind.SelectableField[meta.Object]{Path: "status.podIP", Value: firstIP},
		kind.SelectableField[meta.Object]{Path: "status.podIPs", Value: func(meta.Object) string { return "" }})
}

// eventFields are the fields of events of the core group. The source of an event without one is its reportingComponent.
func eventFields() []kind.SelectableField[meta.Object] {
	return append(fields("involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid", "involvedObject.apiVersion",
		"involvedObject.resourceVersion", "involvedObject.fieldPath", "reason", "reportingComponent", "type"),
		kind.SelectableField[meta.Object]{Path: "source", Value: func(o meta.Object) string {
			if component := text("source", "component")(o); component != "" {
				return component
			}
			return text("reportingComponent")(o)
		}})
}

// groupEventFields are the fields of events of the group events.k8s.io. Stored events have the names of the core group.
func groupEventFields() (all []kind.SelectableField[meta.Object]) {
	all = []kind.SelectableField[meta.Object]{{Path: "reportingController", Value: text("reportingComponent")}}
	for _, f := range fields("reason", "type", "involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
		"involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath") {
		f.Path = strings.Replace(f.Path, "involvedObject.", "regarding.", 1)
		all = append(all, f)
	}
	return all
}

// Members that count a generation in their own way.
const (
	labels      = "metadata.labels"
	annotations = "metadata.annotations"
	webhooks    = "webhooks"
)

// counter returns the function that reports whether one of the members differs.
func (t *objectType) counter(members []string) func(o, old meta.Object) bool {
	return func(o, old meta.Object) bool {
		m, before := o.GetObjectMeta(), old.GetObjectMeta()
		return slices.ContainsFunc(members, func(name string) bool {
			switch name {
			case labels:
				return !maps.Equal(m.Labels, before.Labels)
			case annotations:
				return !maps.Equal(m.Annotations, before.Annotations)
			case webhooks: // upstream compares them with package reflect, to which an empty list is another one than none
				have, had := reflect.ValueOf(valueOf(o)).Elem(), reflect.ValueOf(valueOf(old)).Elem()
				return !reflect.DeepEqual(have.FieldByName("Webhooks").Interface(), had.FieldByName("Webhooks").Interface())
			}
			return !t.typ.EqualMember(o, old, name)
		})
	}
}

// anyName is the name rule of a kind whose names need only be path segments, which all names must be.
func anyName(string, bool) []string { return nil }

// nameIsDeclared is the name rule of kinds whose names are declared to be DNS subdomains (package declared).
func nameIsDeclared(name string, prefix bool) []string {
	if prefix {
		return kind.DNSSubdomainName(name, prefix)
	}
	return nil
}

// nameIsIP is the name rule of IPAddress.
func nameIsIP(name string, _ bool) (problems []string) {
	for _, err := range validation.IsValidIP(&field.Path{}, name) {
		problems = append(problems, err.Detail)
	}
	return problems
}
