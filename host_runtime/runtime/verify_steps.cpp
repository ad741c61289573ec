#include "host_runtime/runtime/verify_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace deputy::host_runtime {
namespace {

/// Bytes of a region, as disjoint ranges that do not touch.
class ByteSet {
 public:
  void add(std::uint64_t begin, std::uint64_t end) {
    if (begin >= end) return;
    auto it = ranges_.upper_bound(begin);
    if (it != ranges_.begin() && std::prev(it)->second >= begin) --it;
    while (it != ranges_.end() && it->first <= end) {
      begin = std::min(begin, it->first);
      end = std::max(end, it->second);
      it = ranges_.erase(it);
    }
    ranges_[begin] = end;
  }
  bool has(std::uint64_t begin, std::uint64_t end) const {
    if (begin >= end) return true;
    auto it = ranges_.upper_bound(begin);
    return it != ranges_.begin() && std::prev(it)->second >= end;
  }

 private:
  std::map<std::uint64_t, std::uint64_t> ranges_;  ///< begin to end
};
using Bytes = std::array<ByteSet, arch::kRegionCount>;

class Checker {
 public:
  Checker(const arch::Executable& e, std::span<const ProgramFootprint> footprints,
          const std::string& where)
      : e_(e), footprints_(footprints), where_(where) {
    written_[static_cast<std::size_t>(arch::Region::kConstants)].add(0, e.constants.size());
  }

  base::Status run() {
    for (const std::uint32_t id : e_.inputs) add(written_, id);
    for (std::size_t i = 0; i < e_.steps.size(); ++i) {
      const arch::Step& step = e_.steps[i];
      for (const std::uint32_t id : step.inputs)
        if (id != arch::kNoTensor && !has(written_, id))
          return bad(fmt::format("step {} reads tensor {}, which nothing has written", i, id));
      if (step.kind == arch::StepKind::kHost) {
        for (const std::uint32_t id : step.outputs) add(written_, id);
        continue;
      }
      // What a program stores, whether or not its step names it: a part of a tensor is named by the
      // whole.
      for (const RegionRange& r : footprints_[step.program].writes)
        written_[static_cast<std::size_t>(r.region)].add(r.begin, r.end);
    }
    for (const std::uint32_t id : e_.outputs)
      if (!has(written_, id))
        return bad(fmt::format("nothing writes tensor {}, a graph output", id));
    return {};
  }

 private:
  base::Error bad(std::string what) const {
    return {base::ErrorKind::kModel, where_, std::move(what), "compile the model again"};
  }
  bool stored(std::uint32_t id) const {
    return e_.tensors[id].placement == arch::Placement::kRegion;
  }
  std::uint64_t end(std::uint32_t id) const {
    return e_.tensors[id].offset + static_cast<std::uint64_t>(e_.tensors[id].desc.bytes());
  }
  void add(Bytes& bytes, std::uint32_t id) const {
    if (stored(id))
      bytes[static_cast<std::size_t>(e_.tensors[id].region)].add(e_.tensors[id].offset, end(id));
  }
  bool has(const Bytes& bytes, std::uint32_t id) const {
    return !stored(id) || bytes[static_cast<std::size_t>(e_.tensors[id].region)].has(
                              e_.tensors[id].offset, end(id));
  }

  const arch::Executable& e_;
  std::span<const ProgramFootprint> footprints_;
  const std::string& where_;
  Bytes written_;
};

}  // namespace

base::Status verify_steps(const arch::Executable& executable,
                          std::span<const ProgramFootprint> footprints, const std::string& where) {
  return Checker(executable, footprints, where).run();
}

}  // namespace deputy::host_runtime
