package managedfields

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/store/meta"
)

// conflict is a field that an apply would take from another manager.
type conflict struct {
	owner identity
	path  []step
}

// conflicts are an error inside the package; outside it is what status
// returns.
type conflicts []conflict

func (cs conflicts) Error() string { return cs.message() }

// status returns the 409 for the conflicts, managers in order.
func (cs conflicts) status() *meta.StatusError {
	cs = slices.Clone(cs)
	slices.SortStableFunc(cs, func(a, b conflict) int { return strings.Compare(a.owner.order(), b.owner.order()) })
	var causes []meta.StatusCause
	for _, c := range cs {
		causes = append(causes, meta.StatusCause{
			Type: "FieldManagerConflict", Message: "conflict with " + c.owner.String(), Field: pathText(c.path),
		})
	}
	return meta.NewStatusError(http.StatusConflict, meta.ReasonConflict, &meta.StatusDetails{Causes: causes}, cs.message())
}

// message expects the conflicts of each manager together.
func (cs conflicts) message() string {
	if len(cs) == 1 {
		return fmt.Sprintf("Apply failed with 1 conflict: conflict with %s: %s", cs[0].owner, pathText(cs[0].path))
	}
	var lines []string
	for i, c := range cs {
		if i == 0 || cs[i-1].owner != c.owner {
			lines = append(lines, fmt.Sprintf("conflicts with %s:", c.owner))
		}
		lines = append(lines, "- "+pathText(c.path))
	}
	return fmt.Sprintf("Apply failed with %d conflicts: %s", len(cs), strings.Join(lines, "\n"))
}
