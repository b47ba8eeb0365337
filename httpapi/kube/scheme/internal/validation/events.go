package validation

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// coreEvent checks an Event of the group "". Upstream lets it change in any way.
func coreEvent(e *errs, o *corev1.Event) {
	eventNamespace(e, o.Namespace, o.InvolvedObject.Namespace, o.EventTime)
	if !o.EventTime.IsZero() {
		newStyle(e, "reportingComponent", o.ReportingController, o.ReportingInstance, o.Action, o.Reason, o.Message)
	}
	e.invalids(field.NewPath("namespace"), o.Namespace, validation.IsDNS1123Subdomain(o.Namespace))
}

// eventNamespace checks the namespace of an event about an object of another one. Only an event with a time may be in kube-system.
func eventNamespace(e *errs, namespace, about string, at metav1.MicroTime) {
	other := metav1.NamespaceNone
	if !at.IsZero() {
		other = metav1.NamespaceSystem
	}
	if about == "" && namespace != metav1.NamespaceDefault && namespace != other || about != "" && at.IsZero() && namespace != about {
		e.invalid(field.NewPath("involvedObject", "namespace"), about, "does not match event.namespace")
	}
}

// newStyle checks what events have since there is events.k8s.io.
func newStyle(e *errs, controllerMember, controller, instance, action, reason, note string) {
	p := field.NewPath(controllerMember)
	e.present(p, controller)
	e.qualified(p, controller)
	for _, member := range []struct{ name, value string }{{"reportingInstance", instance}, {"action", action}, {"reason", reason}} {
		e.present(field.NewPath(member.name), member.value)
		if len(member.value) > 128 {
			e.invalid(field.NewPath(member.name), "", "can have at most 128 characters")
		}
	}
	if len(note) > 1024 {
		e.invalid(field.NewPath("message"), "", "can have at most 1024 characters")
	}
}

func validateEvents(e *errs, subresource string, obj, old runtime.Object) bool {
	o, ok := obj.(*eventsv1.Event)
	if !ok {
		return false
	}
	was := kindOf[eventsv1.Event](old)
	eventNamespace(e, o.Namespace, o.Regarding.Namespace, o.EventTime)
	if !o.EventTime.IsZero() {
		newStyle(e, "reportingController", o.ReportingController, o.ReportingInstance, o.Action, o.Reason, o.Note)
	}
	e.invalids(field.NewPath("namespace"), o.Namespace, validation.IsDNS1123Subdomain(o.Namespace))
	if was != nil {
		eventUpdate(e, o, was)
		return true
	}
	eventSeries(e, o.Series)
	if o.EventTime.IsZero() {
		e.required(field.NewPath("eventTime"), "")
	}
	if o.Type != corev1.EventTypeNormal && o.Type != corev1.EventTypeWarning {
		e.invalid(field.NewPath("type"), "", fmt.Sprintf("has invalid value: %v", o.Type))
	}
	for _, member := range []struct {
		name string
		set  bool
	}{
		{"firstTimestamp", !o.DeprecatedFirstTimestamp.IsZero()}, {"lastTimestamp", !o.DeprecatedLastTimestamp.IsZero()},
		{"count", o.DeprecatedCount != 0}, {"source", o.DeprecatedSource != corev1.EventSource{}},
	} {
		if member.set {
			e.invalid(field.NewPath(member.name), "", "needs to be unset")
		}
	}
	return true
}

func eventSeries(e *errs, s *eventsv1.EventSeries) {
	if s == nil {
		return
	}
	if s.Count < 2 {
		e.invalid(field.NewPath("series.count"), "", "should be at least 2")
	}
	if s.LastObservedTime.IsZero() {
		e.required(field.NewPath("series.lastObservedTime"), "")
	}
}

// eventUpdate checks that only the series of an event changes.
func eventUpdate(e *errs, o, was *eventsv1.Event) {
	if !apiequality.Semantic.DeepEqual(o.Series, was.Series) {
		eventSeries(e, o.Series)
	}
	frozenMember(e, field.NewPath("involvedObject"), o.Regarding, was.Regarding)
	e.immutable(field.NewPath("reason"), o.Reason, was.Reason)
	e.immutable(field.NewPath("message"), o.Note, was.Note)
	frozenMember(e, field.NewPath("source"), o.DeprecatedSource, was.DeprecatedSource)
	e.immutable(field.NewPath("firstTimestamp"), o.DeprecatedFirstTimestamp, was.DeprecatedFirstTimestamp)
	e.immutable(field.NewPath("lastTimestamp"), o.DeprecatedLastTimestamp, was.DeprecatedLastTimestamp)
	e.immutable(field.NewPath("count"), o.DeprecatedCount, was.DeprecatedCount)
	e.immutable(field.NewPath("reason"), o.Reason, was.Reason) // upstream does so twice
	e.immutable(field.NewPath("type"), o.Type, was.Type)
	if !o.EventTime.Truncate(time.Microsecond).Equal(was.EventTime.Truncate(time.Microsecond)) {
		e.immutable(field.NewPath("eventTime"), o.EventTime, was.EventTime)
	}
	e.immutable(field.NewPath("action"), o.Action, was.Action)
	frozenMember(e, field.NewPath("related"), o.Related, was.Related)
	e.immutable(field.NewPath("reportingController"), o.ReportingController, was.ReportingController)
	e.immutable(field.NewPath("reportingInstance"), o.ReportingInstance, was.ReportingInstance)
}
