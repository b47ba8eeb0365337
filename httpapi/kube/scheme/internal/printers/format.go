package printers

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// The words for absent values.
const (
	none    = "<none>"
	unset   = "<unset>"
	unknown = "<unknown>"
)

// clock is the time that ages are relative to.
type clock time.Time

// since returns the time from t to c as kubectl prints it.
func (c clock) since(t time.Time) string {
	if t.IsZero() {
		return unknown
	}
	return duration.HumanDuration(time.Time(c).Sub(t))
}

func (c clock) age(o metav1.Object) string { return c.since(o.GetCreationTimestamp().Time) }

// deref returns the value of a pointer, or its type's zero value.
func deref[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

// or returns the value of a pointer, or a word if it is nil.
func or[T ~string](p *T, word string) string {
	if p == nil {
		return word
	}
	return string(*p)
}

// orWord returns s, or a word if s is "".
func orWord(s, word string) string {
	if s == "" {
		return word
	}
	return s
}

func join(list []string) string { return strings.Join(list, ",") }

func fraction(n, of int32) string { return fmt.Sprintf("%d/%d", n, of) }

// containers returns the names and the images of the containers of a pod template.
func containers(spec corev1.PodSpec) (names, images string) {
	var n, i []string
	for _, c := range spec.Containers {
		n, i = append(n, c.Name), append(i, c.Image)
	}
	return join(n), join(i)
}

func formatLabels(l map[string]string) string { return labels.FormatLabels(l) }

func formatSelector(s *metav1.LabelSelector) string { return metav1.FormatLabelSelector(s) }

func intOrNotAvailable(v *intstr.IntOrString) string {
	if v == nil {
		return "N/A"
	}
	return v.String()
}

// atMost returns the first items, separated by commas, and how many more there are.
func atMost(items []string, limit int) string {
	if len(items) <= limit {
		return join(items)
	}
	return more(items[:limit], len(items)-limit)
}

func more(items []string, n int) string { return fmt.Sprintf("%s + %d more...", join(items), n) }
