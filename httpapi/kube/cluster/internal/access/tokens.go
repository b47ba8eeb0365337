package access

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation/path"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/features"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// TokenOptions say how tokens of ServiceAccounts are signed and checked. They are cluster.Tokens.
type TokenOptions struct {
	Issuer        string
	Issuers       []string
	Audiences     []string
	Key           crypto.Signer
	PublicKeys    []crypto.PublicKey
	MaxExpiration time.Duration
}

// Tokens signs and checks tokens. Forks of a server share it, so that a token of one is valid in the other.
type Tokens struct {
	opts TokenOptions
	key  func() (crypto.Signer, error)
}

// NewTokens returns Tokens. An unusable key is an error of the first token.
func NewTokens(o TokenOptions) *Tokens {
	if o.Issuer == "" {
		o.Issuer = "https://kubernetes.default.svc.cluster.local"
	}
	if len(o.Audiences) == 0 {
		o.Audiences = []string{o.Issuer}
	}
	t := &Tokens{opts: o}
	t.key = sync.OnceValues(func() (crypto.Signer, error) {
		if o.Key != nil {
			return o.Key, nil
		}
		return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	})
	return t
}

// publicKeys returns the keys that check tokens.
func (t *Tokens) publicKeys() ([]crypto.PublicKey, error) {
	key, err := t.key()
	if err != nil {
		return nil, err
	}
	return append([]crypto.PublicKey{key.Public()}, t.opts.PublicKeys...), nil
}

// claims are the claims of a token (upstream: pkg/serviceaccount/claims.go), in the order of their names.
type claims struct {
	Audience   audience    `json:"aud"`
	Expires    int64       `json:"exp"`
	IssuedAt   int64       `json:"iat"`
	Issuer     string      `json:"iss"`
	ID         string      `json:"jti,omitempty"`
	Kubernetes boundClaims `json:"kubernetes.io"`
	NotBefore  int64       `json:"nbf"`
	Subject    string      `json:"sub"`
}

type boundClaims struct {
	Namespace string `json:"namespace,omitempty"`
	Node      *ref   `json:"node,omitempty"`
	Pod       *ref   `json:"pod,omitempty"`
	Secret    *ref   `json:"secret,omitempty"`
	Account   ref    `json:"serviceaccount"`
	WarnAfter int64  `json:"warnafter,omitempty"`
}

type ref struct {
	Name string    `json:"name,omitempty"`
	UID  types.UID `json:"uid,omitempty"`
}

// audience is a list, or one text.
type audience []string

// UnmarshalJSON reads either form.
func (a *audience) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*a = audience{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(a))
}

const (
	extendedFrom       = 60*60 + 7          // what kubelet asks for on behalf of a pod
	extendedExpiration = 365 * 24 * 60 * 60 // what it gets
)

// Token answers a TokenRequest (upstream: registry/core/serviceaccount/storage, TokenREST).
func (s *Server) Token(ctx context.Context, account *corev1.ServiceAccount, req *authenticationv1.TokenRequest) error {
	of := meta.GroupKind{Group: authenticationv1.GroupName, Kind: "TokenRequest"}
	if req.Name != "" && req.Name != account.Name {
		return field.Errors{field.Invalid("metadata.name", req.Name, "must match the service account name if specified")}.Status(of, account.Name)
	}
	if req.UID != "" && req.UID != account.UID {
		return meta.NewConflict(meta.GroupResource{Group: of.Group, Resource: of.Kind}, account.Name, fmt.Sprintf(
			"the UID in the token request (%s) does not match the UID of the service account (%s)", req.UID, account.UID))
	}
	if len(req.Spec.Audiences) == 0 {
		req.Spec.Audiences = slices.Clone(s.tokens.opts.Audiences)
	}
	now := s.api.Store().Now()
	req.Name, req.Namespace, req.UID, req.CreationTimestamp = account.Name, account.Namespace, account.UID, metav1.NewTime(now)
	seconds := int64(60 * 60)
	if req.Spec.ExpirationSeconds != nil {
		seconds = *req.Spec.ExpirationSeconds
	}
	if errs := validateRequest(&req.Spec, seconds); len(errs) > 0 {
		return errs.Status(of, "")
	}
	c := claims{
		Audience: req.Spec.Audiences, IssuedAt: now.Unix(), NotBefore: now.Unix(), Issuer: s.tokens.opts.Issuer, ID: uuid.NewString(),
		Subject: serviceaccount.MakeUsername(account.Namespace, account.Name),
	}
	c.Kubernetes = boundClaims{Namespace: account.Namespace, Account: ref{account.Name, account.UID}}
	if err := s.bind(ctx, account, req.Spec.BoundObjectRef, &c.Kubernetes); err != nil {
		return err
	}
	if limit := int64(s.tokens.opts.MaxExpiration / time.Second); limit > 0 && seconds > limit {
		kind.Warn(ctx, fmt.Sprintf("requested expiration of %d seconds shortened to %d seconds", seconds, limit))
		seconds = limit
		req.Spec.ExpirationSeconds = &seconds
	}
	c.Expires = now.Unix() + seconds
	if c.Kubernetes.Pod != nil && seconds == extendedFrom && contains(s.tokens.opts.Audiences, req.Spec.Audiences) {
		c.Kubernetes.WarnAfter, c.Expires = c.Expires, now.Unix()+extendedExpiration
	}
	key, err := s.tokens.key()
	if err != nil {
		return meta.NewInternalError(err)
	}
	token, err := sign(key, c)
	if err != nil {
		return meta.NewInternalError(fmt.Errorf("failed to generate token: %w", err))
	}
	req.Status = authenticationv1.TokenRequestStatus{Token: token, ExpirationTimestamp: metav1.NewTime(now.Add(time.Duration(seconds) * time.Second))}
	return nil
}

// contains reports whether all has each of some.
func contains(all, some []string) bool {
	return !slices.ContainsFunc(some, func(a string) bool { return !slices.Contains(all, a) })
}

// bind adds the object that a token is bound to.
func (s *Server) bind(ctx context.Context, account *corev1.ServiceAccount, to *authenticationv1.BoundObjectReference, c *boundClaims) error {
	if to == nil {
		return nil
	}
	gvk := schema.FromAPIVersionAndKind(to.APIVersion, to.Kind)
	plural, namespace := "", account.Namespace
	if gvk.Group == "" {
		plural = map[string]string{"Pod": "pods", "Node": "nodes", "Secret": "secrets"}[gvk.Kind]
	}
	switch plural {
	case "":
		if isWebhooks(to) { // what the gate switches on is not here
			return meta.NewBadRequest("cannot bind token to object of type %s (feature gate %s is disabled)", gvk, features.APIServerWebhookAuthenticationToken)
		}
		return meta.NewBadRequest("cannot bind token to object of type %s", gvk)
	case "nodes":
		namespace = ""
	}
	if to.Name == "" {
		return meta.NewBadRequest("Name parameter required.")
	}
	if problems := path.IsValidPathSegmentName(to.Name); len(problems) > 0 {
		return meta.NewBadRequest("Name parameter invalid: %q: %s", to.Name, strings.Join(problems, ";"))
	}
	o, err := s.get(plural, namespace, to.Name)
	if err != nil {
		return err
	}
	bound := &ref{o.GetObjectMeta().Name, types.UID(o.GetObjectMeta().UID)}
	switch plural {
	case "pods":
		if kind.ValueOf[corev1.Pod](o).Spec.ServiceAccountName != account.Name {
			return meta.NewBadRequest("cannot bind token for serviceaccount %q to pod running with different serviceaccount name.", account.Name)
		}
		c.Pod = bound
		if name := kind.ValueOf[corev1.Pod](o).Spec.NodeName; name != "" {
			c.Node = &ref{Name: name}
			if node, err := s.get("nodes", "", name); err == nil {
				c.Node.UID = types.UID(node.GetObjectMeta().UID)
			}
		}
	case "nodes":
		c.Node = bound
	case "secrets":
		c.Secret = bound
	}
	if to.UID != "" && to.UID != bound.UID {
		return meta.NewConflict(meta.GroupResource{Resource: gvk.Kind}, to.Name, fmt.Sprintf(
			"the UID in the bound object reference (%s) does not match the UID in record. The object might have been deleted and then recreated", to.UID))
	}
	return nil
}

// claimed is a token that names this server as its issuer. Its signature was not checked.
type claimed struct {
	*parsed
	claims
}

// parse returns a token of this server, or nil for any other.
func (t *Tokens) parse(token string) *claimed {
	if t == nil {
		return nil
	}
	p := parseToken(token)
	if p == nil {
		return nil
	}
	c := &claimed{parsed: p}
	if json.Unmarshal(p.body, &c.claims) != nil {
		return nil
	}
	if c.Issuer != t.opts.Issuer && !slices.Contains(t.opts.Issuers, c.Issuer) {
		return nil
	}
	return c
}

// verify returns the user of a token, and the requested audiences that the token covers, at least one. Nil audiences mean the
// audiences of the server (upstream: pkg/serviceaccount, jwtTokenAuthenticator and validator).
func (s *Server) verify(ctx context.Context, c *claimed, audiences []string) (httpapi.User, []string, error) {
	none := httpapi.User{}
	keys, err := s.tokens.publicKeys()
	if err != nil {
		return none, nil, err
	}
	err = errSignature
	for _, key := range keys {
		if err = c.checkSignature(key); err == nil {
			break
		}
	}
	if err != nil {
		return none, nil, err
	}
	own := s.tokens.opts.Audiences
	if len(c.Audience) == 0 {
		c.Audience = own
	}
	if audiences == nil {
		audiences = own
	}
	valid := slices.DeleteFunc(slices.Clone([]string(c.Audience)), func(a string) bool { return !slices.Contains(audiences, a) })
	if len(valid) == 0 {
		return none, nil, fmt.Errorf("token audiences %q is invalid for the target audiences %q", []string(c.Audience), audiences)
	}
	info, err := s.validate(ctx, &c.claims)
	if err != nil {
		return none, nil, err
	}
	u := info.UserInfo()
	return httpapi.User{Name: u.GetName(), UID: u.GetUID(), Groups: u.GetGroups(), Extra: u.GetExtra()}, valid, nil
}

// leeway is how far the clock of a client may be off.
const leeway = time.Minute

var errInvalidated = errors.New("service account token has been invalidated")

// validate checks the times of a token, and that the objects it names exist.
func (s *Server) validate(ctx context.Context, c *claims) (*serviceaccount.ServiceAccountInfo, error) {
	now := s.api.Store().Now()
	switch {
	case now.Add(leeway).Before(time.Unix(c.NotBefore, 0)):
		return nil, errors.New("service account token is not valid yet")
	case now.Add(-leeway).After(time.Unix(c.Expires, 0)):
		return nil, errors.New("service account token has expired")
	case now.Add(leeway).Before(time.Unix(c.IssuedAt, 0)):
		return nil, errors.New("service account token is issued in the future")
	}
	k := c.Kubernetes
	info := &serviceaccount.ServiceAccountInfo{Namespace: k.Namespace, Name: k.Account.Name, UID: string(k.Account.UID)}
	if c.ID != "" {
		info.CredentialID = "JTI=" + c.ID
	}
	account, err := s.get("serviceaccounts", k.Namespace, k.Account.Name)
	if err != nil {
		return nil, err
	}
	m := account.GetObjectMeta()
	if types.UID(m.UID) != k.Account.UID {
		return nil, fmt.Errorf("service account UID (%s) does not match claim (%s)", m.UID, k.Account.UID)
	}
	if gone(m, now) {
		return nil, fmt.Errorf("service account %s/%s has been deleted", k.Namespace, k.Account.Name)
	}
	if k.Secret != nil {
		if err := s.checkBound(ctx, "secrets", k.Namespace, k.Secret, "secret UID (%s) does not match service account secret ref claim (%s)"); err != nil {
			return nil, err
		}
	}
	if k.Pod != nil {
		if err := s.checkBound(ctx, "pods", k.Namespace, k.Pod, "pod UID (%s) does not match service account pod ref claim (%s)"); err != nil {
			return nil, err
		}
		info.PodName, info.PodUID = k.Pod.Name, string(k.Pod.UID)
	}
	if k.Node != nil {
		if k.Pod == nil {
			if err := s.checkBound(ctx, "nodes", "", k.Node, "node UID (%s) does not match service account node ref claim (%s)"); err != nil {
				return nil, err
			}
		}
		info.NodeName, info.NodeUID = k.Node.Name, string(k.Node.UID)
	}
	return info, nil
}

// gone reports whether an object was deleted so long ago that its tokens are not valid, although it is still there.
func gone(m *meta.ObjectMeta, now time.Time) bool {
	return m.DeletionTimestamp != nil && m.DeletionTimestamp.Before(now.Add(-leeway))
}

// checkBound checks that the object of a token is still there. mismatch is the text for another one of its name.
func (s *Server) checkBound(ctx context.Context, plural, namespace string, to *ref, mismatch string) error {
	o, err := s.get(plural, namespace, to.Name)
	if err != nil {
		return errInvalidated
	}
	m := o.GetObjectMeta()
	if types.UID(m.UID) != to.UID {
		return fmt.Errorf(mismatch, m.UID, to.UID)
	}
	if gone(m, s.api.Store().Now()) {
		return errInvalidated
	}
	return nil
}

// bearerToken returns the token of a request, or "".
func bearerToken(h http.Header) string {
	parts := strings.SplitN(strings.TrimSpace(h.Get("Authorization")), " ", 3)
	if len(parts) < 2 || !strings.EqualFold(parts[0], "bearer") {
		return ""
	}
	return parts[1]
}

// The paths of the documents about the issuer (OpenID Connect Discovery 1.0).
const (
	pathConfiguration = "/.well-known/openid-configuration"
	pathKeys          = "/openid/v1/jwks"
)

// issuer is the document about the issuer, with its members in the order of a kube-apiserver.
type issuer struct {
	Issuer     string   `json:"issuer"`
	Keys       string   `json:"jwks_uri"`
	Responses  []string `json:"response_types_supported"`
	Subjects   []string `json:"subject_types_supported"`
	Algorithms []string `json:"id_token_signing_alg_values_supported"`
}

// serveKeys answers with a document about the issuer.
func (s *Server) serveKeys(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		s.api.Fail(w, r, meta.NewStatusError(http.StatusMethodNotAllowed, meta.ReasonMethodNotAllowed, &meta.StatusDetails{},
			"the server does not allow this method on the requested resource"))
		return
	}
	keys, err := s.tokens.publicKeys()
	if err != nil {
		s.api.Fail(w, r, meta.NewInternalError(err))
		return
	}
	var (
		webKeys    = []*webKey{}
		algorithms = []string{}
	)
	for _, key := range keys {
		k, err := newWebKey(key)
		if err != nil {
			s.api.Fail(w, r, meta.NewInternalError(err))
			return
		}
		webKeys = append(webKeys, k)
		if !slices.Contains(algorithms, k.Algorithm) {
			algorithms = append(algorithms, k.Algorithm)
		}
	}
	var document any = map[string]any{"keys": webKeys}
	media := "application/jwk-set+json"
	if strings.HasPrefix(r.URL.Path, pathConfiguration) {
		media = "application/json"
		document = issuer{s.tokens.opts.Issuer, strings.TrimSuffix(s.tokens.opts.Issuer, "/") + pathKeys, []string{"id_token"}, []string{"public"}, algorithms}
	}
	if !accepts(r.Header.Get("Accept"), media) {
		s.api.Fail(w, r, meta.NewStatusError(http.StatusNotAcceptable, meta.ReasonNotAcceptable, &meta.StatusDetails{},
			"406: Not Acceptable\n\nAvailable representations: "+media))
		return
	}
	data, err := json.Marshal(document)
	if err != nil {
		s.api.Fail(w, r, meta.NewInternalError(err))
		return
	}
	w.Header().Set("Content-Type", media)
	w.Header().Set("Cache-Control", "public, max-age=3600")
	_, _ = w.Write(data)
}

// accepts reports whether an Accept header names a media type (upstream: go-restful, Route.matchesAccept).
func accepts(header, media string) bool {
	for part := range strings.SplitSeq(header, ",") {
		name, _, _ := strings.Cut(part, ";")
		if name = strings.Trim(name, " "); name == media || name == "*/*" {
			return true
		}
	}
	return header == ""
}
