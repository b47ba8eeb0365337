package validation

import (
	"fmt"
	"sync"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	dracel "k8s.io/dynamic-resource-allocation/cel"
)

// This file compiles expressions of CEL, as a kube-apiserver does when they are written. An expression that the old object has is compiled
// in the environment of stored ones, which has what later versions know too.

// stateless compiles expressions of objects without variables. It takes long to make, and never changes.
var stateless = sync.OnceValue(func() cel.Compiler { return cel.NewCompiler(baseEnvironment()) })

var baseEnvironment = sync.OnceValue(func() *environment.EnvSet {
	return environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
})

// withVariables returns a compiler for one policy, which remembers its variables, or nil with an error in e.
func withVariables(e *errs, p loc) *cel.CompositedCompiler {
	c, err := cel.NewCompositedCompiler(baseEnvironment())
	if err != nil {
		e.add(field.InternalError(p, err))
		return nil
	}
	return c
}

// expression is a text with the types that it may evaluate to. The name is the name of a variable.
type expression struct {
	name, text string
	types      []*celgo.Type
}

func (x *expression) GetExpression() string      { return x.text }
func (x *expression) ReturnTypes() []*celgo.Type { return x.types }
func (x *expression) GetName() string            { return x.name }

func condition(text string) *expression {
	return &expression{text: text, types: []*celgo.Type{celgo.BoolType}}
}

func message(text string) *expression {
	return &expression{text: text, types: []*celgo.Type{celgo.StringType}}
}

func annotationValue(text string) *expression {
	return &expression{text: text, types: []*celgo.Type{celgo.StringType, celgo.NullType}}
}

func variableValue(name, text string) *expression {
	return &expression{name: name, text: text, types: []*celgo.Type{celgo.AnyType, celgo.DynType}}
}

func jsonPatchValue(text string) *expression {
	return &expression{text: text, types: []*celgo.Type{celgo.ListType(types.NewObjectType("JSONPatch"))}}
}

func configurationValue(text string) *expression {
	return &expression{text: text, types: []*celgo.Type{types.NewObjectType("Object")}}
}

// texts are expressions that an old object has.
type texts map[string]bool

// mode returns the environment for an expression.
func (t texts) mode(text string) environment.Type {
	if t[text] {
		return environment.StoredExpressions
	}
	return environment.NewExpressions
}

// compiled adds the error of a compilation. shown is the expression in it.
func (e *errs) compiled(p loc, shown string, err *apiservercel.Error) {
	if err == nil {
		return
	}
	switch err.Type {
	case apiservercel.ErrorTypeRequired:
		e.required(p, err.Detail)
	case apiservercel.ErrorTypeInvalid:
		e.invalid(p, shown, err.Detail)
	case apiservercel.ErrorTypeInternal:
		e.add(field.InternalError(p, err))
	default:
		e.add(field.InternalError(p, fmt.Errorf("unsupported error type: %w", error(err))))
	}
}

// deviceExpression checks the selector of a device. One that is stored is valid.
func deviceExpression(e *errs, p loc, text string, stored bool) {
	if !stored {
		compileDevice(e, p, text, false)
	}
}

// derivedExpression checks the expression of a derived attribute, and returns what it costs.
func derivedExpression(e *errs, p loc, text string) uint64 { return compileDevice(e, p, text, true) }

func compileDevice(e *errs, p loc, text string, derived bool) uint64 {
	if len(text) > resourcev1.CELSelectorExpressionMaxLength {
		e.tooLong(p, resourcev1.CELSelectorExpressionMaxLength)
		return 0
	}
	mode := environment.NewExpressions
	features := dracel.Features{EnableConsumableCapacity: e.gates.Enabled("DRAConsumableCapacity"), EnableListTypeAttributes: e.gates.Enabled("DRAListTypeAttributes")}
	result := dracel.GetCompiler(features).CompileCELExpression(text, dracel.Options{EnvType: &mode, DerivedAttribute: derived})
	if result.Error != nil {
		e.compiled(p, text, result.Error)
		return 0
	}
	if result.MaxCost > resourcev1.CELSelectorExpressionMaxCost {
		e.forbidden(p, "too complex, exceeds cost limit")
	}
	return result.MaxCost
}
