package selector

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// shardMaximum is the end of the highest range, 2^64, and the only bound of 17 digits.
const shardMaximum = "0x10000000000000000"

// maxShardWarnings limits the warnings about short bounds: each becomes a response header.
const maxShardWarnings = 8

// ParseShards parses a shard selector, such as
//
//	shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')
//
// or several such calls joined by "||". The empty text selects every object, a blank text is an error. As apiserver's
// pkg/sharding Parse does, it parses an expression of the Common Expression Language (CEL) and refuses everything but these
// calls. Errors have upstream's text behind "invalid shard selector: ", and syntax errors behind "CEL parse error: " a text
// of this package that names the place.
//
// Unlike a server of version 1.37 it accepts bounds of fewer than 16 digits, because the published description shows them.
// It adds the leading zeros, and a warning for each of the first eight bounds names the full form. With an error the
// warnings are nil.
func ParseShards(s string) (shards Shards, warnings []string, err error) {
	if s == "" {
		return Shards{}, nil, nil
	}
	var r shardReader
	if err := r.read(s); err != nil {
		return Shards{}, nil, fmt.Errorf("invalid shard selector: %w", err)
	}
	return r.shards, r.warnings, nil
}

// shardReader collects the ranges and warnings of an expression.
type shardReader struct {
	shards   Shards
	warnings []string
}

func (r *shardReader) read(s string) error {
	s = strings.TrimSpace(s)
	if s == "" {
		return errors.New("empty shard selector is not allowed; omit the parameter for unfiltered lists")
	}
	expr, err := parseCEL(s)
	if err != nil {
		return fmt.Errorf("CEL parse error: %w", err)
	}

	var odd shardField // the first field that differs from the others
	for _, term := range expr.alternatives() {
		field, bounds, err := r.term(term)
		if err != nil {
			return err
		}
		if len(r.shards.ranges) == 0 {
			r.shards.field = field
		} else if field != r.shards.field && odd == "" {
			odd = field
		}
		r.shards.ranges = append(r.shards.ranges, bounds)
	}
	// Upstream compares the fields after it has checked every range.
	if odd != "" {
		return fmt.Errorf("all shard ranges must use the same field, got %q and %q", r.shards.field, odd)
	}
	return nil
}

// term returns the range of one call of shardRange. As upstream, it ignores the receiver in a.shardRange(…).
func (r *shardReader) term(e celNode) (shardField, shardRange, error) {
	switch {
	case e.kind != celCall:
		return "", shardRange{}, fmt.Errorf("unexpected expression kind %d; expected shardRange() call or || operator", e.kind)
	case e.name != "shardRange":
		return "", shardRange{}, fmt.Errorf("unsupported function %q; only shardRange() and || are allowed", e.name)
	case len(e.args) != 3:
		return "", shardRange{}, fmt.Errorf("shardRange() requires exactly 3 arguments, got %d", len(e.args))
	}

	path, err := e.args[0].path()
	if err != nil {
		return "", shardRange{}, fmt.Errorf("shardRange() first argument: %w", err)
	}
	field := shardField(path)
	if field != shardUID && field != shardNamespace {
		return "", shardRange{}, fmt.Errorf("unsupported field path %q; supported: %s, %s", path, shardUID, shardNamespace)
	}

	start, err := r.bound("hexStart", e.args[1])
	if err != nil {
		return "", shardRange{}, err
	}
	end, err := r.bound("hexEnd", e.args[2])
	if err != nil {
		return "", shardRange{}, err
	}
	// Longer is greater, and otherwise digits compare like the numbers they stand for.
	if len(start) > len(end) || len(start) == len(end) && start >= end {
		return "", shardRange{}, fmt.Errorf("shard range start %s must be less than end %s", start, end)
	}
	// hexNumber returns 0 for 2^64, and the subtraction makes the highest hash of it.
	return field, shardRange{first: hexNumber(start), last: hexNumber(end) - 1}, nil
}

// bound checks a bound and returns it with all its digits.
func (r *shardReader) bound(name string, e celNode) (string, error) {
	if e.kind != celLiteral {
		return "", fmt.Errorf("%s must be a string literal (e.g. '0xff'), got expression kind %d", name, e.kind)
	}
	if e.goType != "string" {
		return "", fmt.Errorf("%s must be a string literal, got %s", name, e.goType)
	}
	bound := e.name
	digits, found := strings.CutPrefix(bound, "0x")
	switch {
	case !found:
		return "", fmt.Errorf("%s must have '0x' prefix, got %q", name, bound)
	case digits == "":
		return "", fmt.Errorf("%s: hex value is required after '0x'", name)
	case len(digits) > 17:
		return "", fmt.Errorf("%s: hex value too long (%d chars, max 17): %q", name, len(digits), digits)
	}
	for _, c := range digits {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return "", fmt.Errorf("%s: invalid hex character %q in %q", name, string(c), bound)
		}
	}
	switch {
	case len(digits) == 17 && bound != shardMaximum:
		return "", fmt.Errorf("%s: 17-digit hex value must be '%s' (2^64), got %q", name, shardMaximum, bound)
	case len(digits) < 16:
		full := "0x" + strings.Repeat("0", 16-len(digits)) + digits
		r.warn(fmt.Sprintf("shardSelector: Kubernetes 1.37 refuses the bound '%s', write '%s'", bound, full))
		return full, nil
	}
	return bound, nil
}

func (r *shardReader) warn(text string) {
	if len(r.warnings) < maxShardWarnings && !slices.Contains(r.warnings, text) {
		r.warnings = append(r.warnings, text)
	}
}

// hexNumber returns the value of a checked bound, and 0 for 2^64.
func hexNumber(bound string) uint64 {
	digits := bound[len("0x"):]
	n, _ := strconv.ParseUint(digits[len(digits)-16:], 16, 64)
	return n
}
