// The TFLite format's operator numbers and which option table goes with each operator.
#pragma once

#include <cstdint>
#include <optional>

#include "arch/ops.h"

namespace deputy::delegate {

/// The operator of a BuiltinOperator number; nothing for those we do not take.
std::optional<arch::OpKind> op_from_builtin_code(std::int32_t code);
std::int32_t builtin_code(arch::OpKind kind);

/// The format's number for an operator that is not a builtin: its name is a string in the file.
inline constexpr std::int32_t kCustomCode = 32;
/// What the one-byte code field holds when the number does not fit it.
inline constexpr std::int32_t kCodePlaceholder = 127;

}  // namespace deputy::delegate
