package registry

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/store/meta"
)

// continueToken is where the next page of a list starts: a version, and a key relative to
// the namespace of the list (upstream: apiserver, storage/continue.go).
type continueToken struct {
	APIVersion      string `json:"v"`
	ResourceVersion int64  `json:"rv"`
	Start           string `json:"start"`
}

const continueVersion = "meta.k8s.io/v1"

// latest, instead of a version, continues from the key in the current state.
const latest = -1

func encodeContinue(version int64, start string) string {
	b, _ := json.Marshal(continueToken{continueVersion, version, start})
	return base64.RawURLEncoding.EncodeToString(b)
}

// decodeContinue returns the version and the start key of a token. It refuses keys that are
// no clean path, as upstream does.
func decodeContinue(s string) (version int64, start string, err error) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return 0, "", invalidContinue("%v", err)
	}
	var t continueToken
	if err := codec.Unmarshal(b, &t); err != nil {
		if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && e.Field == "" {
			return 0, "", invalidContinue("json: cannot unmarshal %s into Go value of type storage.continueToken", e.Value)
		}
		return 0, "", invalidContinue("%v", err)
	}
	switch {
	case t.APIVersion != continueVersion:
		return 0, "", invalidContinue("server does not recognize this encoded version %v", t.APIVersion)
	case t.ResourceVersion == 0:
		return 0, "", invalidContinue("incorrect encoded start resourceVersion (version %s)", continueVersion)
	case t.Start == "":
		return 0, "", invalidContinue("encoded start key empty (version %s)", continueVersion)
	}
	key := t.Start
	if !strings.HasPrefix(key, "/") {
		key = "/" + key
	}
	if path.Clean(key) != key {
		return 0, "", invalidContinue("%s", t.Start)
	}
	return t.ResourceVersion, key[1:], nil
}

func invalidContinue(format string, args ...any) error {
	return meta.NewBadRequest("invalid continue token: continue key is not valid: %s", fmt.Sprintf(format, args...))
}

// expiredContinue is the error of a token whose version has expired. It carries a token that continues in the current
// state, without the slash of other tokens: a real server makes it in etcd's store, and others in its cache.
func expiredContinue(start string) error {
	err := meta.NewExpired("The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.")
	err.Status.Continue = encodeContinue(latest, start)
	return err
}
