package crd

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	upstream "k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/warning"

	"github.com/kubecoord/kubecoord/httpapi/kube/internal/boxes"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/meta"
)

// This file validates objects in the order of a real server (upstream: registry/customresource, strategy.go and
// status_strategy.go), beside their own metadata, which package kinds validates for all kinds.

// rules are the compiled rules of a version.
type rules struct {
	whole, status validation.SchemaValidator
	cel           *cel.Validator // nil without rules
	err           error          // of the compilation
}

// compileRules returns a function that compiles the rules of a version once.
func compileRules(v *crVersion, props *apiextensions.JSONSchemaProps) func() *rules {
	return sync.OnceValue(func() *rules {
		r := new(rules)
		if r.whole, _, r.err = validation.NewSchemaValidator(props); r.err != nil {
			return r
		}
		if props != nil {
			if status, ok := props.Properties["status"]; ok {
				r.status, _, r.err = validation.NewSchemaValidator(&status)
			}
		}
		r.cel = cel.NewValidator(v.structural, true, celconfig.PerCallLimit)
		return r
	})
}

// validate returns the problems of an object; old is nil on a create.
func (v *crVersion) validate(o, old meta.Object) field.Errors {
	var before map[string]any
	if old != nil {
		before = v.document(old)
	}
	return v.check(v.document(o), before, o.GetObjectMeta(), v.isMistyped(o))
}

// isMistyped reports whether an object names another type. Upstream then validates only what customResourceValidator does not.
func (v *crVersion) isMistyped(o meta.Object) bool {
	named := *o.GetTypeMeta()
	return named != v.named && named != (meta.TypeMeta{})
}

// check validates a document against the one that it replaces, or nil.
func (v *crVersion) check(doc, old map[string]any, m *meta.ObjectMeta, mistyped bool) field.Errors {
	r := v.rules()
	if r.err != nil {
		return field.Errors{field.Invalid("", nil, r.err.Error())}
	}
	var errs upstream.ErrorList
	var options []cel.Option
	var correlated *common.CorrelatedObject
	if old != nil {
		correlated = common.NewCorrelatedObject(doc, old, &model.Structural{Structural: v.structural})
		options = append(options, cel.WithRatcheting(correlated))
	}
	switch {
	case mistyped:
	case old == nil:
		errs = inOrder(validation.ValidateCustomResource(nil, doc, r.whole))
	default:
		errs = inOrder(validation.ValidateCustomResourceUpdate(nil, doc, old, r.whole, validation.WithRatcheting(correlated)))
	}
	if !mistyped {
		errs = append(errs, v.checkScale(doc, true)...)
	}
	errs = append(errs, inOrder(objectmeta.Validate(context.Background(), nil, doc, v.structural, false))...)
	if old == nil || len(listtype.ValidateListSetsAndMaps(nil, v.structural, old)) == 0 {
		errs = append(errs, inOrder(listtype.ValidateListSetsAndMaps(nil, v.structural, doc))...)
	}
	nameless := m.Name == "" && !mistyped
	return r.checkRules(doc, old, errs, nameless, options)
}

// validateStatus returns the problems of a write of the status.
func (v *crVersion) validateStatus(o, before meta.Object) field.Errors {
	r := v.rules()
	if r.err != nil {
		return field.Errors{field.Invalid("", nil, r.err.Error())}
	}
	doc, old := v.document(o), v.document(before)
	correlated := common.NewCorrelatedObject(doc, old, &model.Structural{Structural: v.structural})
	var options []validation.ValidationOption
	if v.structural != nil {
		options = append(options, validation.WithRatcheting(correlated.Key("status")))
	}
	var errs upstream.ErrorList
	mistyped := v.isMistyped(o)
	if status, ok := doc["status"]; ok && r.status != nil && !mistyped {
		errs = inOrder(validation.ValidateCustomResourceUpdate(upstream.NewPath("status"), status, old["status"], r.status, options...))
	}
	if !mistyped {
		errs = append(errs, v.checkScale(doc, false)...)
	}
	if lists := listtype.ValidateListSetsAndMaps(nil, v.structural, doc); len(lists) > 0 {
		if len(listtype.ValidateListSetsAndMaps(nil, v.structural, old)) == 0 {
			errs = append(errs, inOrder(lists)...)
		}
	}
	return r.checkRules(doc, old, errs, false, []cel.Option{cel.WithRatcheting(correlated)})
}

// checkRules evaluates the CEL rules, unless other problems found, or a metadata.name that is required, could make them fail.
// It returns all problems, and last the tolerated ones: rules that fail for a value that stays.
func (r *rules) checkRules(doc, old map[string]any, found upstream.ErrorList, blocked bool, options []cel.Option) field.Errors {
	if r.cel == nil {
		return boxes.Problems(found)
	}
	for _, err := range found {
		switch err.Type {
		case upstream.ErrorTypeNotSupported, upstream.ErrorTypeRequired, upstream.ErrorTypeTooLong, upstream.ErrorTypeTooMany, upstream.ErrorTypeTypeInvalid:
			blocked = true
		}
	}
	if blocked {
		return boxes.Problems(append(found, upstream.Invalid(nil, nil,
			"some validation rules were not checked because the object was invalid; correct the existing errors to complete validation")))
	}
	var before any // not a nil map: that would be an old object
	if old != nil {
		before = old
	}
	var tolerated field.Errors
	ctx := warning.WithWarningRecorder(context.Background(), (*recorder)(&tolerated))
	errs, _ := r.cel.Validate(ctx, nil, nil, doc, before, celconfig.RuntimeCELCostBudget, options...)
	slices.SortStableFunc(tolerated, func(a, b *field.Error) int { return comparePaths(string(a.Field), string(b.Field)) })
	return append(boxes.Problems(append(found, inOrder(errs)...)), tolerated...)
}

// recorder takes the warnings of a validator: the path of a field and a text each.
type recorder field.Errors

// AddWarning implements warning.Recorder.
func (r *recorder) AddWarning(_, text string) {
	path, text, _ := strings.Cut(text, ": ")
	*r = append(*r, field.Reported(field.TypeTolerated, field.Path(path), text))
}

// document returns an object of the version as the tree that upstream's packages read. The tree shares memory with the object and
// must not be changed.
func (v *crVersion) document(o meta.Object) map[string]any {
	doc := document(o.(*store.Unstructured))
	named := v.named
	if v.isMistyped(o) {
		named = *o.GetTypeMeta()
	}
	doc["apiVersion"], doc["kind"] = named.APIVersion, named.Kind
	return doc
}

// document returns the tree of an object without its managedFields, which no rule may read.
func document(u *store.Unstructured) map[string]any {
	own := &store.Unstructured{ObjectMeta: u.ObjectMeta}
	own.ManagedFields = nil
	doc := own.Tree()
	maps.Copy(doc, u.Content)
	return doc
}

// inOrder sorts problems by their paths, in which indexes are numbers.
func inOrder(errs upstream.ErrorList) upstream.ErrorList {
	slices.SortStableFunc(errs, func(a, b *upstream.Error) int { return comparePaths(a.Field, b.Field) })
	return errs
}

func comparePaths(a, b string) int {
	for a != "" && b != "" {
		n, restA := leadingNumber(a)
		m, restB := leadingNumber(b)
		switch {
		case restA != a && restB != b && n != m:
			return cmp.Compare(n, m)
		case restA != a && restB != b:
			a, b = restA, restB
		case a[0] != b[0]:
			return cmp.Compare(a[0], b[0])
		default:
			a, b = a[1:], b[1:]
		}
	}
	return cmp.Compare(len(a), len(b))
}

// leadingNumber returns the number at the beginning of a text, and the text after it.
func leadingNumber(s string) (n int, rest string) {
	for s != "" && '0' <= s[0] && s[0] <= '9' && n < 1<<40 {
		n, s = n*10+int(s[0]-'0'), s[1:]
	}
	return n, s
}
