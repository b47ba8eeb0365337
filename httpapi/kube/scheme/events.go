package scheme

import (
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Event is served in the core group and in events.k8s.io. Both have one collection, whose objects have the form of the core
// group (upstream: apis/events/v1/conversion.go).

// alias returns the core group's kind in another group. t is the type of its stored version.
func (b *builder) alias(r served, t *objectType) (kind.Alias[meta.Object], error) {
	own, v, err := b.version(schema.GroupVersionKind{Group: r.group, Version: r.version, Kind: r.kind})
	if err != nil {
		return kind.Alias[meta.Object]{}, err
	}
	v.Form.New = own.new
	toGroup := func(o meta.Object) meta.Object { return converted(own, o, eventToGroup) }
	v.Form.Convert = kind.ConvertBy(toGroup, func(o meta.Object) meta.Object {
		b.setDefaults(o)
		return converted(t, o, eventFromGroup)
	})
	validate := b.validator(r, "")
	v.Validate = func(o, old meta.Object) field.Errors {
		if old != nil {
			old = toGroup(old)
		}
		return validate(toGroup(o), old)
	}
	return kind.Alias[meta.Object]{Group: r.group, Version: v, ValidateName: r.name, SelectableFields: r.fields}, nil
}

func eventToGroup(in *corev1.Event, out *eventsv1.Event) {
	out.EventTime, out.ReportingController, out.ReportingInstance = in.EventTime, in.ReportingController, in.ReportingInstance
	out.Action, out.Reason, out.Type, out.Note = in.Action, in.Reason, in.Type, in.Message
	out.Regarding, out.Related = in.InvolvedObject, in.Related
	out.DeprecatedSource, out.DeprecatedCount = in.Source, in.Count
	out.DeprecatedFirstTimestamp, out.DeprecatedLastTimestamp = in.FirstTimestamp, in.LastTimestamp
	if s := in.Series; s != nil {
		out.Series = &eventsv1.EventSeries{Count: s.Count, LastObservedTime: s.LastObservedTime}
	}
}

func eventFromGroup(in *eventsv1.Event, out *corev1.Event) {
	out.EventTime, out.ReportingController, out.ReportingInstance = in.EventTime, in.ReportingController, in.ReportingInstance
	out.Action, out.Reason, out.Type, out.Message = in.Action, in.Reason, in.Type, in.Note
	out.InvolvedObject, out.Related = in.Regarding, in.Related
	out.Source, out.Count = in.DeprecatedSource, in.DeprecatedCount
	out.FirstTimestamp, out.LastTimestamp = in.DeprecatedFirstTimestamp, in.DeprecatedLastTimestamp
	if s := in.Series; s != nil {
		out.Series = &corev1.EventSeries{Count: s.Count, LastObservedTime: s.LastObservedTime}
	}
}
