// Arithmetic over named numbers, for constraints and linked parameters: "shape.lanes * 2 <= bus &&
// sram >= 64KiB".
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace deputy::explore {

/// Operators by rising strength: ||, &&, comparisons (1 or 0), + -, * / %, unary - and !. Functions
/// min(a,b), max(a,b), ceil(a), floor(a), round(a), sqrt(a), log2(a). Numbers may end in KiB, MiB
/// or GiB. Names begin with a letter and may have digits, '_' and '.'.
class Expression {
 public:
  /// kConfig with `where` when the text is not understood.
  static base::Result<Expression> parse(std::string_view text, const std::string& where);

  using Lookup = std::function<std::optional<double>(const std::string& name)>;
  /// kConfig when a name is unknown to `lookup`, or the result is no number (a division by zero,
  /// ...).
  base::Result<double> value(const Lookup& lookup) const;

 private:
  friend class Parser;
  /// Of a stack machine, operands first.
  struct Step {
    enum class Kind : std::uint8_t { kNumber, kName, kUnary, kBinary } kind;
    double number = 0;
    std::string name;  ///< of the variable, operator or function
  };
  std::vector<Step> steps_;
  std::string text_, where_;
};

}  // namespace deputy::explore
