package codec

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"time"

	"github.com/kubecoord/kubecoord/store/meta"
)

// The types below are the types of the API, so that texts and bytes can be
// compared with a real server's.

type CoordinatedLeaseStrategy string

type Lease struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata" protobuf:"1"`
	Spec            LeaseSpec `json:"spec,omitempty" protobuf:"2"`
}

type LeaseSpec struct {
	HolderIdentity       *string                   `json:"holderIdentity,omitempty" protobuf:"1"`
	LeaseDurationSeconds *int32                    `json:"leaseDurationSeconds,omitempty" protobuf:"2"`
	AcquireTime          *meta.MicroTime           `json:"acquireTime,omitempty" protobuf:"3"`
	RenewTime            *meta.MicroTime           `json:"renewTime,omitempty" protobuf:"4"`
	LeaseTransitions     *int32                    `json:"leaseTransitions,omitempty" protobuf:"5"`
	Strategy             *CoordinatedLeaseStrategy `json:"strategy,omitempty" protobuf:"6"`
	PreferredHolder      *string                   `json:"preferredHolder,omitempty" protobuf:"7"`
}

type LeaseCandidate struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata" protobuf:"1"`
	Spec            LeaseCandidateSpec `json:"spec,omitempty" protobuf:"2"`
}

type LeaseCandidateSpec struct {
	LeaseName        string                   `json:"leaseName" protobuf:"1"`
	PingTime         *meta.MicroTime          `json:"pingTime,omitempty" protobuf:"2"`
	RenewTime        *meta.MicroTime          `json:"renewTime,omitempty" protobuf:"3"`
	BinaryVersion    string                   `json:"binaryVersion" protobuf:"4"`
	EmulationVersion string                   `json:"emulationVersion,omitempty" protobuf:"5"`
	Strategy         CoordinatedLeaseStrategy `json:"strategy,omitempty" protobuf:"6"`
	// OffWire is a field that only other versions of the kind have.
	OffWire []string `json:"-"`
}

type Endpoints struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata" protobuf:"1"`
	Subsets         []EndpointSubset `json:"subsets,omitempty" protobuf:"2"`
}

type EndpointSubset struct {
	Addresses         []EndpointAddress `json:"addresses,omitempty" protobuf:"1"`
	NotReadyAddresses []EndpointAddress `json:"notReadyAddresses,omitempty" protobuf:"2"`
	Ports             []EndpointPort    `json:"ports,omitempty" protobuf:"3"`
}

type EndpointAddress struct {
	IP        string           `json:"ip" protobuf:"1"`
	Hostname  string           `json:"hostname,omitempty" protobuf:"3"`
	NodeName  *string          `json:"nodeName,omitempty" protobuf:"4"`
	TargetRef *ObjectReference `json:"targetRef,omitempty" protobuf:"2"`

	_ struct{} `structType:"atomic"`
}

type EndpointPort struct {
	Name        string   `json:"name,omitempty" protobuf:"1"`
	Port        int32    `json:"port" protobuf:"2"`
	Protocol    Protocol `json:"protocol,omitempty" protobuf:"3"`
	AppProtocol *string  `json:"appProtocol,omitempty" protobuf:"4"`
}

type Protocol string

type ObjectReference struct {
	Kind            string   `json:"kind,omitempty" protobuf:"1"`
	Namespace       string   `json:"namespace,omitempty" protobuf:"2"`
	Name            string   `json:"name,omitempty" protobuf:"3"`
	UID             meta.UID `json:"uid,omitempty" protobuf:"4"`
	APIVersion      string   `json:"apiVersion,omitempty" protobuf:"5"`
	ResourceVersion string   `json:"resourceVersion,omitempty" protobuf:"6"`
	FieldPath       string   `json:"fieldPath,omitempty" protobuf:"7"`
}

type LeaseList struct {
	meta.TypeMeta `json:",inline"`
	meta.ListMeta `json:"metadata" protobuf:"1"`
	Items         []Lease `json:"items" protobuf:"2"`
}

// Everything has a field of each form that the kinds above lack.
type Everything struct {
	meta.TypeMeta `json:",inline"`
	Flag          bool                    `json:"flag" protobuf:"1"`
	Count         int64                   `json:"count" protobuf:"2"`
	Ratio         float64                 `json:"ratio" protobuf:"3"`
	Data          []byte                  `json:"data" protobuf:"4"`
	OptionalData  []byte                  `json:"optionalData,omitempty" protobuf:"5"`
	Limits        map[string]int64        `json:"limits,omitempty" protobuf:"6"`
	Ports         map[Protocol]PortStatus `json:"ports" protobuf:"7"`
	Names         []string                `json:"names" protobuf:"8"`
	Numbers       []int32                 `json:"numbers,omitempty" protobuf:"9"`
	Ratios        []float64               `json:"ratios,omitempty" protobuf:"10"`
	Flags         []bool                  `json:"flags,omitempty" protobuf:"11"`
	At            meta.MicroTime          `json:"at,omitzero" protobuf:"12"`
	Optional      *meta.Time              `json:"optional,omitzero" protobuf:"13"`
	Zero          PortStatus              `json:"zero,omitzero" protobuf:"14"`
	Child         *Everything             `json:"child,omitempty" protobuf:"15"`
	Children      []Everything            `json:"children,omitempty" protobuf:"16"`
	Named         NamedMap                `json:"named,omitempty" protobuf:"17"`
	Matrix        [][]int64               `json:"matrix,omitempty"`
	Raw           meta.FieldsV1           `json:"raw" protobuf:"18"`
	OptionalRatio *float64                `json:"optionalRatio" protobuf:"19"`
	MaybeFlag     bool                    `json:"maybeFlag,omitempty" protobuf:"20"`
	MaybeCount    int32                   `json:"maybeCount,omitempty" protobuf:"21"`
	MaybeRatio    float64                 `json:"maybeRatio,omitempty" protobuf:"22"`
	Untagged      string
	hidden        map[string][]string
}

type NamedMap map[string]string

type PortStatus struct {
	Port  int32  `json:"port" protobuf:"1"`
	Error string `json:"error,omitempty" protobuf:"2"`
}

func compileFor[T any](version string) *Type { return MustCompile(reflect.TypeFor[T](), version) }

func ptr[T any](v T) *T { return &v }

// aLease is a Lease as a node writes it: 650 bytes of JSON.
func aLease() *Lease {
	at := time.Date(2024, 1, 2, 3, 4, 5, 123456789, time.UTC)
	return &Lease{
		ObjectMeta: meta.ObjectMeta{
			Name: "node-0001", Namespace: "kube-node-lease", UID: "0d5b1f8e-6d2c-4c4e-9a52-6b7f3c1d2e3f",
			ResourceVersion: "123456", CreationTimestamp: meta.NewTime(at),
			Labels: map[string]string{"kubernetes.io/hostname": "node-0001", "tier": "worker"},
			ManagedFields: []meta.ManagedFieldsEntry{{
				Manager: "kubelet", Operation: meta.ManagedFieldsOperationUpdate, APIVersion: "coordination.k8s.io/v1",
				Time: ptr(meta.NewTime(at)), FieldsType: "FieldsV1",
				FieldsV1: &meta.FieldsV1{Raw: []byte(`{"f:metadata":{"f:labels":{".":{},"f:tier":{}}},"f:spec":{"f:holderIdentity":{},"f:renewTime":{}}}`)},
			}},
		},
		Spec: LeaseSpec{
			HolderIdentity: ptr("node-0001"), LeaseDurationSeconds: ptr(int32(40)),
			AcquireTime: ptr(meta.NewMicroTime(at)), RenewTime: ptr(meta.NewMicroTime(at)), LeaseTransitions: ptr(int32(3)),
		},
	}
}

// filler makes objects with random content from a seed.
type filler struct {
	*rand.Rand
	utf8 bool // only valid strings
	safe bool // only times that every encoding supports
}

func newFiller(seed uint64) *filler { return &filler{Rand: rand.New(rand.NewPCG(seed, 7))} }

func (r *filler) fill(v reflect.Value, depth int) {
	switch p := v.Addr().Interface().(type) {
	case *time.Time:
		*p = r.time()
		return
	case *meta.FieldsV1:
		raw := []string{
			``, `{}`, `{"f:spec":{"f:a":{},".":{}}}`, `{"k:{\"uid\":\"x\"}":{}}`, ` { "f:a" : [ 1, 1.5, "<&>" ] } `,
			`{"f:ü":{}}`, `{"n":12345678901234567890,"i":-7,"f":1e3}`, `"text"`, `null`, `{"a":{"b":{}},"c":{}}`,
		}
		p.Raw = []byte(raw[r.IntN(len(raw))])
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int32, reflect.Int64:
		v.SetInt([]int64{0, 1, -1, 15, 300, 1<<31 - 1, -1 << 31}[r.IntN(7)])
	case reflect.Float64:
		v.SetFloat([]float64{0, 1, -1.5, 1e21, 1e-7, 123456.789, 1e20, 5e-324}[r.IntN(8)])
	case reflect.String:
		v.SetString(r.text())
	case reflect.Pointer:
		if r.IntN(3) > 0 && depth > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			r.fill(v.Elem(), depth-1)
		}
	case reflect.Slice:
		if n := r.IntN(5) - 1; n >= 0 && depth > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				r.fill(v.Index(i), depth-1)
			}
		}
	case reflect.Uint8:
		v.SetUint(uint64(r.IntN(256)))
	case reflect.Map:
		if n := r.IntN(5) - 1; n >= 0 && depth > 0 {
			v.Set(reflect.MakeMap(v.Type()))
			for range n {
				key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
				r.fill(key, depth-1)
				r.fill(value, depth-1)
				v.SetMapIndex(key, value)
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				r.fill(v.Field(i), depth)
			}
		}
	}
}

func (r *filler) time() time.Time {
	switch r.IntN(6) {
	case 0:
		return time.Time{}
	case 1:
		return time.Now()
	case 2:
		return time.Unix(r.Int64N(1<<33), r.Int64N(1e9)).In(time.FixedZone("", 3600))
	case 3:
		return time.Unix(-r.Int64N(1<<33), r.Int64N(1e9)).UTC()
	case 4:
		if !r.safe {
			return time.Date(12024, 1, 2, 3, 4, 5, 6789, time.UTC)
		}
	}
	return time.Unix(r.Int64N(1<<33), 0).UTC()
}

func (r *filler) text() string {
	parts := []string{
		"", "a", "lease", "node-1", "<b>&amp;</b>", "\"quoted\\", "\u2028\u2029", "tab\tnew\nline\r\b\f", "\x00\x1f\x7f",
		"grüße", "日本", "😀", "\ufffd", "/", strings.Repeat("long", 40),
	}
	if !r.utf8 {
		parts = append(parts, "\xff\xfe", "cut\xe6\x97", "\xed\xa0\x80")
	}
	s := ""
	for range r.IntN(4) {
		s += parts[r.IntN(len(parts))]
	}
	return s
}

func fillNew[T any](r *filler) *T {
	v := new(T)
	r.fill(reflect.ValueOf(v).Elem(), 3)
	return v
}

// fresh returns a pointer to a new object of a compiled type.
func fresh(t *Type) any { return reflect.New(t.goType).Interface() }
