package kind

import (
	"fmt"
	"time"

	"github.com/kubecoord/kubecoord/store/meta"
)

// Table is how a list is shown to kubectl get (API concepts, "Receiving resources as Tables").
type Table[P any] struct {
	// Columns are the columns.
	Columns []Column[P]
	// Cells returns all cells of a row, in place of the functions of Columns.
	Cells func(obj P, now time.Time) []any
	// Conditions returns the conditions of a row (TableRow.conditions), as values that encoding/json can encode. Nil: none.
	Conditions func(obj P) []any
}

// Column is one column of a Table (API reference, "TableColumnDefinition").
type Column[P any] struct {
	Name        string `json:"name"`
	Type        string `json:"type"`   // an OpenAPI type, such as "string"
	Format      string `json:"format"` // "name" for the column that identifies the row
	Description string `json:"description"`
	Priority    int32  `json:"priority"` // 0 is always shown
	// Cell renders the column; now is the server's time.
	Cell func(obj P, now time.Time) any `json:"-"`
}

// NameColumn is the first column of most kinds: the name of the object.
func NameColumn[P any]() Column[P] {
	return Column[P]{
		Name: "Name", Type: "string", Format: "name",
		Description: "Name of the object, unique in its namespace for one kind.",
		Cell:        func(obj P, _ time.Time) any { return any(obj).(meta.Object).GetObjectMeta().Name },
	}
}

// AgeColumn is the last column of most kinds: the time since the object was created, as kubectl prints it.
func AgeColumn[P any]() Column[P] {
	return Column[P]{
		Name: "Age", Type: "string",
		Description: "Time since the server created the object.",
		Cell: func(obj P, now time.Time) any {
			created := any(obj).(meta.Object).GetObjectMeta().CreationTimestamp
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
