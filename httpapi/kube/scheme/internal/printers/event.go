package printers

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
)

func eventCells(o *corev1.Event, c clock) []any {
	first := o.FirstTimestamp.Time
	if first.IsZero() {
		first = o.EventTime.Time
	}
	last, count := o.LastTimestamp.Time, o.Count
	if last.IsZero() {
		last = first
	}
	switch {
	case o.Series != nil:
		last, count = o.Series.LastObservedTime.Time, o.Series.Count
	case count == 0: // a single event of the new API
		count = 1
	}
	object := strings.ToLower(o.InvolvedObject.Kind)
	if o.InvolvedObject.Name != "" {
		object += "/" + o.InvolvedObject.Name
	}
	source := orWord(o.Source.Component, o.ReportingController)
	if instance := orWord(o.Source.Host, o.ReportingInstance); instance != "" {
		source += ", " + instance
	}
	return []any{
		c.since(last), o.Type, o.Reason, object, o.InvolvedObject.FieldPath, source, strings.TrimSpace(o.Message),
		c.since(first), int64(count), o.Name,
	}
}

// coreEvent returns an Event of the group events.k8s.io in the form of the core group.
func coreEvent(o *eventsv1.Event) *corev1.Event {
	e := &corev1.Event{
		ObjectMeta: o.ObjectMeta, InvolvedObject: o.Regarding, Reason: o.Reason, Message: o.Note, Source: o.DeprecatedSource,
		FirstTimestamp: o.DeprecatedFirstTimestamp, LastTimestamp: o.DeprecatedLastTimestamp, Count: o.DeprecatedCount,
		Type: o.Type, EventTime: o.EventTime, ReportingController: o.ReportingController, ReportingInstance: o.ReportingInstance,
	}
	if s := o.Series; s != nil {
		e.Series = &corev1.EventSeries{Count: s.Count, LastObservedTime: s.LastObservedTime}
	}
	return e
}
