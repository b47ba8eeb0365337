package field_test

import (
	"fmt"

	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/meta"
)

func ExampleErrors() {
	ports := field.Path("spec").Child("ports")
	errs := field.Errors{
		field.Required(ports.Index(0).Child("name"), "must be set if there are several ports"),
		field.Invalid(ports.Index(1).Child("port"), int64(70000), "must be between 1 and 65535, inclusive"),
		field.NotSupported(ports.Index(1).Child("protocol"), "tcp", "SCTP", "TCP", "UDP"),
		field.Forbidden("spec.queue", "is immutable"),
		field.TooLong("spec.text", 64),
		field.Duplicate(ports.Index(2), "http"),
	}
	errs = append(errs, field.InvalidEach("metadata.name", "A", []string{"must be lower case", "must be longer"})...)
	for _, cause := range errs.Status(meta.GroupKind{Group: "example.com", Kind: "Job"}, "a").Status.Details.Causes {
		fmt.Println(cause.Type, cause.Field, cause.Message)
	}

	// Output:
	// FieldValueRequired spec.ports[0].name Required value: must be set if there are several ports
	// FieldValueInvalid spec.ports[1].port Invalid value: 70000: must be between 1 and 65535, inclusive
	// FieldValueNotSupported spec.ports[1].protocol Unsupported value: "tcp": supported values: "SCTP", "TCP", "UDP"
	// FieldValueForbidden spec.queue Forbidden: is immutable
	// FieldValueTooLong spec.text Too long: may not be more than 64 bytes
	// FieldValueDuplicate spec.ports[2] Duplicate value: "http"
	// FieldValueInvalid metadata.name Invalid value: "A": must be lower case
	// FieldValueInvalid metadata.name Invalid value: "A": must be longer
}

// A test of a kind looks at the problems themselves.
func ExampleError() {
	problems := map[field.ErrorType]string{
		field.TypeRequired: "missing", field.TypeInvalid: "wrong", field.TypeNotSupported: "unknown",
		field.TypeForbidden: "not allowed", field.TypeTooLong: "too long", field.TypeDuplicate: "there twice",
	}
	show := func(e *field.Error) { fmt.Printf("%s is %s: %s\n", e.Field, problems[e.Type], e.Body()) }
	show(field.Required("spec.port", ""))
	show(field.Invalid("spec.port", int64(70000), "must be at most 65535"))
	// Output:
	// spec.port is missing: Required value
	// spec.port is wrong: Invalid value: 70000: must be at most 65535
}

// A kind that validates by a library keeps its texts. A problem that the object had before may be no more than a warning.
func ExampleReported() {
	for _, err := range []*field.Error{
		field.Reported("FieldValueTooMany", "spec.tags", "Too many: 4: must have at most 3 items"),
		field.Reported(field.TypeTolerated, "spec.port", "Invalid value: 70000: must be at most 65535"),
	} {
		fmt.Println(err.Type, err)
	}
	// Output:
	// FieldValueTooMany spec.tags: Too many: 4: must have at most 3 items
	// Tolerated spec.port: Invalid value: 70000: must be at most 65535
}
