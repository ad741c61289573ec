#include "explore/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace deputy::explore {

// Recursive descent; each level of strength is one call of binary().
class Parser {
 public:
  Parser(std::string_view text, const std::string& where) : text_(text) {
    out_.text_ = text, out_.where_ = where;
  }

  base::Result<Expression> parse() {
    binary(0);
    skip();
    if (problem_.empty() && at_ != text_.size())
      problem_ = fmt::format("does not end at '{}'", text_.substr(at_));
    if (problem_.empty()) return std::move(out_);
    return base::Error{base::ErrorKind::kConfig, out_.where_,
                       fmt::format("'{}' {}", out_.text_, problem_),
                       "write an expression such as 'a * b <= 256' (docs/explore.md)"};
  }

 private:
  using Kind = Expression::Step::Kind;
  static constexpr int kLevels = 5;
  static constexpr int kDeepest = 200;

  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool take(std::string_view token) {
    skip();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  void add(Kind kind, std::string name, double number = 0) {
    out_.steps_.push_back({kind, number, std::move(name)});
  }
  void fail(std::string what) {
    if (problem_.empty()) problem_ = std::move(what);
  }

  void binary(int level) {
    static const std::array<std::vector<std::string>, kLevels> operators = {
        {{"||"}, {"&&"}, {"<=", ">=", "==", "!=", "<", ">"}, {"+", "-"}, {"*", "/", "%"}}};
    if (level == kLevels) return unary();
    binary(level + 1);
    for (bool found = true; found && problem_.empty();) {
      found = false;
      for (const std::string& op : operators[static_cast<std::size_t>(level)]) {
        if (!take(op)) continue;
        binary(level + 1);
        add(Kind::kBinary, op);
        found = true;
        break;
      }
    }
  }

  void unary() {
    if (++depth_ > kDeepest) return fail("is nested too deep");
    if (take("-")) {
      unary();
      add(Kind::kUnary, "-");
    } else if (take("!")) {
      unary();
      add(Kind::kUnary, "!");
    } else if (take("(")) {
      binary(0);
      if (problem_.empty() && !take(")")) fail("has a '(' without ')'");
    } else {
      atom();
    }
    --depth_;
  }

  void atom() {
    skip();
    if (at_ == text_.size()) return fail("ends where a value should be");
    const char c = text_[at_];
    if (std::isdigit(static_cast<unsigned char>(c)) || c == '.') return number();
    if (!std::isalpha(static_cast<unsigned char>(c)))
      return fail(fmt::format("has no value at '{}'", text_.substr(at_)));
    const std::size_t from = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) ||
                                  text_[at_] == '_' || text_[at_] == '.'))
      ++at_;
    const std::string name(text_.substr(from, at_ - from));
    if (!take("(")) return add(Kind::kName, name);
    static constexpr std::array<std::string_view, 5> one = {"ceil", "floor", "round", "sqrt",
                                                            "log2"};
    const bool two = name == "min" || name == "max";
    if (!two && std::ranges::find(one, name) == one.end())
      return fail(fmt::format("calls '{}', which is no function", name));
    binary(0);
    if (two && problem_.empty() && !take(","))
      return fail(fmt::format("gives '{}' one value", name));
    if (two) binary(0);
    if (problem_.empty() && !take(")")) fail("has a '(' without ')'");
    add(two ? Kind::kBinary : Kind::kUnary, name);
  }

  void number() {
    double value = 0;
    const auto [end, error] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc()) return fail(fmt::format("has no number at '{}'", text_.substr(at_)));
    at_ = static_cast<std::size_t>(end - text_.data());
    for (const auto& [suffix, factor] :
         {std::pair{"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}})
      if (text_.substr(at_).starts_with(suffix)) value *= factor, at_ += 3;
    add(Kind::kNumber, "", value);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::string problem_;
  Expression out_;
};

namespace {

double unary_of(const std::string& op, double a) {
  if (op == "-") return -a;
  if (op == "!") return a == 0;
  if (op == "ceil") return std::ceil(a);
  if (op == "floor") return std::floor(a);
  if (op == "round") return std::round(a);
  return op == "sqrt" ? std::sqrt(a) : std::log2(a);
}

double binary_of(const std::string& op, double a, double b) {
  if (op == "+") return a + b;
  if (op == "-") return a - b;
  if (op == "*") return a * b;
  if (op == "/") return a / b;
  if (op == "%") return std::fmod(a, b);
  if (op == "<") return a < b;
  if (op == "<=") return a <= b;
  if (op == ">") return a > b;
  if (op == ">=") return a >= b;
  if (op == "==") return a == b;
  if (op == "!=") return a != b;
  if (op == "&&") return a != 0 && b != 0;
  if (op == "||") return a != 0 || b != 0;
  return op == "min" ? std::min(a, b) : std::max(a, b);
}

}  // namespace

base::Result<Expression> Expression::parse(std::string_view text, const std::string& where) {
  return Parser(text, where).parse();
}

base::Result<double> Expression::value(const Lookup& lookup) const {
  std::vector<double> stack;
  const auto pop = [&] {
    const double top = stack.back();
    stack.pop_back();
    return top;
  };
  for (const Step& step : steps_) {
    if (step.kind == Step::Kind::kNumber) {
      stack.push_back(step.number);
    } else if (step.kind == Step::Kind::kName) {
      const auto found = lookup(step.name);
      if (!found)
        return base::Error{
            base::ErrorKind::kConfig, where_,
            fmt::format("'{}': nothing is called '{}', or it is no number", text_, step.name),
            "use the name of a parameter or a key of 'deputy list params'"};
      stack.push_back(*found);
    } else if (step.kind == Step::Kind::kUnary) {
      stack.back() = unary_of(step.name, stack.back());
    } else {
      const double b = pop();
      stack.back() = binary_of(step.name, stack.back(), b);
    }
  }
  if (std::isfinite(stack.back())) return stack.back();
  return base::Error{base::ErrorKind::kConfig, where_, fmt::format("'{}' is no number here", text_),
                     "look for a division by zero"};
}

}  // namespace deputy::explore
