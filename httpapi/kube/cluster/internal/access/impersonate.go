package access

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store/meta"
)

// This file is upstream's constrained impersonation (apiserver, endpoints/filters/impersonation; KEP-5284): a verb for each
// kind of user is checked first, then the older verb impersonate. Answers are not cached.

type impersonatedKey struct{}

// impersonated returns the user whom a request impersonates, nil without the headers, or why it may not.
func (s *Server) impersonated(r *http.Request) (*httpapi.User, error) {
	want, err := wantedUser(r.Header)
	if want == nil || err != nil {
		return nil, err
	}
	requestor, ok := s.requestor(r)
	if !ok {
		return nil, meta.NewStatusError(http.StatusUnauthorized, meta.ReasonUnauthorized, nil, "Unauthorized")
	}
	request := httpapi.AttributesOf(r)
	request.User = requestor
	var first error
	for _, mode := range modesOf(want, requestor) {
		as, err := s.tryMode(mode, want, request)
		if err == nil {
			return as, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// wantedUser returns the user that the headers name, or nil if there is none.
func wantedUser(h http.Header) (*httpapi.User, error) {
	u := &httpapi.User{Name: h.Get(authenticationv1.ImpersonateUserHeader), UID: h.Get(authenticationv1.ImpersonateUIDHeader)}
	u.Groups = append(u.Groups, h[authenticationv1.ImpersonateGroupHeader]...)
	others := u.UID != "" || len(u.Groups) > 0
	for name, values := range h {
		key, ok := strings.CutPrefix(name, authenticationv1.ImpersonateUserExtraHeaderPrefix)
		if !ok {
			continue
		}
		if others = true; len(values) == 0 {
			continue
		}
		key = strings.ToLower(key)
		if plain, err := url.PathUnescape(key); err == nil {
			key = plain
		}
		if u.Extra == nil {
			u.Extra = map[string][]string{}
		}
		u.Extra[key] = append(u.Extra[key], values...)
	}
	switch {
	case u.Name != "":
		return u, nil
	case others:
		return nil, meta.NewBadRequest("%s", fmt.Sprintf("requested %#v without impersonating a user name", infoOf(*u)))
	}
	return nil, nil
}

// infoOf returns a user as the packages of Kubernetes take it.
func infoOf(u httpapi.User) *user.DefaultInfo {
	return &user.DefaultInfo{Name: u.Name, UID: u.UID, Groups: u.Groups, Extra: u.Extra}
}

// The kinds of users that may be impersonated. legacy is for all of them.
const (
	modeAssociatedNode = "associated-node"
	modeArbitraryNode  = "arbitrary-node"
	modeServiceAccount = "serviceaccount"
	modeUserInfo       = "user-info"
	modeLegacy         = ""
)

const nodePrefix = "system:node:"

// modesOf returns the modes that apply, in their order.
func modesOf(want *httpapi.User, requestor httpapi.User) (modes []string) {
	node, isNode := strings.CutPrefix(want.Name, nodePrefix)
	_, _, notAccount := serviceaccount.SplitUsername(want.Name)
	onlyName := want.UID == "" && len(want.Groups) == 0 && len(want.Extra) == 0
	switch {
	case isNode && node != "" && onlyName:
		_, _, err := serviceaccount.SplitUsername(requestor.Name)
		if err == nil && slices.Equal(requestor.Extra[serviceaccount.NodeNameKey], []string{node}) {
			modes = append(modes, modeAssociatedNode)
		}
		modes = append(modes, modeArbitraryNode)
	case isNode && node != "":
	case notAccount == nil && onlyName:
		modes = append(modes, modeServiceAccount)
	case notAccount != nil:
		modes = append(modes, modeUserInfo)
	}
	return append(modes, modeLegacy)
}

// tryMode returns the user if the requestor may impersonate it in a mode.
func (s *Server) tryMode(mode string, want *httpapi.User, request httpapi.Attributes) (*httpapi.User, error) {
	verb, group := "impersonate", ""
	if mode != modeLegacy {
		verb, group = "impersonate:"+mode, authenticationv1.GroupName
		on := request
		on.Verb = "impersonate-on:" + mode + ":" + request.Verb
		if err := s.check(on); err != nil {
			return nil, err
		}
	}
	as := *want
	ask := func(group, resource, namespace, name, subresource string) error {
		return s.check(httpapi.Attributes{User: request.User, Verb: verb, IsResource: true, Group: group, Version: "*",
			Resource: resource, Namespace: namespace, Name: name, Subresource: subresource})
	}
	resource, namespace, name := "users", "", want.Name
	if node, ok := strings.CutPrefix(want.Name, nodePrefix); ok && (mode == modeAssociatedNode || mode == modeArbitraryNode) {
		resource, name, as.Groups = "nodes", node, []string{user.NodesGroup}
		if mode == modeAssociatedNode {
			name = "*"
		}
	} else if in, account, err := serviceaccount.SplitUsername(want.Name); err == nil {
		resource, namespace, name = "serviceaccounts", in, account
		if len(want.Groups) == 0 {
			as.Groups = serviceaccount.MakeGroupNames(in)
		}
	}
	if err := ask(group, resource, namespace, name, ""); err != nil {
		return nil, err
	}
	if want.UID != "" {
		if err := ask(authenticationv1.GroupName, "uids", "", want.UID, ""); err != nil {
			return nil, err
		}
	}
	for _, g := range want.Groups {
		if mode != modeLegacy && (g == "" || g == groupMasters) {
			return nil, unusableGroup(request.User, verb, g)
		}
		if err := ask(group, "groups", "", g, ""); err != nil {
			return nil, err
		}
	}
	for _, key := range sortedKeys(want.Extra) {
		for _, value := range want.Extra[key] {
			if err := ask(authenticationv1.GroupName, "userextras", "", value, key); err != nil {
				return nil, err
			}
		}
	}
	as = withGroup(as)
	return &as, nil
}

// check returns why a request is not allowed.
func (s *Server) check(a httpapi.Attributes) error {
	if allowed, reason := s.Authorize(a); !allowed {
		return a.Forbidden(reason)
	}
	return nil
}

// unusableGroup is the error of a group that only the verb impersonate gives.
func unusableGroup(requestor httpapi.User, verb, group string) error {
	a := httpapi.Attributes{User: requestor, Verb: verb, IsResource: true, Group: authenticationv1.GroupName, Resource: "groups", Name: group}
	if group == "" {
		return a.Forbidden("impersonating the empty string group is not allowed")
	}
	return a.Forbidden("impersonating the system:masters group is not allowed")
}
