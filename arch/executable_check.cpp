#include "arch/executable_check.h"

#include <fmt/format.h>

#include <cmath>

namespace deputy::arch {
namespace {

// A region's length goes into a 32-bit register (SIZEn).
constexpr std::uint64_t kMaxRegionBytes = 0xFFFFFFFF;

template <class E>
bool is_one_of(E value, E last) {
  return static_cast<std::uint64_t>(value) <= static_cast<std::uint64_t>(last);
}

class Checker {
 public:
  explicit Checker(const Executable& e) : e_(e) {}

  std::string run() {
    if (!is_one_of(e_.numerics, Numerics::kFp32)) return "numerics is not a rounding mode";
    for (const auto& [bytes, region] : {std::pair{std::uint64_t{e_.constants.size()}, "constants"},
                                        std::pair{e_.fast_arena_bytes, "fast arena"},
                                        std::pair{e_.slow_arena_bytes, "slow arena"}})
      if (bytes > kMaxRegionBytes) return fmt::format("the {} take {} bytes", region, bytes);
    for (std::size_t i = 0; i < e_.tensors.size(); ++i)
      if (const auto p = tensor(e_.tensors[i]); !p.empty())
        return fmt::format("tensor {}: {}", i, p);
    for (std::size_t i = 0; i < e_.ops.size(); ++i)
      if (!op_from_number(static_cast<std::uint32_t>(e_.ops[i].kind)))
        return fmt::format("op {} is of the unknown kind {}", i,
                           static_cast<std::uint32_t>(e_.ops[i].kind));
    for (std::size_t i = 0; i < e_.ops.size(); ++i)
      if (const std::int32_t into = e_.ops[i].fused_into;
          into < -1 || into >= static_cast<std::int64_t>(e_.ops.size()))
        return fmt::format("op {} is fused into op {} of {}", i, into, e_.ops.size());
    for (std::size_t i = 0; i < e_.programs.size(); ++i)
      for (const std::uint32_t op : e_.programs[i].source_ops)
        if (op >= e_.ops.size())
          return fmt::format("program {} names op {} of {}", i, op, e_.ops.size());
    for (const std::uint32_t id : e_.inputs)
      if (const auto p = written(id); !p.empty()) return "graph input: " + p;
    for (const std::uint32_t id : e_.outputs)
      if (const auto p = stored(id); !p.empty()) return "graph output: " + p;
    for (std::size_t i = 0; i < e_.steps.size(); ++i)
      if (const auto p = step(e_.steps[i]); !p.empty()) return fmt::format("step {}: {}", i, p);
    return {};
  }

 private:
  std::uint64_t region_bytes(Region region) const {
    switch (region) {
      case Region::kConstants:
        return e_.constants.size();
      case Region::kFastArena:
        return e_.fast_arena_bytes;
      case Region::kSlowArena:
        return e_.slow_arena_bytes;
    }
    DEPUTY_CHECK(false, "the region was checked before");
  }

  std::string tensor(const PlacedTensor& t) const {
    if (!is_one_of(t.desc.dtype, static_cast<DType>(kDTypeCount - 1)))
      return "unknown element type";
    if (t.desc.shape.size() > kMaxTensorRank)
      return fmt::format("{} dimensions, the limit is {}", t.desc.shape.size(), kMaxTensorRank);
    std::uint64_t bytes = dtype_size(t.desc.dtype);
    for (const std::int32_t dim :
         t.desc.shape) {  // stays below 2^63: the limit times a 31-bit dimension
      if (dim < 0) return fmt::format("a dimension of {}", dim);
      bytes *= static_cast<std::uint64_t>(dim);
      if (bytes > kMaxRegionBytes) return "more bytes than a region can hold";
    }
    const Quantisation& q = t.desc.quant;
    if (q.scale.size() != q.zero_point.size())
      return fmt::format("{} scales but {} zero points", q.scale.size(), q.zero_point.size());
    if (q.per_channel() && (q.axis < 0 || static_cast<std::size_t>(q.axis) >= t.desc.shape.size() ||
                            static_cast<std::size_t>(
                                t.desc.shape[static_cast<std::size_t>(q.axis)]) != q.scale.size()))
      return fmt::format("{} scales along axis {} of {}", q.scale.size(), q.axis,
                         shape_text(t.desc.shape));
    if (!is_one_of(t.placement, Placement::kNone)) return "unknown placement";
    if (!is_one_of(t.region, Region::kSlowArena)) return "unknown region";
    if (t.placement == Placement::kNone) return {};
    const std::uint64_t limit = region_bytes(t.region);
    if (t.offset > limit || bytes > limit - t.offset)
      return fmt::format("{} bytes at {} leave their region of {} bytes", bytes, t.offset, limit);
    if (t.offset % dtype_size(t.desc.dtype) != 0)
      return fmt::format("offset {} is not a multiple of its element size", t.offset);
    if (t.constant && t.region != Region::kConstants) return "a constant outside the constants";
    return {};
  }

  /// A tensor whose bytes somebody outside the NPU reads.
  std::string stored(std::uint32_t id) const {
    if (id >= e_.tensors.size()) return fmt::format("tensor {} of {}", id, e_.tensors.size());
    const PlacedTensor& t = e_.tensors[id];
    if (t.placement == Placement::kNone && t.desc.bytes() != 0)
      return fmt::format("tensor {} has no storage", id);
    return {};
  }
  /// A tensor whose bytes a step or the caller writes.
  std::string written(std::uint32_t id) const {
    if (const auto p = stored(id); !p.empty()) return p;
    const PlacedTensor& t = e_.tensors[id];
    if (t.placement == Placement::kRegion && t.region == Region::kConstants && t.desc.bytes() != 0)
      return fmt::format("tensor {} is written but lies in the constants", id);
    return {};
  }

  std::string step(const Step& s) const {
    if (!is_one_of(s.kind, StepKind::kNpu)) return "unknown kind of step";
    const bool host = s.kind == StepKind::kHost;
    if (host && s.source_op >= e_.ops.size())
      return fmt::format("op {} of {}", s.source_op, e_.ops.size());
    if (!host && s.program >= e_.programs.size())
      return fmt::format("program {} of {}", s.program, e_.programs.size());
    if (host && s.attrs.activation > static_cast<std::uint8_t>(Activation::kRelu6))
      return "unknown fused activation";
    if (host && s.attrs.padding > static_cast<std::uint8_t>(Padding::kExplicit))
      return "unknown padding";
    for (const std::uint32_t id : s.inputs)
      if (!(host && id == kNoTensor))
        if (const auto p = stored(id); !p.empty()) return "input: " + p;
    for (const std::uint32_t id : s.outputs)
      if (const auto p = written(id); !p.empty()) return "output: " + p;
    if (host && s.outputs.empty()) return "a host operator without outputs";
    return {};
  }

  const Executable& e_;
};

}  // namespace

std::string executable_problem(const Executable& executable) { return Checker(executable).run(); }

}  // namespace deputy::arch
