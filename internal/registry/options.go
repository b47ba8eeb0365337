package registry

import (
	"time"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store/field"
)

// ListOptions configures a list; package store documents the fields. The zero value lists everything.
type ListOptions struct {
	Namespace                                   string
	LabelSelector, FieldSelector, ShardSelector string
	Limit                                       int64
	Continue                                    string
	ResourceVersion, ResourceVersionMatch       string
	// SendInitialEvents must be nil: it is for watches.
	SendInitialEvents *bool
	// WatchRules validates the options by the rules of a watch, as upstream does for the
	// deletion of a collection with watch=true.
	WatchRules bool
	// Warn, if not nil, is called with each warning for the client.
	Warn func(text string)
}

// The values of ResourceVersionMatch.
const (
	MatchExact        = "Exact"
	MatchNotOlderThan = "NotOlderThan"
)

func (o *ListOptions) validate() error {
	v := versionOptions{o.ResourceVersion, o.ResourceVersionMatch, o.Continue, o.SendInitialEvents}
	if o.WatchRules {
		return v.checkWatch()
	}
	return v.checkList()
}

// WatchOptions configures a watch; package store documents the fields. The zero value
// watches everything and starts with the current state.
type WatchOptions struct {
	Namespace, Name                             string
	LabelSelector, FieldSelector, ShardSelector string
	// ResourceVersion is where to start. "" and "0" start with the current state.
	ResourceVersion string
	// ResourceVersionMatch must be "NotOlderThan" with SendInitialEvents, else "".
	ResourceVersionMatch string
	// SendInitialEvents asks for the current state first, or for none.
	SendInitialEvents   *bool
	AllowWatchBookmarks bool
	// Continue is for lists. In most cases it is an error here.
	Continue string
	// Timeout ends the watch. Zero means no limit; below zero it ends at once.
	Timeout time.Duration
	// EndWithoutContact ends the watch when the store has had no contact to its Backend for
	// half a minute, and refuses to start it then, so that the client goes to another server.
	EndWithoutContact bool
	// ListRules validates the options by the rules of a list, as upstream does for the
	// deprecated paths below /watch/.
	ListRules bool
	// Warn, if not nil, is called with each warning for the client.
	Warn func(text string)
}

// validate sets defaults, and returns a 422 or nil. A watch without a version starts with the
// current state (upstream: the gate WatchList).
func (o *WatchOptions) validate() error {
	if !o.ListRules && o.SendInitialEvents == nil && o.ResourceVersionMatch == "" && (o.ResourceVersion == "" || o.ResourceVersion == "0") {
		o.SendInitialEvents, o.ResourceVersionMatch = new(true), MatchNotOlderThan
	}
	v := versionOptions{o.ResourceVersion, o.ResourceVersionMatch, o.Continue, o.SendInitialEvents}
	if o.ListRules {
		return v.checkList()
	}
	return v.checkWatch()
}

// versionOptions are the options that lists and watches check by rules of their own (upstream:
// apimachinery, meta/internalversion/validation).
type versionOptions struct {
	version, match, token string
	initial               *bool
}

const (
	matchField     = field.Path("resourceVersionMatch")
	matchWithToken = "resourceVersionMatch is forbidden when continue is provided"
)

func (o versionOptions) checkList() error {
	var errs field.Errors
	if o.match != "" {
		if o.version == "" {
			errs = append(errs, field.Forbidden(matchField, "resourceVersionMatch is forbidden unless resourceVersion is provided"))
		}
		if o.token != "" {
			errs = append(errs, field.Forbidden(matchField, matchWithToken))
		}
		if o.match != MatchExact && o.match != MatchNotOlderThan {
			errs = append(errs, field.NotSupported(matchField, o.match, MatchExact, MatchNotOlderThan, ""))
		}
		if o.match == MatchExact && o.version == "0" {
			errs = append(errs, field.Forbidden(matchField, `resourceVersionMatch "exact" is forbidden for resourceVersion "0"`))
		}
	}
	if o.initial != nil {
		errs = append(errs, field.Forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"))
	}
	return kinds.OptionsError("ListOptions", errs)
}

func (o versionOptions) checkWatch() error {
	var errs field.Errors
	if o.initial != nil && o.match != MatchNotOlderThan {
		errs = append(errs, field.Forbidden(matchField, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"))
	}
	if o.match != "" {
		if o.initial == nil {
			errs = append(errs, field.Forbidden(matchField, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"))
		}
		if o.match != MatchNotOlderThan {
			errs = append(errs, field.NotSupported(matchField, o.match, MatchNotOlderThan))
		}
		if o.token != "" {
			errs = append(errs, field.Forbidden(matchField, matchWithToken))
		}
	}
	return kinds.OptionsError("ListOptions", errs)
}
