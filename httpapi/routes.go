package httpapi

import (
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/meta"
)

// apiGroup is one API group with all that is served in it.
type apiGroup struct {
	name     string // "" is the core group
	versions []*groupVersion
}

// groupVersion is one version of a group.
type groupVersion struct {
	meta.GroupVersion
	root      string // the path, such as /apis/coordination.k8s.io/v1
	endpoints []*endpoint
}

// endpoint is one resource in one version.
type endpoint struct {
	res     *registry.Resource
	info    registry.Info
	gv      meta.GroupVersion
	version int // the index of the version in the resource
	// What stands before the remembered bytes of an object, and of the items
	// of a list.
	jsonHead, jsonListHead string
}

// target is the type that the bodies of the endpoint must have.
func (e *endpoint) target() registry.Target {
	return registry.Target{Kind: e.res.Kind(), Version: e.version}
}

// addResource files a resource under its group and versions.
func (a *API) addResource(res *registry.Resource) {
	info := res.Info()
	g := a.group(info.Group)
	for i, v := range info.Versions {
		gv := g.version(v.Name)
		e := &endpoint{res: res, info: info, gv: gv.GroupVersion, version: i}
		e.jsonHead = `{"kind":"` + info.Kind + `","apiVersion":"` + gv.String() + `",`
		e.jsonListHead = `{"kind":"` + info.Kind + `List","apiVersion":"` + gv.String() + `","metadata":`
		if info.Unstructured {
			e.jsonHead = `{"apiVersion":"` + gv.String() + `","kind":"` + info.Kind + `",`
		}
		gv.endpoints = append(gv.endpoints, e)
	}
}

func (a *API) group(name string) *apiGroup {
	for _, g := range a.groups {
		if g.name == name {
			return g
		}
	}
	g := &apiGroup{name: name}
	a.groups = append(a.groups, g)
	return g
}

func (g *apiGroup) version(name string) *groupVersion {
	for _, v := range g.versions {
		if v.Version == name {
			return v
		}
	}
	v := &groupVersion{GroupVersion: meta.GroupVersion{Group: g.name, Version: name}, root: "/apis/" + g.name + "/" + name}
	if g.name == "" {
		v.root = "/api/" + name
	}
	g.versions = append(g.versions, v)
	return v
}

// root is the path that all versions of the group are below.
func (g *apiGroup) root() string {
	if g.name == "" {
		return "/api"
	}
	return "/apis/" + g.name
}
