package managedfields

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/store/meta"
)

// change is the effect of a write on an object. It is computed for each version in
// which fields are owned.
type change struct {
	before, after document
	// hadManagedFields reports whether before had managedFields. If so, they count
	// as removed: upstream's comparison sees an update remove them.
	hadManagedFields bool
	seen             []versionedComparison
}

type versionedComparison struct {
	apiVersion string
	comparison
}

func (c *change) inVersion(apiVersion string) (comparison, error) {
	for i := range c.seen {
		if c.seen[i].apiVersion == apiVersion {
			return c.seen[i].comparison, nil
		}
	}
	before, err := c.before.inVersion(apiVersion)
	if err != nil {
		return comparison{}, fmt.Errorf("failed to convert old object: %w", err)
	}
	after, err := c.after.inVersion(apiVersion)
	if err != nil {
		return comparison{}, fmt.Errorf("failed to convert new object: %w", err)
	}
	found, err := before.schema().compare(before.value(), after.value())
	if err != nil {
		return comparison{}, err
	}
	if c.hadManagedFields {
		found.removed = union(found.removed, fieldAt([]string{"metadata", "managedFields"}))
	}
	writer := c.before.kind.Versions[c.before.version].APIVersion
	found.gained = c.before.kind.changeable(found.gained, apiVersion, writer)
	found.removed = c.before.kind.changeable(found.removed, apiVersion, writer)
	c.seen = append(c.seen, versionedComparison{apiVersion, found})
	return found, nil
}

// takeFromOthers removes the fields that were gained or removed from the sets of
// all managers except the writer. Managers without fields are dropped.
func (c *change) takeFromOthers(os owners, writer identity) (owners, error) {
	out := make(owners, 0, len(os)+1)
	for _, o := range os {
		if o.identity != writer {
			in, err := c.inVersion(o.version)
			if err != nil {
				return nil, err
			}
			o.fields = difference(difference(o.fields, in.gained), in.removed)
		}
		if o.fields != nil {
			out = append(out, o)
		}
	}
	return out, nil
}

// maxConflictText is how many bytes of text the paths of conflicts have. Deep fields have long
// paths, so the paths of all fields could take the square of the size of an object.
const maxConflictText = 1 << 20

// conflicts returns the fields that the change would take from managers other than
// the writer. Those after maxConflictText bytes of text have no path.
func (c *change) conflicts(os owners, writer identity) (conflicts, error) {
	var found conflicts
	size := 0
	for _, o := range os {
		if o.identity == writer {
			continue
		}
		in, err := c.inVersion(o.version)
		if err != nil {
			return nil, err
		}
		intersection(o.fields, in.gained).walk(func(path []step) {
			lost := conflict{owner: o.identity}
			if size < maxConflictText {
				lost.path = slices.Clone(path)
				size += len(pathText(path))
			}
			found = append(found, lost)
		})
	}
	return found, nil
}

// recordable returns a set of an object's fields without the fields that are never
// recorded.
func recordable(fields *set) *set {
	return fields.mapNodes(func(n node) node {
		switch n.step {
		case member("apiVersion"), member("kind"):
			n.member = false
		case member("metadata"):
			n.member, n.sub = false, recordableMetadata(n.sub)
		}
		return n
	})
}

func recordableMetadata(fields *set) *set {
	return fields.mapNodes(func(n node) node {
		n.member = n.member && !(n.step.kind == memberStep && isSystemMember(n.step.name))
		return n
	})
}

func isMetadata(path []string) bool { return len(path) == 1 && path[0] == "metadata" }

// isSystemField reports whether a path leads to a system field in the metadata.
func isSystemField(path []string) bool {
	return len(path) == 2 && path[0] == "metadata" && isSystemMember(path[1])
}

// isSystemMember reports whether a member of the metadata is never recorded.
func isSystemMember(name string) bool {
	switch name {
	case "name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName", "generation", "managedFields", "resourceVersion":
		return true
	}
	return false
}

// conflict is a field that an apply would take from another manager.
type conflict struct {
	owner identity
	path  []step // nil if it is not shown
}

// conflicts are an error inside this package. status returns the error of the API.
type conflicts []conflict

// status returns the 409 for the conflicts, sorted by manager.
func (cs conflicts) status() *meta.StatusError {
	cs = slices.Clone(cs)
	slices.SortStableFunc(cs, func(a, b conflict) int { return strings.Compare(a.owner.order(), b.owner.order()) })
	var causes []meta.StatusCause
	for _, c := range cs {
		if c.path == nil {
			continue
		}
		causes = append(causes, meta.StatusCause{
			Type: "FieldManagerConflict", Message: "conflict with " + c.owner.String(), Field: pathText(c.path),
		})
	}
	return meta.NewStatusError(http.StatusConflict, meta.ReasonConflict, &meta.StatusDetails{Causes: causes}, cs.Error())
}

// Error returns the text of the error. The conflicts of each manager must be
// adjacent.
func (cs conflicts) Error() string {
	if len(cs) == 1 {
		return fmt.Sprintf("Apply failed with 1 conflict: conflict with %s: %s", cs[0].owner, pathText(cs[0].path))
	}
	var lines []string
	for i, c := range cs {
		if c.path == nil {
			continue
		}
		if i == 0 || cs[i-1].owner != c.owner {
			lines = append(lines, fmt.Sprintf("conflicts with %s:", c.owner))
		}
		lines = append(lines, "- "+pathText(c.path))
	}
	return fmt.Sprintf("Apply failed with %d conflicts: %s", len(cs), strings.Join(lines, "\n"))
}
