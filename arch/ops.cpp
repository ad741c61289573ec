#include "arch/ops.h"

#include <array>
#include <utility>

#include "arch/onnx_node.h"
#include "base/check.h"

namespace deputy::arch {
namespace {
constexpr std::pair<OpKind, std::string_view> kOps[] = {
#define DEPUTY_OP_ROW(number, name) {OpKind::name, #name},
    DEPUTY_OP_KINDS(DEPUTY_OP_ROW)
#undef DEPUTY_OP_ROW
};
}  // namespace

std::string_view op_name(OpKind kind) {
  for (const auto& [k, name] : kOps)
    if (k == kind) return name;
  DEPUTY_CHECK(false, "unknown operator");
}

std::string_view op_word(OpKind kind, const OpAttrs& attrs) {
  if (kind != OpKind::ONNX || attrs.onnx.empty()) return op_name(kind);
  return onnx_op(attrs.onnx);
}

std::optional<OpKind> op_from_name(std::string_view name) {
  for (const auto& [kind, n] : kOps)
    if (n == name) return kind;
  return std::nullopt;
}

std::optional<OpKind> op_from_number(std::uint32_t number) {
  for (const auto& [kind, n] : kOps)
    if (static_cast<std::uint32_t>(kind) == number) return kind;
  return std::nullopt;
}

std::vector<OpKind> all_ops() {
  std::vector<OpKind> out;
  for (const auto& row : kOps) out.push_back(row.first);
  return out;
}
}  // namespace deputy::arch
