package store

import (
	"fmt"
	"time"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/validate"
)

// NameColumn is the first column of most kinds: the name of the object.
func NameColumn[T any]() Column[T] {
	return Column[T]{
		Name: "Name", Type: "string", Format: "name",
		Description: "Name of the object, unique in its namespace for one kind.",
		Cell:        func(obj *T, _ time.Time) any { return any(obj).(kinds.Object).GetObjectMeta().Name },
	}
}

// AgeColumn is the last column of most kinds: the time since the object was created, as kubectl prints it.
func AgeColumn[T any]() Column[T] {
	return Column[T]{
		Name: "Age", Type: "string",
		Description: "Time since the server created the object.",
		Cell: func(obj *T, now time.Time) any {
			created := any(obj).(kinds.Object).GetObjectMeta().CreationTimestamp
			if created.IsZero() {
				return "<unknown>"
			}
			return age(now.Sub(created.Time))
		},
	}
}

// age prints a duration with one or two units (upstream: apimachinery, util/duration).
func age(d time.Duration) string {
	const day = 24 * time.Hour
	const year = 365 * day
	two := func(big, small time.Duration, bigUnit, smallUnit string) string {
		if rest := d % big / small; rest > 0 {
			return fmt.Sprintf("%d%s%d%s", d/big, bigUnit, rest, smallUnit)
		}
		return fmt.Sprintf("%d%s", d/big, bigUnit)
	}
	switch {
	case d <= -2*time.Second:
		return "<invalid>"
	case d < 0:
		return "0s"
	case d < 2*time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < 10*time.Minute:
		return two(time.Minute, time.Second, "m", "s")
	case d < 3*time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 8*time.Hour:
		return two(time.Hour, time.Minute, "h", "m")
	case d < 2*day:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d < 8*day:
		return two(day, time.Hour, "d", "h")
	case d < 2*year:
		return fmt.Sprintf("%dd", d/day)
	case d < 8*year:
		return two(year, day, "y", "d")
	}
	return fmt.Sprintf("%dy", d/year)
}

// DNSSubdomainName is a rule for Descriptor.ValidateName, and its default: at most 253 bytes of lower case letters,
// digits, '-' and '.', with a letter or digit at both ends (RFC 1123). It returns the problems of a name, or of a
// prefix, which may end in '-'.
func DNSSubdomainName(name string, prefix bool) []string {
	return validate.NameIsDNSSubdomain(name, prefix)
}

// DNSLabelName is a rule for Descriptor.ValidateName: at most 63 bytes of lower case letters, digits and '-', with a
// letter or digit at both ends (RFC 1123).
func DNSLabelName(name string, prefix bool) []string {
	return validate.NameIsDNSLabel(name, prefix)
}

// ConfigKeyName is a rule for Descriptor.ValidateName, which LeaseCandidates use: at most 253 bytes of letters, digits,
// '-', '_' and '.', but not "." and nothing that begins with "..".
func ConfigKeyName(name string, prefix bool) []string {
	return validate.NameIsConfigMapKey(name, prefix)
}
