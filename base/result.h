// Result<T>: a value, or an error that says what happened, where, and what to do about it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/check.h"

namespace deputy::base {

/// What kind of thing went wrong. The number is the process's exit code.
enum class ErrorKind : int {
  kUsage = 2,          ///< the command line
  kModel = 3,          ///< a model file is malformed
  kConfig = 4,         ///< a YAML file or --set
  kUnsupported = 5,    ///< well-formed, but no engine of this SoC takes it
  kHardwareFault = 6,  ///< the (simulated) hardware reported a fault or did not answer in time
  kIo = 7,             ///< a file could not be read or written
  kMismatch = 8,       ///< outputs differ from the expected ones, or the books do not balance
  kInput = 9,          ///< an input tensor has the wrong size, type or shape
  kBusy = 10,          ///< nothing is wrong, but no room now: wait for a fence and try again
  kDeadline = 11,      ///< the caller's deadline passed
  kCancelled = 12,     ///< the caller gave the work up
};

struct Error {
  ErrorKind kind;
  std::string where;    ///< file:line, op name, register ...; may be empty
  std::string message;  ///< what is wrong, with the offending value
  std::string remedy;   ///< what to do; may be empty

  /// "where: message (remedy)"
  std::string text() const;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT: implicit on purpose
  Result(Error error) : state_(std::move(error)) {}  // NOLINT: implicit on purpose

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & {
    DEPUTY_CHECK(ok(), "value() of a failed Result");
    return std::get<0>(state_);
  }
  const T& value() const& {
    DEPUTY_CHECK(ok(), "value() of a failed Result");
    return std::get<0>(state_);
  }
  T&& value() && {
    DEPUTY_CHECK(ok(), "value() of a failed Result");
    return std::get<0>(std::move(state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const {
    DEPUTY_CHECK(!ok(), "error() of a successful Result");
    return std::get<1>(state_);
  }

 private:
  std::variant<T, Error> state_;
};

/// The result of something that has no value.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::move(error)) {}  // NOLINT: implicit on purpose
  bool ok() const { return !error_; }
  explicit operator bool() const { return ok(); }
  const Error& error() const {
    DEPUTY_CHECK(!ok(), "error() of a successful Status");
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

}  // namespace deputy::base

/// Returns the error of `expression` (a Status or Result) from this function, if it has one.
#define DEPUTY_TRY(expression)                                                          \
  do {                                                                                  \
    if (auto deputy_try_ = (expression); !deputy_try_.ok()) return deputy_try_.error(); \
  } while (false)

#define DEPUTY_CONCAT_(a, b) a##b
#define DEPUTY_CONCAT(a, b) DEPUTY_CONCAT_(a, b)
/// DEPUTY_ASSIGN(auto x, f()): x gets f()'s value, or this function returns f()'s error.
#define DEPUTY_ASSIGN(declaration, expression)                 \
  auto DEPUTY_CONCAT(deputy_result_, __LINE__) = (expression); \
  if (!DEPUTY_CONCAT(deputy_result_, __LINE__).ok())           \
    return DEPUTY_CONCAT(deputy_result_, __LINE__).error();    \
  declaration = std::move(DEPUTY_CONCAT(deputy_result_, __LINE__)).value()
