package validation

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecoord/kubecoord/httpapi/kube/internal/gates"
)

type loc = *field.Path

// errs collects the errors of an object in upstream's order.
type errs struct {
	field.ErrorList
	*write
}

// A write is what the lists of one validation share.
type write struct {
	gates  *gates.Gates
	before func(e *errs)   // validates the old object as a new one; nil if there is none
	kept   map[string]bool // rules that the old object breaks
	broken map[string]bool // rules that this object breaks
	same   bool            // the spec of a Pod equals the old one
}

// ratchet adds the errors of a rule that an old object may break: then the new one may break it too, in any place.
func (e *errs) ratchet(rule string, check func(own *errs)) {
	own := e.own()
	if check(own); len(own.ErrorList) > 0 && !e.keeps(rule) {
		e.add(own.ErrorList...)
	}
}

// keeps reports whether the old object breaks a rule as this one does.
func (e *errs) keeps(rule string) bool {
	if e.broken == nil {
		e.broken = map[string]bool{}
	}
	e.broken[rule] = true
	if before := e.before; before != nil {
		was := &errs{write: &write{gates: e.gates}}
		before(was)
		e.before, e.kept = nil, was.broken
	}
	return e.kept[rule]
}

// own returns a list for a part of the object.
func (e *errs) own() *errs { return &errs{write: e.write} }

// covered adds errors of rules that are declared too: where the declared rule finds the same, its error takes their place. Origin says
// which declared rule finds an invalid value.
func (e *errs) covered(origin string, rules func(own *errs)) {
	own := e.own()
	rules(own)
	for _, err := range own.MarkCoveredByDeclarative() {
		if err.Type == field.ErrorTypeInvalid {
			err.Origin = origin
		}
	}
	e.add(own.ErrorList...)
}

func (e *errs) add(list ...*field.Error)         { e.ErrorList = append(e.ErrorList, list...) }
func (e *errs) required(p loc, detail string)    { e.add(field.Required(p, detail)) }
func (e *errs) forbidden(p loc, detail string)   { e.add(field.Forbidden(p, detail)) }
func (e *errs) duplicate(p loc, value any)       { e.add(field.Duplicate(p, value)) }
func (e *errs) notFound(p loc, value any)        { e.add(field.NotFound(p, value)) }
func (e *errs) tooLong(p loc, limit int)         { e.add(field.TooLong(p, "", limit)) }
func (e *errs) tooMany(p loc, actual, limit int) { e.add(field.TooMany(p, actual, limit)) }
func (e *errs) invalid(p loc, value any, detail string) {
	e.add(field.Invalid(p, value, detail))
}

// invalids adds an error for each message of a rule.
func (e *errs) invalids(p loc, value any, messages []string) {
	for _, message := range messages {
		e.invalid(p, value, message)
	}
}

// present adds an error unless value is there.
func (e *errs) present(p loc, value string) {
	if value == "" {
		e.required(p, "")
	}
}

func (e *errs) nonNegative(p loc, n int64) { e.add(apivalidation.ValidateNonnegativeField(n, p)...) }

func (e *errs) positive(p loc, n int64) {
	if n <= 0 {
		e.invalid(p, n, "must be greater than zero")
	}
}

// counts checks that counters that are there are not negative.
func counts[T int32 | int64](e *errs, p loc, n *T) {
	if n != nil {
		e.nonNegative(p, int64(*n))
	}
}

func (e *errs) immutable(p loc, value, old any) {
	e.add(apivalidation.ValidateImmutableField(value, old, p)...)
}

func (e *errs) label(p loc, value string) { e.invalids(p, value, validation.IsDNS1123Label(value)) }
func (e *errs) subdomain(p loc, value string) {
	e.invalids(p, value, validation.IsDNS1123Subdomain(value))
}
func (e *errs) qualified(p loc, value string) {
	e.invalids(p, value, validation.IsQualifiedName(value))
}

func (e *errs) ip(p loc, value string) {
	e.add(validation.IsValidIPForLegacyField(p, value, true, nil)...)
}

func (e *errs) cidr(p loc, value string) {
	e.add(validation.IsValidCIDRForLegacyField(p, value, true, nil)...)
}

func (e *errs) port(p loc, n int32) { e.invalids(p, n, validation.IsValidPortNum(int(n))) }

func (e *errs) portOrName(p loc, port intstr.IntOrString) {
	if port.Type == intstr.Int {
		e.invalids(p, int(port.IntVal), validation.IsValidPortNum(int(port.IntVal)))
	} else {
		e.invalids(p, port.StrVal, validation.IsValidPortName(port.StrVal))
	}
}

func (e *errs) labels(p loc, labels map[string]string) {
	e.add(metavalidation.ValidateLabels(labels, p)...)
}

func (e *errs) labelName(p loc, name string) { e.add(metavalidation.ValidateLabelName(name, p)...) }

func (e *errs) annotations(p loc, annotations map[string]string) {
	e.add(apivalidation.ValidateAnnotations(annotations, p)...)
}

// selector checks a selector, which may keep values that are no values of labels.
func (e *errs) selector(p loc, selector *metav1.LabelSelector) {
	list := func(any bool) field.ErrorList {
		return metavalidation.ValidateLabelSelector(selector, metavalidation.LabelSelectorValidationOptions{AllowInvalidLabelValueInSelector: any}, p)
	}
	all := list(false)
	if some := list(true); len(some) < len(all) && e.keeps("values in selectors") {
		all = some
	}
	e.add(all...)
}

// unsupported adds the error for a value that is not among the valid ones, which must be in upstream's order.
func unsupported[T ~string](e *errs, p loc, value any, valid ...T) {
	e.add(field.NotSupported(p, value, valid))
}

// oneOf checks that value is among the valid ones.
func oneOf[T ~string](e *errs, p loc, value T, valid ...T) {
	if !slices.Contains(valid, value) {
		unsupported(e, p, value, valid...)
	}
}

// requiredOneOf is like oneOf, but a value that was left out is required.
func requiredOneOf[T ~string](e *errs, p loc, value T, valid ...T) {
	if value == "" {
		e.required(p, "")
	} else {
		oneOf(e, p, value, valid...)
	}
}

// optionalOneOf is like oneOf, but takes no value too.
func optionalOneOf[T ~string](e *errs, p loc, value *T, valid ...T) {
	if value != nil {
		oneOf(e, p, *value, valid...)
	}
}

func (e *errs) nonNegativeQuantity(p loc, q resource.Quantity) {
	if q.Sign() < 0 {
		e.invalid(p, q.String(), apivalidation.IsNegativeErrorMsg)
	}
}

func (e *errs) positiveQuantity(p loc, q resource.Quantity) {
	if q.Sign() <= 0 {
		e.invalid(p, q.String(), "must be greater than zero")
	}
}

// percent returns the number before the sign of a percentage.
func percent(v intstr.IntOrString) (int, bool) {
	if v.Type != intstr.String || len(validation.IsValidPercent(v.StrVal)) > 0 {
		return 0, false
	}
	n, _ := strconv.Atoi(strings.TrimSuffix(v.StrVal, "%"))
	return n, true
}

// amount returns the number of an IntOrString, with or without a percent sign.
func amount(v intstr.IntOrString) int {
	if n, ok := percent(v); ok {
		return n
	}
	return v.IntValue()
}

func (e *errs) intOrPercent(p loc, v intstr.IntOrString) {
	if v.Type == intstr.String {
		e.invalids(p, v, validation.IsValidPercent(v.StrVal))
	} else {
		e.nonNegative(p, int64(v.IntVal))
	}
}

func (e *errs) notMoreThanAll(p loc, v intstr.IntOrString) {
	if n, ok := percent(v); ok && n > 100 {
		e.invalid(p, v, "must not be greater than 100%")
	}
}

// sorted returns the keys of a map in order. Upstream goes over maps in no order.
func sorted[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// deref returns what p points to, or the zero value.
func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// seen remembers keys, so that long lists are checked for duplicates in one pass.
type seen[K comparable] map[K]bool

// again reports whether it got the key before.
func (s seen[K]) again(key K) bool {
	was := s[key]
	s[key] = true
	return was
}
