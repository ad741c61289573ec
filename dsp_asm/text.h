// Source text that remembers where it came from, and the reading of names, numbers and expressions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace deputy::dsp_asm {

/// A line of source, perhaps after substitution: columns are those of the line in the file.
struct Line {
  std::string text;
  std::vector<int> columns;  ///< of each character, from 1, and one more for the end
  int number = 0;
};
using Symbols = std::map<std::string, std::int64_t, std::less<>>;

/// Reads one line from left to right.
class Cursor {
 public:
  Cursor(const Line& line, const std::string& file, std::size_t at = 0)
      : line_(line), file_(file), at_(at) {}

  void skip_blanks();
  bool at_end();
  /// True, and past it, when `token` comes next (after blanks).
  bool accept(std::string_view token);
  /// A name: letters, digits, '_', '.', not beginning with a digit; empty when there is none.
  std::string name();
  /// An integer expression: + - * / % << >> & | ^ ~ ( ) comparisons, names, decimal and 0x numbers.
  base::Result<std::int64_t> expression(const Symbols& symbols);
  /// A number, a name or an expression in parentheses.
  base::Result<std::int64_t> term(const Symbols& symbols);
  base::Status expect(std::string_view token);
  base::Status expect_end();

  std::size_t position() const { return at_; }
  void move_to(std::size_t at) { at_ = at; }
  char peek();
  std::string_view rest() const { return std::string_view(line_.text).substr(at_); }
  base::Error error(std::string message, std::string remedy = "") const {
    return error_at(at_, std::move(message), std::move(remedy));
  }
  base::Error error_at(std::size_t at, std::string message, std::string remedy = "") const;

 private:
  base::Result<std::int64_t> binary(const Symbols& symbols, int lowest);
  base::Result<std::int64_t> unary(const Symbols& symbols);
  base::Result<std::int64_t> operand(const Symbols& symbols);

  const Line& line_;
  const std::string& file_;
  std::size_t at_;
  int depth_ = 0;
};

/// Replaces each {expression} by its decimal value.
base::Result<Line> substitute(const Line& line, const std::string& file, const Symbols& symbols);

}  // namespace deputy::dsp_asm
