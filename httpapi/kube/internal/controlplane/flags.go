package controlplane

import (
	_ "embed"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	cliflag "k8s.io/component-base/cli/flag"
)

// apiserverTable has the flags of kube-apiserver.
//
//go:embed apiserver.txt
var apiserverTable string

// row is a flag of the table.
type row struct {
	name, kind, value string
	hidden            bool
}

func rows() (out []row) {
	for line := range strings.Lines(apiserverTable) {
		if f := strings.Fields(line); f[0] != "#" {
			out = append(out, row{f[0], f[1], strings.TrimPrefix(f[2], "-"), len(f) > 3})
		}
	}
	return out
}

// Flags returns the flags of a kube-apiserver.
func Flags() (*pflag.FlagSet, error) {
	fs := pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	fs.SortFlags = true
	for _, r := range rows() {
		if err := r.add(fs); err != nil {
			return nil, fmt.Errorf("flag --%s: %w", r.name, err)
		}
		fs.Lookup(r.name).Hidden = r.hidden
	}
	return fs, nil
}

// add adds the flag with its type, whose errors are the errors of kube-apiserver.
func (r row) add(fs *pflag.FlagSet) (err error) {
	switch r.kind {
	case "bool":
		fs.Bool(r.name, r.value == "true", "")
	case "string":
		fs.String(r.name, r.value, "")
	case "int", "int64":
		var n int64
		n, err = strconv.ParseInt(r.value, 10, 64)
		fs.Int64(r.name, n, "")
	case "uint":
		var n uint64
		n, err = strconv.ParseUint(r.value, 10, 32)
		fs.Uint(r.name, uint(n), "")
	case "float32", "float64":
		var n float64
		n, err = strconv.ParseFloat(r.value, 64)
		fs.Float64(r.name, n, "")
	case "duration":
		var d time.Duration
		d, err = time.ParseDuration(r.value)
		fs.Duration(r.name, d, "")
	case "ip":
		fs.IP(r.name, net.ParseIP(r.value), "")
	case "stringSlice":
		var values []string
		if r.value != "" {
			values = strings.Split(strings.Trim(r.value, "[]"), ",")
		}
		fs.StringSlice(r.name, values, "")
	case "stringArray":
		fs.StringArray(r.name, nil, "")
	case "int32Slice":
		fs.Int32Slice(r.name, nil, "")
	case "stringToString":
		fs.StringToString(r.name, nil, "")
	case "mapStringString":
		fs.Var(cliflag.NewMapStringString(new(map[string]string)), r.name, "")
	case "portRange":
		ports := &utilnet.PortRange{}
		err = ports.Set(r.value)
		fs.Var(ports, r.name, "")
	case "Level":
		fs.VarP(&number{}, r.name, "v", "")
	case "colonSeparatedMultimapStringString":
		fs.Var(&texts{kind: r.kind}, r.name, "")
	default:
		fs.Var(&text{r.kind, r.value}, r.name, "")
	}
	return err
}

// Values returns the values of all flags by their names.
func Values(fs *pflag.FlagSet) map[string]string {
	all := map[string]string{}
	fs.VisitAll(func(f *pflag.Flag) { all[f.Name] = f.Value.String() })
	return all
}

// text is a value of a type whose syntax is not checked.
type text struct{ kind, value string }

// String returns the value.
func (t *text) String() string { return t.value }

// Set changes the value.
func (t *text) Set(s string) error { t.value = s; return nil }

// Type returns the name of the type.
func (t *text) Type() string { return t.kind }

// texts are the values of a flag that may be repeated.
type texts struct {
	kind   string
	values []string
}

// String returns the values.
func (t *texts) String() string { return strings.Join(t.values, ",") }

// Set adds a value.
func (t *texts) Set(s string) error { t.values = append(t.values, s); return nil }

// Type returns the name of the type.
func (t *texts) Type() string { return t.kind }

// number is the level of the log.
type number struct{ value uint64 }

// String returns the value.
func (n *number) String() string { return strconv.FormatUint(n.value, 10) }

// Set changes the value.
func (n *number) Set(s string) (err error) {
	n.value, err = strconv.ParseUint(s, 10, 31)
	return err
}

// Type returns the name of the type.
func (n *number) Type() string { return "Level" }

// Get returns the value of a flag of the table.
func Get[T any](by func(string) (T, error), name string) T {
	v, err := by(name)
	if err != nil {
		panic(fmt.Sprintf("the table of flags has another type: %v", err))
	}
	return v
}

// Access returns what the flags say about clients and their rights. The error is about the rights.
func Access(fs *pflag.FlagSet, warn func(string)) (Authentication, Rules, error) {
	r := Rules{
		Modes:    Get(fs.GetStringSlice, "authorization-mode"),
		Enabled:  slices.Concat(Get(fs.GetStringSlice, "admission-control"), Get(fs.GetStringSlice, "enable-admission-plugins")),
		Disabled: Get(fs.GetStringSlice, "disable-admission-plugins"),

		NotReadySeconds:    Get(fs.GetInt64, "default-not-ready-toleration-seconds"),
		UnreachableSeconds: Get(fs.GetInt64, "default-unreachable-toleration-seconds"),
	}
	r.Modes = slices.DeleteFunc(r.Modes, func(mode string) bool { return mode == "" })
	return Authentication{
		ClientCAFile: Get(fs.GetString, "client-ca-file"), TokenFile: Get(fs.GetString, "token-auth-file"),
		Anonymous: r.Anonymous(Get(fs.GetBool, "anonymous-auth"), warn),
	}, r, r.Check()
}
