package crd

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
)

// This file has the names of definitions: the accepted names of a group are unique (upstream: controller/status,
// naming_controller.go).

// group has the names of the definitions of a group.
type group struct {
	resources, kinds map[string]int // how often a name is accepted
	waiting          map[string]*definition
	freed            bool // a name has become free that a waiting definition may want
}

func (c *controller) groupOf(name string) *group {
	g := c.groups[name]
	if g == nil {
		g = &group{resources: map[string]int{}, kinds: map[string]int{}, waiting: map[string]*definition{}}
		c.groups[name] = g
	}
	return g
}

// learn takes note of a newer state of a definition.
func (c *controller) learn(d *definition, crd *apiextensionsv1.CustomResourceDefinition) {
	g, before := c.groupOf(crd.Spec.Group), apiextensionsv1.CustomResourceDefinitionNames{}
	if d.crd != nil {
		before = d.crd.Status.AcceptedNames
	}
	d.crd = crd
	g.replace(before, crd.Status.AcceptedNames)
	delete(g.waiting, crd.Name)
	if !equality.Semantic.DeepEqual(crd.Spec.Names, crd.Status.AcceptedNames) {
		g.waiting[crd.Name] = d
	}
}

// freeNames frees the names of a definition that is gone.
func (c *controller) freeNames(d *definition) {
	g := c.groupOf(d.crd.Spec.Group)
	delete(g.waiting, d.crd.Name)
	g.replace(d.crd.Status.AcceptedNames, apiextensionsv1.CustomResourceDefinitionNames{})
}

// replace counts the accepted names of a definition in place of its names before.
func (g *group) replace(before, now apiextensionsv1.CustomResourceDefinitionNames) {
	if reflect.DeepEqual(before, now) {
		return
	}
	g.count(now, 1)
	g.count(before, -1)
}

// count adds to the counts of the names.
func (g *group) count(n apiextensionsv1.CustomResourceDefinitionNames, by int) {
	add := func(counts map[string]int, names ...string) {
		for _, name := range names {
			if name == "" {
				continue
			}
			if counts[name] += by; counts[name] == 0 {
				delete(counts, name)
				g.freed = true
			}
		}
	}
	add(g.resources, append([]string{n.Plural, n.Singular}, n.ShortNames...)...)
	add(g.kinds, n.Kind, n.ListKind)
}

// giveNames takes the next step for the definitions of a group that wait for a name, as long as names become free.
func (c *controller) giveNames(ctx context.Context, name string) {
	g := c.groupOf(name)
	for g.freed {
		g.freed = false
		for _, waits := range slices.Sorted(maps.Keys(g.waiting)) {
			c.sync(ctx, c.known[waits])
		}
	}
	if len(g.resources)+len(g.kinds)+len(g.waiting) == 0 {
		delete(c.groups, name)
	}
}

// acceptNames sets the accepted names and the conditions that say so, and reports whether they have changed (upstream:
// controller/status/naming_controller.go).
func (c *controller) acceptNames(crd *apiextensionsv1.CustomResourceDefinition) bool {
	if equality.Semantic.DeepEqual(crd.Spec.Names, crd.Status.AcceptedNames) {
		return false
	}
	names, accepted := c.resolve(crd)
	if reflect.DeepEqual(crd.Status.AcceptedNames, names) &&
		apihelpers.IsCRDConditionEquivalent(&accepted, apihelpers.FindCRDCondition(crd, apiextensionsv1.NamesAccepted)) {
		return false
	}
	now := c.st.Clock().Now()
	crd.Status.AcceptedNames = names
	setCondition(crd, now, accepted)
	have := apihelpers.FindCRDCondition(crd, apiextensionsv1.Established)
	switch {
	case have != nil && have.Status == apiextensionsv1.ConditionTrue:
	case accepted.Status == apiextensionsv1.ConditionTrue:
		setCondition(crd, now, apiextensionsv1.CustomResourceDefinitionCondition{
			Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionFalse,
			Reason: "Installing", Message: "the initial names have been accepted",
		})
	case have == nil:
		setCondition(crd, now, apiextensionsv1.CustomResourceDefinitionCondition{
			Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionFalse,
			Reason: "NotAccepted", Message: "not all names are accepted",
		})
	}
	return true
}

// resolve returns the names of a definition that no other one of its group has, and the condition NamesAccepted.
func (c *controller) resolve(crd *apiextensionsv1.CustomResourceDefinition) (apiextensionsv1.CustomResourceDefinitionNames, apiextensionsv1.CustomResourceDefinitionCondition) {
	g := c.groupOf(crd.Spec.Group)
	want, names := crd.Spec.Names, crd.Status.AcceptedNames
	condition := apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.NamesAccepted, Status: apiextensionsv1.ConditionTrue, Reason: "NoConflicts", Message: "no conflicts found",
	}
	claim := func(reason, wanted string, have *string, taken map[string]int) {
		if wanted != *have && taken[wanted] > 0 {
			condition.Status, condition.Reason, condition.Message = apiextensionsv1.ConditionFalse, reason, inUse(wanted).Error()
			return
		}
		*have = wanted
	}
	claim("PluralConflict", want.Plural, &names.Plural, g.resources)
	claim("SingularConflict", want.Singular, &names.Singular, g.resources)
	var errs []error
	for _, name := range want.ShortNames {
		if !slices.Contains(names.ShortNames, name) && g.resources[name] > 0 {
			errs = append(errs, inUse(name))
		}
	}
	if err := utilerrors.NewAggregate(errs); err != nil {
		condition.Status, condition.Reason, condition.Message = apiextensionsv1.ConditionFalse, "ShortNamesConflict", err.Error()
	} else {
		names.ShortNames = want.ShortNames
	}
	claim("KindConflict", want.Kind, &names.Kind, g.kinds)
	claim("ListKindConflict", want.ListKind, &names.ListKind, g.kinds)
	names.Categories = want.Categories
	return names, condition
}

func inUse(name string) error { return fmt.Errorf("%q is already in use", name) }
