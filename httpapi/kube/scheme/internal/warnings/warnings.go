// Package warnings has the warnings with which a kube-apiserver answers writes of built-in objects: same texts, same order, except
// that warnings about the entries of a map come in the order of their keys. Objects must have their defaults, be prepared as the
// strategies of a server prepare them, and be valid.
//
// Warnings about all kinds alike, such as duplicate owners, and about Endpoints are in the root module. So are the places of
// warnings that need more than the object: a version that is deprecated, the options of a deletion.
package warnings

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"
)

// OfWrite returns the warnings about a new object, if old is nil, or about an update of old. The types of obj and old must be the same.
// Objects of kinds without warnings have none.
func OfWrite(obj, old runtime.Object) []string {
	l := &list{}
	for _, group := range []group{ofCore, ofWorkloads, ofNetworking, ofStorage, ofAdmission, ofResource} {
		if group(l, obj, old) {
			break
		}
	}
	return l.texts
}

// A group adds the warnings about the kinds of some API groups; it reports whether it knows the object's.
type group func(l *list, obj, old runtime.Object) bool

// list collects warnings in order.
type list struct{ texts []string }

func (l *list) add(text string) { l.texts = append(l.texts, text) }

// at adds a warning about a member.
func (l *list) at(p *field.Path, text string) { l.add(p.String() + ": " + text) }

// ip warns about an address. The library logs texts that are none, which some members may have.
func (l *list) ip(p *field.Path, address string) {
	if netutils.ParseIPSloppy(address) != nil {
		l.texts = append(l.texts, validation.GetWarningsForIP(p, address)...)
	}
}

func (l *list) cidr(p *field.Path, cidr string) {
	if _, _, err := netutils.ParseCIDRSloppy(cidr); err == nil {
		l.texts = append(l.texts, validation.GetWarningsForCIDR(p, cidr)...)
	}
}

// sorted returns the keys of a map in order. Upstream takes them as they come.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// kindOf returns old as the type of the object, nil if there is none.
func kindOf[T any](old runtime.Object) *T {
	t, _ := any(old).(*T)
	return t
}
