#include "api/quirks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace deputy::api {
namespace {

using delegate::Graph;
using delegate::Op;
using delegate::TensorId;

bool is_workaround(const std::string& name, delegate::Optimisations& switches, bool apply) {
  bool found = false;
  delegate::Optimisations::fields(switches, [&](bool& on, const base::Field& field) {
    if (name != std::string("no-") + field.name) return;
    found = true;
    if (apply) on = false;
  });
  return found;
}

// The operator as the compiler computes it when it folds a PAD before it
// (delegate/fusion/fold_pad.h), and that PAD.
std::optional<std::pair<Op, std::size_t>> with_pad_folded(const Graph& graph, const Op& op) {
  if (op.inputs.empty()) return std::nullopt;
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const Op& pad = graph.ops[i];
    if ((pad.kind != arch::OpKind::PAD && pad.kind != arch::OpKind::PADV2) ||
        pad.outputs[0] != op.inputs[0])
      continue;
    const delegate::Tensor& amounts = graph.tensor(pad.inputs[1]);
    if (!amounts.constant || amounts.data.size() != 32 || amounts.desc.dtype != DType::kInt32)
      return std::nullopt;
    std::int32_t sides[8];
    std::memcpy(sides, amounts.data.data(), sizeof sides);
    Op folded = op;
    folded.inputs[0] = pad.inputs[0];
    folded.attrs.pad_top += sides[2], folded.attrs.pad_bottom += sides[3];
    folded.attrs.pad_left += sides[4], folded.attrs.pad_right += sides[5];
    return std::pair(folded, i);
  }
  return std::nullopt;
}

}  // namespace

std::string NumberRange::text() const {
  if (low && high && *low == *high) return std::to_string(*low);
  return (low ? std::to_string(*low) : "") + ".." + (high ? std::to_string(*high) : "");
}

bool concerns(const Quirk& quirk, const DeviceIdentity& device) {
  return quirk.hardware.contains(device.hardware) && quirk.firmware.contains(device.firmware) &&
         quirk.driver.contains(device.driver);
}

bool matches(const Quirk& quirk, const Graph& graph, const Op& op) {
  if (quirk.op && *quirk.op != op.kind) return false;
  if (!quirk.types.empty() &&
      std::find(quirk.types.begin(), quirk.types.end(), op_type(graph, op)) == quirk.types.end())
    return false;
  return std::all_of(quirk.when.begin(), quirk.when.end(), [&](const auto& condition) {
    const auto values = find_feature(condition.first)->values(graph, op);
    return std::any_of(values.begin(), values.end(),
                       [&](std::int64_t v) { return condition.second.contains(v); });
  });
}

QuirkEffect apply_quirks(const Graph& graph, const std::vector<QuirkFile>& files,
                         const DeviceIdentity& device, delegate::CompileOptions& options) {
  QuirkEffect out;
  for (const QuirkFile& file : files)
    for (const Quirk& quirk : file.quirks) {
      if (!concerns(quirk, device)) continue;
      AppliedQuirk applied{quirk.id,     file.path,
                           file.sha256,  quirk.workaround.empty() ? "deny" : quirk.workaround,
                           quirk.reason, {}};
      for (std::size_t i = 0; i < graph.ops.size(); ++i) {
        if (matches(quirk, graph, graph.ops[i])) {
          applied.ops.push_back(i);
        } else if (const auto folded = with_pad_folded(graph, graph.ops[i]);
                   folded && matches(quirk, graph, folded->first)) {
          // By itself the operator is sound: it is enough that the PAD stays apart from it.
          applied.ops.push_back(quirk.workaround.empty() ? folded->second : i);
        }
      }
      if (applied.ops.empty()) continue;
      if (quirk.workaround.empty()) {
        for (const std::size_t op : applied.ops)
          if (out.denied
                  .emplace(op, fmt::format("quirk {} of {}: {}", quirk.id, file.path, quirk.reason))
                  .second)
            options.placement.rules.push_back(
                {fmt::format("#{}", op), delegate::Target::kNpu, true});
      } else {
        is_workaround(quirk.workaround, options.optimisations, true);
      }
      out.applied.push_back(std::move(applied));
    }
  return out;
}

void explain_denied(const QuirkEffect& effect, arch::Executable& executable) {
  for (const auto& [op, reason] : effect.denied)
    if (!executable.ops[op].on_npu) executable.ops[op].reason = reason;
}

}  // namespace deputy::api
