// What an experiment varies: parameters with their levels or ranges, what follows from them, what
// is allowed.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/config.h"
#include "base/result.h"
#include "explore/expression.h"

namespace deputy::explore {

/// One knob with its value, as --set takes them.
struct Assignment {
  std::string key, value;
  auto operator<=>(const Assignment&) const = default;
};

/// One choice of a parameter: several knobs at once, or one.
struct Level {
  std::string text;  ///< what tables show
  std::optional<double>
      number;  ///< for expressions and sensitivity; a choice without one counts by position
  std::vector<Assignment> sets;
};

/// With levels, or continuous between two bounds.
struct Parameter {
  std::string name;
  std::string key;            ///< of the knob; empty when every level names its own
  std::vector<Level> levels;  ///< empty: continuous
  double from = 0, to = 0;
  bool logarithmic = false;
  double multiple_of = 0;  ///< values are rounded to it; 0: not at all
};

/// A knob whose value follows from others.
struct Linked {
  std::string key;
  Expression value;
};

/// Where a point lies: one number in [0, 1) a parameter. A level is an equal part of that, in
/// order.
using Genes = std::vector<double>;

struct Point {
  std::vector<std::string> texts;  ///< by parameter
  std::vector<double> numbers;     ///< by parameter: the value, or the position of a choice
  std::vector<Assignment> sets;    ///< sorted by key, linked knobs included
  /// "key=value" lines: equal for equal points.
  std::string id() const;
};

struct Space {
  std::vector<Parameter> parameters;
  std::vector<Linked> linked;
  std::vector<Expression> constraints;  ///< allowed: none is 0
  /// The value that a knob has where nobody sets it; for expressions. May be empty.
  Expression::Lookup base;

  /// kConfig when a linked expression has no value there.
  base::Result<Point> point(const Genes& genes) const;
  base::Result<bool> allowed(const Point& point) const;
  /// Genes of every combination of levels, the last parameter fastest. kConfig when a parameter is
  /// continuous or there are more than 10 million.
  base::Result<std::vector<Genes>> grid() const;

 private:
  Expression::Lookup lookup(const Point& point) const;
};

/// The whole text as a number, if it is one.
std::optional<double> number_of(const std::string& text);

/// Reads the groups `parameters`, `linked` and `constraints` of an experiment (docs/explore.md).
/// kConfig.
base::Result<Space> parse_space(base::Config& config);

}  // namespace deputy::explore
