#include "arch/executable_check.h"

#include <fmt/format.h>

#include <algorithm>

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
    if (e_.externals.size() > kMaxExternalRegions)
      return fmt::format("{} external regions, the limit is {}", e_.externals.size(),
                         kMaxExternalRegions);
    for (std::size_t i = 0; i < e_.tensors.size(); ++i)
      if (const auto p = tensor(e_.tensors[i]); !p.empty())
        return fmt::format("tensor {}: {}", i, p);
    for (std::size_t i = 0; i < e_.externals.size(); ++i)
      if (const auto p = external(i); !p.empty())
        return fmt::format("external region {}: {}", i, p);
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
    if (!e_.fallbacks.empty() && e_.fallbacks.size() != e_.programs.size())
      return fmt::format("{} fallbacks for {} programs", e_.fallbacks.size(), e_.programs.size());
    for (const std::uint32_t id : e_.inputs)
      if (const auto p = given(id); !p.empty()) return "graph input: " + p;
    for (const std::uint32_t id : e_.outputs)
      if (const auto p = taken(id); !p.empty()) return "graph output: " + p;
    for (std::size_t i = 0; i < e_.steps.size(); ++i)
      if (const auto p = step(e_.steps[i]); !p.empty()) return fmt::format("step {}: {}", i, p);
    return {};
  }

 private:
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
    if (!is_one_of(t.region, Region::kExternal4)) return "unknown region";
    if (t.placement == Placement::kNone) return {};
    if (is_external(t.region) &&
        static_cast<std::size_t>(external_index(t.region)) >= e_.externals.size())
      return fmt::format("it lies in external region {} of {}", external_index(t.region),
                         e_.externals.size());
    const std::uint64_t limit = e_.region_bytes(t.region);
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
  /// A tensor whose bytes a step writes.
  std::string written(std::uint32_t id) const {
    if (const auto p = stored(id); !p.empty()) return p;
    const PlacedTensor& t = e_.tensors[id];
    if (t.placement != Placement::kRegion || t.desc.bytes() == 0) return {};
    if (t.region == Region::kConstants)
      return fmt::format("tensor {} is written but lies in the constants", id);
    if (!e_.region_written(t.region))
      return fmt::format("tensor {} is written but lies in the external region of an input", id);
    return {};
  }
  /// A graph input or output: an external region that it lies in is its own.
  std::string own_region(std::uint32_t id) const {
    const PlacedTensor& t = e_.tensors[id];
    if (t.placement != Placement::kRegion || t.desc.bytes() == 0 || !is_external(t.region))
      return {};
    const std::uint32_t owner =
        e_.externals[static_cast<std::size_t>(external_index(t.region))].tensor;
    return owner == id
               ? ""
               : fmt::format("tensor {} lies in the external region of tensor {}", id, owner);
  }
  std::string given(std::uint32_t id) const {
    if (const auto p = stored(id); !p.empty()) return p;
    const PlacedTensor& t = e_.tensors[id];
    if (t.placement == Placement::kRegion && t.region == Region::kConstants && t.desc.bytes() != 0)
      return fmt::format("tensor {} is written but lies in the constants", id);
    return own_region(id);
  }
  std::string taken(std::uint32_t id) const {
    if (const auto p = stored(id); !p.empty()) return p;
    return own_region(id);
  }

  std::string external(std::size_t index) const {
    const ExternalRegion& r = e_.externals[index];
    if (r.tensor >= e_.tensors.size())
      return fmt::format("tensor {} of {}", r.tensor, e_.tensors.size());
    const PlacedTensor& t = e_.tensors[r.tensor];
    if (t.placement != Placement::kRegion || t.offset != 0 ||
        t.region != external_region(static_cast<int>(index)))
      return fmt::format("tensor {} does not lie at its start", r.tensor);
    const auto bytes = static_cast<std::uint64_t>(t.desc.bytes());
    if (r.bytes == 0 || r.bytes != bytes)
      return fmt::format("{} bytes for a tensor of {}", r.bytes, bytes);
    if (r.align == 0 || (r.align & (r.align - 1)) != 0 || r.align > kMaxExternalAlign ||
        r.align % dtype_size(t.desc.dtype) != 0)
      return fmt::format("an alignment of {} bytes", r.align);
    if (!is_one_of(r.memory, ExternalMemory::kDram)) return "unknown memory";
    const auto among = [&](const std::vector<std::uint32_t>& ids) {
      return std::find(ids.begin(), ids.end(), r.tensor) != ids.end();
    };
    if (among(e_.inputs) == among(e_.outputs))
      return fmt::format("tensor {} must be a graph input or else a graph output", r.tensor);
    if (r.written != among(e_.outputs))
      return r.written ? "an input that is written" : "an output that is not written";
    return {};
  }

  std::string step(const Step& s) const {
    if (!is_one_of(s.kind, StepKind::kNpu)) return "unknown kind of step";
    const bool host = s.kind == StepKind::kHost;
    if (host && s.source_op >= e_.ops.size())
      return fmt::format("op {} of {}", s.source_op, e_.ops.size());
    if (!host && s.program >= e_.programs.size())
      return fmt::format("program {} of {}", s.program, e_.programs.size());
    if (s.dsp_job != kNoDspJob && (!host || s.dsp_job >= e_.dsp_jobs.size()))
      return fmt::format("DSP job {} of {}", s.dsp_job, e_.dsp_jobs.size());
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

std::string fallback_problem(const Executable& e, std::size_t program, const Executable& fallback) {
  if (!fallback.programs.empty() || !fallback.externals.empty() || !fallback.dsp_jobs.empty())
    return "it needs more than the CPU and its arenas";
  if (fallback.numerics != e.numerics) return "it has another rounding mode";
  const auto differ = [&](const char* what, const std::vector<std::uint32_t>& ours,
                          const std::vector<std::uint32_t>& theirs) -> std::string {
    if (ours.size() != theirs.size())
      return fmt::format("it has {} {}s, the program's step {}", theirs.size(), what, ours.size());
    for (std::size_t i = 0; i < ours.size(); ++i) {
      const TensorDesc &a = e.tensors[ours[i]].desc, &b = fallback.tensors[theirs[i]].desc;
      if (a.name != b.name || a.dtype != b.dtype || a.shape != b.shape || a.quant != b.quant)
        return fmt::format("its {} {} is not the step's '{}'", what, i, a.name);
    }
    return {};
  };
  for (const Step& step : e.steps) {
    if (step.kind != StepKind::kNpu || step.program != program) continue;
    if (const auto p = differ("input", step.inputs, fallback.inputs); !p.empty()) return p;
    if (const auto p = differ("output", step.outputs, fallback.outputs); !p.empty()) return p;
  }
  return {};
}

}  // namespace deputy::arch
