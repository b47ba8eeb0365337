package envtest

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template"
)

// Arguments are flags of a kube-apiserver, or of an etcd, over the defaults. The package documentation names the flags that
// have an effect here. The methods return their receiver, so that calls can be chained.
type Arguments struct {
	values map[string]Arg
}

// EmptyArguments returns Arguments with nothing set.
func EmptyArguments() *Arguments { return &Arguments{values: map[string]Arg{}} }

// Arg is the value of one flag.
type Arg interface {
	// Append returns the value with more values. The receiver must not be used afterwards.
	Append(vals ...string) Arg
	// Get returns all values, with the defaults or without them, as the value decides. Nil means that the flag is not
	// passed, an empty slice that it is passed without a value.
	Get(defaults []string) []string
}

// values are the values of an Arg.
type (
	setArg     []string // instead of the defaults
	addedArg   []string // after the defaults
	disabled   struct{}
	withoutArg struct{}
)

func (a setArg) Append(vals ...string) Arg { return append(slices.Clip(a), vals...) }
func (a setArg) Get([]string) []string     { return a }

func (a addedArg) Append(vals ...string) Arg { return append(slices.Clip(a), vals...) }
func (a addedArg) Get(defaults []string) []string {
	return append(slices.Clip(defaults), a...)
}

func (disabled) Append(vals ...string) Arg { return setArg(vals) }
func (disabled) Get([]string) []string     { return nil }

func (withoutArg) Append(...string) Arg  { return withoutArg{} }
func (withoutArg) Get([]string) []string { return []string{} }

// Get returns the value of a flag. A flag that is not set has its defaults.
func (a *Arguments) Get(key string) Arg {
	if v, ok := a.values[key]; ok {
		return v
	}
	return addedArg(nil)
}

// Enable passes a flag without a value.
func (a *Arguments) Enable(key string) *Arguments { return a.SetRaw(key, withoutArg{}) }

// Disable leaves a flag out, with its defaults.
func (a *Arguments) Disable(key string) *Arguments { return a.SetRaw(key, disabled{}) }

// Append adds values to the values of a flag, which begin with the defaults.
func (a *Arguments) Append(key string, values ...string) *Arguments {
	return a.SetRaw(key, a.Get(key).Append(values...))
}

// AppendNoDefaults adds values to the values of a flag, without its defaults. If the flag is set already, it does the same as Append.
func (a *Arguments) AppendNoDefaults(key string, values ...string) *Arguments {
	have, ok := a.values[key]
	if !ok {
		have = setArg{}
	}
	return a.SetRaw(key, have.Append(values...))
}

// Set replaces the values of a flag, also its defaults.
func (a *Arguments) Set(key string, values ...string) *Arguments {
	return a.SetRaw(key, setArg(values))
}

// SetRaw sets the value of a flag.
func (a *Arguments) SetRaw(key string, val Arg) *Arguments {
	if a.values == nil {
		a.values = map[string]Arg{}
	}
	a.values[key] = val
	return a
}

// clear forgets a flag.
func (a *Arguments) clear(key string) { delete(a.values, key) }

// AsStrings returns the flags as a command line has them, sorted by name: "--key=value" for each value.
func (a *Arguments) AsStrings(defaults map[string][]string) (out []string) {
	all := slices.Concat(slices.Collect(maps.Keys(defaults)), slices.Collect(maps.Keys(a.values)))
	slices.Sort(all)
	for _, key := range slices.Compact(all) {
		values := a.Get(key).Get(defaults[key])
		if values != nil && len(values) == 0 {
			out = append(out, "--"+key)
		}
		for _, v := range values {
			out = append(out, "--"+key+"="+v)
		}
	}
	return out
}

// addTemplates adds the flags of Args, the deprecated field of APIServer and Etcd: templates over the value that has the field.
// It returns the flags whose value it cannot see. Such flags replace the defaults.
func (a *Arguments) addTemplates(templates []string, data any) (rest []string, err error) {
	for i, text := range templates {
		t, err := template.New("flag").Parse(text)
		if err != nil {
			return nil, fmt.Errorf("argument %q: %w", templates[i], err)
		}
		var b bytes.Buffer
		if err := t.Execute(&b, data); err != nil {
			return nil, fmt.Errorf("argument %q: %w", templates[i], err)
		}
		name, value, ok := strings.Cut(b.String(), "=")
		if flag, isFlag := strings.CutPrefix(name, "--"); ok && isFlag {
			a.AppendNoDefaults(flag, value)
		} else if b.Len() > 0 {
			rest = append(rest, b.String())
		}
	}
	return rest, nil
}
