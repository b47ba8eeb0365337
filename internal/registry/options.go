package registry

import (
	"time"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store/field"
)

// ListOptions configures a list or a watch, as the ListOptions of the API do; package store documents the fields. The zero value
// lists everything, or watches everything and starts with the current state.
type ListOptions struct {
	Namespace                                   string
	Version                                     int // its SelectableFields may be selected
	LabelSelector, FieldSelector, ShardSelector string
	ResourceVersion, ResourceVersionMatch       string
	// Continue, Limit and Waiting are for lists. In most cases Continue is an error for a watch.
	Continue string
	Limit    int64
	Waiting  Waiting
	// OtherRules validates a list by the rules of a watch, or a watch by the rules of a list. For upstream the parameter watch decides,
	// which differs from the request in the deletion of a collection and in the deprecated paths below /watch/.
	OtherRules bool
	// SendInitialEvents asks a watch for the current state first, or for none. It must be nil for a list.
	SendInitialEvents *bool
	// Warn, if not nil, is called with each warning for the client.
	Warn func(text string)

	// The others are for watches. Name is as Namespace.
	Name                string
	AllowWatchBookmarks bool
	// Timeout ends the watch. Zero means no limit; below zero it ends at once.
	Timeout time.Duration
	// EndWithoutContact ends the watch when the store has had no contact to its Backend for
	// half a minute, and refuses to start it then, so that the client goes to another server.
	EndWithoutContact bool
	noWatchList       bool // see ReplicaOptions.NoWatchList
}

// Waiting runs the wait of a read for a version in the future, and returns its error or one of its own. A caller that must hold
// nothing meanwhile gives it up there. A nil Waiting only waits.
type Waiting func(wait func() error) error

// The values of ResourceVersionMatch.
const (
	MatchExact        = "Exact"
	MatchNotOlderThan = "NotOlderThan"
)

// setWatchDefaults makes a watch without a version start with the current state (upstream: the gate WatchList).
func (o *ListOptions) setWatchDefaults() {
	if !o.OtherRules && !o.noWatchList && o.SendInitialEvents == nil && o.ResourceVersionMatch == "" && (o.ResourceVersion == "" || o.ResourceVersion == "0") {
		o.SendInitialEvents, o.ResourceVersionMatch = new(true), MatchNotOlderThan
	}
}

const (
	matchField     = field.Path("resourceVersionMatch")
	matchWithToken = "resourceVersionMatch is forbidden when continue is provided"
)

// check returns a 422 or nil (upstream: apimachinery, meta/internalversion/validation).
func (o *ListOptions) check(watch bool) error {
	if watch != o.OtherRules {
		return kinds.OptionsError("ListOptions", o.checkWatch())
	}
	return kinds.OptionsError("ListOptions", o.checkList())
}

func (o *ListOptions) checkList() (errs field.Errors) {
	if o.ResourceVersionMatch != "" {
		if o.ResourceVersion == "" {
			errs = append(errs, field.Forbidden(matchField, "resourceVersionMatch is forbidden unless resourceVersion is provided"))
		}
		if o.Continue != "" {
			errs = append(errs, field.Forbidden(matchField, matchWithToken))
		}
		if o.ResourceVersionMatch != MatchExact && o.ResourceVersionMatch != MatchNotOlderThan {
			errs = append(errs, field.NotSupported(matchField, o.ResourceVersionMatch, MatchExact, MatchNotOlderThan, ""))
		}
		if o.ResourceVersionMatch == MatchExact && o.ResourceVersion == "0" {
			errs = append(errs, field.Forbidden(matchField, `resourceVersionMatch "exact" is forbidden for resourceVersion "0"`))
		}
	}
	if o.SendInitialEvents != nil {
		errs = append(errs, field.Forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"))
	}
	return errs
}

func (o *ListOptions) checkWatch() (errs field.Errors) {
	if o.SendInitialEvents != nil && o.ResourceVersionMatch != MatchNotOlderThan {
		errs = append(errs, field.Forbidden(matchField, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"))
	}
	if o.SendInitialEvents != nil && o.noWatchList {
		errs = append(errs, field.Forbidden("sendInitialEvents", "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"))
	}
	if o.ResourceVersionMatch != "" {
		if o.SendInitialEvents == nil {
			errs = append(errs, field.Forbidden(matchField, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"))
		}
		if o.ResourceVersionMatch != MatchNotOlderThan {
			errs = append(errs, field.NotSupported(matchField, o.ResourceVersionMatch, MatchNotOlderThan))
		}
		if o.Continue != "" {
			errs = append(errs, field.Forbidden(matchField, matchWithToken))
		}
	}
	return errs
}
