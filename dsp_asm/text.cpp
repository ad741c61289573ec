#include "dsp_asm/text.h"

#include <fmt/format.h>

#include <cctype>

namespace deputy::dsp_asm {
namespace {

bool starts_name(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '.';
}
bool in_name(char c) { return starts_name(c) || std::isdigit(static_cast<unsigned char>(c)); }

struct Operator {
  std::string_view text;
  int rank;
};
// Longer ones first, so that "<<" is not read as "<".
constexpr Operator kOperators[] = {{"<<", 5}, {">>", 5}, {"<=", 3}, {">=", 3}, {"==", 3}, {"!=", 3},
                                   {"<", 3},  {">", 3},  {"+", 6},  {"-", 6},  {"*", 7},  {"/", 7},
                                   {"%", 7},  {"&", 2},  {"^", 1},  {"|", 0}};

// Wraps, as unsigned arithmetic does; shifts and divisions that C++ leaves open are the caller's
// error.
bool apply(std::string_view op, std::int64_t a, std::int64_t b, std::int64_t& out) {
  const auto ua = static_cast<std::uint64_t>(a), ub = static_cast<std::uint64_t>(b);
  if (op == "+")
    out = static_cast<std::int64_t>(ua + ub);
  else if (op == "-")
    out = static_cast<std::int64_t>(ua - ub);
  else if (op == "*")
    out = static_cast<std::int64_t>(ua * ub);
  else if (op == "/" || op == "%") {
    if (b == 0 || (b == -1 && a == INT64_MIN)) return false;
    out = op == "/" ? a / b : a % b;
  } else if (op == "<<" || op == ">>") {
    if (b < 0 || b > 62) return false;
    out = op == "<<" ? static_cast<std::int64_t>(ua << b) : a >> b;
  } else if (op == "&")
    out = a & b;
  else if (op == "^")
    out = a ^ b;
  else if (op == "|")
    out = a | b;
  else if (op == "<")
    out = a < b;
  else if (op == ">")
    out = a > b;
  else if (op == "<=")
    out = a <= b;
  else if (op == ">=")
    out = a >= b;
  else if (op == "==")
    out = a == b;
  else
    out = a != b;
  return true;
}

}  // namespace

void Cursor::skip_blanks() {
  while (at_ < line_.text.size() &&
         (line_.text[at_] == ' ' || line_.text[at_] == '\t' || line_.text[at_] == '\r'))
    ++at_;
}
bool Cursor::at_end() {
  skip_blanks();
  return at_ >= line_.text.size();
}
char Cursor::peek() {
  skip_blanks();
  return at_ < line_.text.size() ? line_.text[at_] : '\0';
}
bool Cursor::accept(std::string_view token) {
  skip_blanks();
  if (!rest().starts_with(token)) return false;
  at_ += token.size();
  return true;
}
std::string Cursor::name() {
  skip_blanks();
  if (at_ >= line_.text.size() || !starts_name(line_.text[at_])) return "";
  const std::size_t start = at_;
  while (at_ < line_.text.size() && in_name(line_.text[at_])) ++at_;
  return line_.text.substr(start, at_ - start);
}

base::Error Cursor::error_at(std::size_t at, std::string message, std::string remedy) const {
  const int column = at < line_.columns.size() ? line_.columns[at] : line_.columns.back();
  return {base::ErrorKind::kInput, fmt::format("{}:{}:{}", file_, line_.number, column),
          std::move(message), std::move(remedy)};
}
base::Status Cursor::expect(std::string_view token) {
  if (accept(token)) return {};
  return error(fmt::format("'{}' expected", token));
}
base::Status Cursor::expect_end() {
  if (at_end()) return {};
  return error(fmt::format("'{}' is too much here", rest()));
}

base::Result<std::int64_t> Cursor::unary(const Symbols& symbols) {
  // Every way down goes through here; an error ends the expression, so that only success must come
  // up again.
  if (++depth_ > 100) return error("the expression is nested too deeply");
  DEPUTY_ASSIGN(const std::int64_t value, operand(symbols));
  --depth_;
  return value;
}

base::Result<std::int64_t> Cursor::operand(const Symbols& symbols) {
  skip_blanks();
  const std::size_t start = at_;
  if (accept("-")) {
    DEPUTY_ASSIGN(const std::int64_t v, unary(symbols));
    return static_cast<std::int64_t>(-static_cast<std::uint64_t>(v));
  }
  if (accept("~")) {
    DEPUTY_ASSIGN(const std::int64_t v, unary(symbols));
    return ~v;
  }
  if (accept("(")) {
    DEPUTY_ASSIGN(const std::int64_t v, binary(symbols, 0));
    DEPUTY_TRY(expect(")"));
    return v;
  }
  if (at_ < line_.text.size() && std::isdigit(static_cast<unsigned char>(line_.text[at_]))) {
    const bool hex = rest().starts_with("0x") || rest().starts_with("0X");
    if (hex) at_ += 2;
    std::uint64_t value = 0;
    const std::size_t digits = at_;
    for (; at_ < line_.text.size() && std::isxdigit(static_cast<unsigned char>(line_.text[at_]));
         ++at_) {
      const char c = line_.text[at_];
      if (!hex && !std::isdigit(static_cast<unsigned char>(c))) break;
      const int digit =
          std::isdigit(static_cast<unsigned char>(c)) ? c - '0' : std::tolower(c) - 'a' + 10;
      if (value > (UINT64_MAX >> 5)) return error_at(start, "the number is too large");
      value = value * (hex ? 16 : 10) + static_cast<std::uint64_t>(digit);
    }
    if (at_ == digits || (at_ < line_.text.size() && in_name(line_.text[at_])))
      return error_at(start, "not a number");
    return static_cast<std::int64_t>(value);
  }
  const std::string symbol = name();
  if (symbol.empty()) return error_at(start, "a number or a name expected");
  const auto found = symbols.find(symbol);
  if (found == symbols.end())
    return error_at(start, fmt::format("'{}' is not defined", symbol),
                    "define it with .equ or .param");
  return found->second;
}

base::Result<std::int64_t> Cursor::binary(const Symbols& symbols, int lowest) {
  DEPUTY_ASSIGN(std::int64_t left, unary(symbols));
  for (;;) {
    skip_blanks();
    const Operator* found = nullptr;
    for (const Operator& op : kOperators)
      if (!found && rest().starts_with(op.text)) found = &op;
    // "||" joins operations.
    if (!found || found->rank < lowest || rest().starts_with("||")) return left;
    const std::size_t at = at_;
    const std::string_view text = found->text;
    at_ += text.size();
    DEPUTY_ASSIGN(const std::int64_t right, binary(symbols, found->rank + 1));
    if (!apply(text, left, right, left))
      return error_at(at, fmt::format("{} {} {} has no value", left, text, right));
  }
}

base::Result<std::int64_t> Cursor::expression(const Symbols& symbols) {
  depth_ = 0;
  return binary(symbols, 0);
}

base::Result<std::int64_t> Cursor::term(const Symbols& symbols) {
  depth_ = 0;
  return unary(symbols);
}

base::Result<Line> substitute(const Line& line, const std::string& file, const Symbols& symbols) {
  if (line.text.find('{') == std::string::npos) return line;
  Line out;
  out.number = line.number;
  for (std::size_t i = 0; i < line.text.size();) {
    if (line.text[i] != '{') {
      out.text += line.text[i], out.columns.push_back(line.columns[i]), ++i;
      continue;
    }
    Cursor cursor(line, file, i + 1);
    DEPUTY_ASSIGN(const std::int64_t value, cursor.expression(symbols));
    DEPUTY_TRY(cursor.expect("}"));
    for (const char c : std::to_string(value))
      out.text += c, out.columns.push_back(line.columns[i]);
    i = cursor.position();
  }
  out.columns.push_back(line.columns.back());
  return out;
}

}  // namespace deputy::dsp_asm
