package selector

import (
	"cmp"
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
// or several such calls joined by "||", perhaps in parentheses. The empty text selects every object; a blank text is an
// error. The grammar is a part of the Common Expression Language (CEL), as in apiserver's pkg/sharding Parse. Errors begin
// with "invalid shard selector: ". Syntax errors name the place of the mistake.
//
// Unlike a server of version 1.37 ParseShards accepts bounds of fewer than 16 digits, as in the published description. It
// adds the leading zeros and warns about the first eight such bounds.
func ParseShards(s string) (shards Shards, warnings []string, err error) {
	if s == "" {
		return Shards{}, nil, nil
	}
	var p shardParser
	if err := p.parse(strings.TrimSpace(s)); err != nil {
		return Shards{}, nil, fmt.Errorf("invalid shard selector: %w", err)
	}
	return p.shards, p.warnings, nil
}

// shardParser collects the ranges and warnings of an expression.
type shardParser struct {
	shards   Shards
	warnings []string
}

func (p *shardParser) parse(s string) error {
	if s == "" {
		return errors.New("empty shard selector is not allowed; omit the parameter for unfiltered lists")
	}
	e, err := parseCEL(s)
	if err != nil {
		return fmt.Errorf("CEL parse error: %w", err)
	}
	var other shardField // the first field that differs from the others
	for _, call := range e.alternatives() {
		field, bounds, err := p.call(call)
		if err != nil {
			return err
		}
		p.shards.field = cmp.Or(p.shards.field, field)
		if field != p.shards.field {
			other = cmp.Or(other, field)
		}
		p.shards.ranges = append(p.shards.ranges, bounds)
	}
	// Upstream compares the fields after it has checked every range.
	if other != "" {
		return fmt.Errorf("all shard ranges must use the same field, got %q and %q", p.shards.field, other)
	}
	return nil
}

// call returns the field and the range of one call of shardRange.
func (p *shardParser) call(e expression) (shardField, shardRange, error) {
	switch {
	case e.kind != celCall:
		return "", shardRange{}, fmt.Errorf("unexpected expression kind %d; expected shardRange() call or || operator", e.kind)
	case e.name != "shardRange":
		return "", shardRange{}, fmt.Errorf("unsupported function %q; only shardRange() and || are allowed", e.name)
	case len(e.operands) != 3:
		return "", shardRange{}, fmt.Errorf("shardRange() requires exactly 3 arguments, got %d", len(e.operands))
	}

	path := e.operands[0]
	if path.kind != celIdent && path.kind != celSelect {
		return "", shardRange{}, fmt.Errorf("shardRange() first argument: expected field path (e.g. object.metadata.uid), got expression kind %d", path.kind)
	}
	field := shardField(path.name)
	if field != shardUID && field != shardNamespace {
		return "", shardRange{}, fmt.Errorf("unsupported field path %q; supported: %s, %s", field, shardUID, shardNamespace)
	}

	start, err := p.bound("hexStart", e.operands[1])
	if err != nil {
		return "", shardRange{}, err
	}
	end, err := p.bound("hexEnd", e.operands[2])
	if err != nil {
		return "", shardRange{}, err
	}
	// A longer bound is greater. Bounds of the same length compare like their digits.
	if len(start) > len(end) || len(start) == len(end) && start >= end {
		return "", shardRange{}, fmt.Errorf("shard range start %s must be less than end %s", start, end)
	}
	// hexNumber returns 0 for 2^64; subtracting 1 gives the highest hash.
	return field, shardRange{first: hexNumber(start), last: hexNumber(end) - 1}, nil
}

// bound checks a bound and returns it with all its digits.
func (p *shardParser) bound(name string, e expression) (string, error) {
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
	if wrong := strings.TrimLeft(digits, "0123456789abcdef"); wrong != "" {
		return "", fmt.Errorf("%s: invalid hex character %q in %q", name, string([]rune(wrong)[:1]), bound)
	}
	switch {
	case len(digits) == 17 && bound != shardMaximum:
		return "", fmt.Errorf("%s: 17-digit hex value must be '%s' (2^64), got %q", name, shardMaximum, bound)
	case len(digits) < 16:
		full := "0x" + strings.Repeat("0", 16-len(digits)) + digits
		warning := fmt.Sprintf("shardSelector: Kubernetes 1.37 refuses the bound '%s', write '%s'", bound, full)
		if len(p.warnings) < maxShardWarnings && !slices.Contains(p.warnings, warning) {
			p.warnings = append(p.warnings, warning)
		}
		return full, nil
	}
	return bound, nil
}

// hexNumber returns the value of a checked bound, and 0 for 2^64.
func hexNumber(bound string) uint64 {
	digits := bound[len("0x"):]
	n, _ := strconv.ParseUint(digits[len(digits)-16:], 16, 64)
	return n
}
