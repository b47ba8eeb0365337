package managedfields

import (
	"fmt"
	"slices"
)

// change is what a write does to an object, seen in all versions that fields
// are owned in.
type change struct {
	before, after document
	// recordVanished tells that before had managedFields. To upstream a write
	// that is no apply takes them away.
	recordVanished bool
	seen           []versionedComparison
}

type versionedComparison struct {
	apiVersion string
	comparison
}

// in returns the change as it is in one version.
func (c *change) in(apiVersion string) (comparison, error) {
	for i := range c.seen {
		if c.seen[i].apiVersion == apiVersion {
			return c.seen[i].comparison, nil
		}
	}
	before, err := c.before.in(apiVersion)
	if err != nil {
		return comparison{}, fmt.Errorf("failed to convert old object: %w", err)
	}
	after, err := c.after.in(apiVersion)
	if err != nil {
		return comparison{}, fmt.Errorf("failed to convert new object: %w", err)
	}
	found, err := before.schema().compare(before.tree, after.tree)
	if err != nil {
		return comparison{}, err
	}
	if c.recordVanished {
		record := &set{}
		record.insert([]step{member("metadata"), member("managedFields")})
		found.removed = union(found.removed, record)
	}
	writer := c.before.kind.Versions[c.before.version].APIVersion
	found.gained = c.before.kind.changeable(found.gained, apiVersion, writer)
	found.removed = c.before.kind.changeable(found.removed, apiVersion, writer)
	c.seen = append(c.seen, versionedComparison{apiVersion, found})
	return found, nil
}

// settle takes from all managers but the writer what the change gives to the
// writer, or to nobody. Those who are left with nothing are dropped.
func (c *change) settle(os owners, writer identity) (owners, error) {
	out := make(owners, 0, len(os)+1)
	for _, o := range os {
		if o.identity != writer {
			in, err := c.in(o.version)
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

// conflicts returns what the change would take from managers other than the
// writer.
func (c *change) conflicts(os owners, writer identity) (conflicts, error) {
	var found conflicts
	for _, o := range os {
		if o.identity == writer {
			continue
		}
		in, err := c.in(o.version)
		if err != nil {
			return nil, err
		}
		intersection(o.fields, in.gained).walk(func(path []step) {
			found = append(found, conflict{o.identity, slices.Clone(path)})
		})
	}
	return found, nil
}

// ownable returns a set of an object's fields without those that are never
// recorded.
func ownable(fields *set) *set {
	if fields == nil {
		return nil
	}
	return fields.each(func(n node) node {
		switch n.step {
		case member("apiVersion"), member("kind"):
			n.member = false
		case member("metadata"):
			n.member, n.sub = false, ownableMetadata(n.sub)
		}
		return n
	})
}

func ownableMetadata(fields *set) *set {
	if fields == nil {
		return nil
	}
	return fields.each(func(n node) node {
		n.member = n.member && !(n.step.kind == memberStep && isSystemField(n.step.name))
		return n
	})
}

// isSystemField reports whether a member of the metadata is never recorded.
func isSystemField(name string) bool {
	switch name {
	case "name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName", "generation", "managedFields", "resourceVersion":
		return true
	}
	return false
}
