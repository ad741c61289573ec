// Memory over time from what was moved, not from the compiler's plan: every transfer names its
// region, offset and operator.
#include <algorithm>
#include <map>
#include <tuple>

#include "tools/trace/view.h"

namespace deputy::tools {
namespace {

struct Access {
  std::uint64_t from_ps, to_ps;
  bool write;
  std::int64_t op;
  int region;
  std::uint64_t offset, extent;
  std::string what;
};

Access of_tensor(const Simulation& s, std::uint32_t tensor, bool write, std::uint64_t from,
                 std::uint64_t to, std::int64_t op) {
  const arch::PlacedTensor& t = s.executable.tensors[tensor];
  return {from,
          to,
          write,
          op,
          static_cast<int>(t.region),
          t.offset,
          static_cast<std::uint64_t>(t.desc.bytes()),
          {}};
}

std::vector<Access> accesses(const TraceView& view, const Simulation& s) {
  std::vector<Access> out;
  const auto placed = [&](std::uint32_t t) {
    return t != arch::kNoTensor && s.executable.tensors[t].placement == arch::Placement::kRegion &&
           !s.executable.tensors[t].constant;
  };
  for (const sim::TraceTrack& track : view.tracks)
    for (const sim::TraceSlice& slice : track.slices)
      if (slice.region > static_cast<int>(arch::Region::kConstants) &&
          slice.from_ps >= s.inference.start_ps)
        out.push_back({slice.issued_ps, slice.to_ps, track.name.ends_with(".store"), slice.op,
                       slice.region, slice.offset, slice.extent, slice.weights ? "weights" : ""});
  for (const auto& record : s.inference.steps) {
    const arch::Step& step = s.executable.steps[record.step];
    if (step.kind != arch::StepKind::kHost) continue;
    for (const std::uint32_t t : step.inputs)
      if (placed(t))
        out.push_back(of_tensor(s, t, false, record.start_ps, record.end_ps, step.source_op));
    for (const std::uint32_t t : step.outputs)
      if (placed(t))
        out.push_back(of_tensor(s, t, true, record.end_ps, record.end_ps, step.source_op));
  }
  for (std::size_t i = 0; i < s.executable.inputs.size(); ++i) {
    const std::uint32_t t = s.executable.inputs[i];
    if (!placed(t)) continue;
    out.push_back(of_tensor(s, t, true, s.inference.start_ps, s.inference.start_ps, -1));
    out.back().what = "input " + std::to_string(i);
  }
  for (const std::uint32_t t : s.executable.outputs)
    if (placed(t))
      out.push_back(of_tensor(s, t, false, s.inference.end_ps, s.inference.end_ps, -1));
  std::ranges::stable_sort(out, {}, [](const Access& a) { return std::tuple(a.to_ps, !a.write); });
  return out;
}

}  // namespace

std::vector<MemorySpan> memory_spans(const TraceView& view, const Simulation& s) {
  // Owners of byte ranges by region: begin -> (end, index of the span).
  std::map<int, std::map<std::uint64_t, std::pair<std::uint64_t, std::size_t>>> owners;
  std::map<std::tuple<int, std::int64_t, std::string>, std::size_t> known;
  std::vector<MemorySpan> out;
  for (const Access& a : accesses(view, s)) {
    if (a.extent == 0) continue;
    auto& ranges = owners[a.region];
    const std::uint64_t end = a.offset + a.extent;
    auto it = ranges.upper_bound(a.offset);
    if (it != ranges.begin() && std::prev(it)->second.first > a.offset) --it;
    if (!a.write) {
      for (; it != ranges.end() && it->first < end; ++it) {
        MemorySpan& span = out[it->second.second];
        span.to_ps = std::max(span.to_ps, a.to_ps);
      }
      continue;
    }
    const auto [entry, fresh] = known.try_emplace({a.region, a.op, a.what}, out.size());
    if (fresh) out.push_back({a.region, a.op, a.what, a.from_ps, a.to_ps, a.offset, a.extent});
    const std::size_t mine = entry->second;
    MemorySpan& span = out[mine];
    const std::uint64_t last = std::max(span.offset + span.bytes, end);
    span.offset = std::min(span.offset, a.offset), span.bytes = last - span.offset;
    span.from_ps = std::min(span.from_ps, a.from_ps), span.to_ps = std::max(span.to_ps, a.to_ps);
    // What was there is cut to what is left of it.
    while (it != ranges.end() && it->first < end) {
      const std::uint64_t begin = it->first;
      const auto [was_end, owner] = it->second;
      it = ranges.erase(it);
      if (begin < a.offset) ranges[begin] = {a.offset, owner};
      if (was_end > end) it = ranges.emplace(end, std::pair(was_end, owner)).first;
    }
    ranges[a.offset] = {end, mine};
  }
  return out;
}

}  // namespace deputy::tools
