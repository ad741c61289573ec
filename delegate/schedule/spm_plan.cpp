#include "delegate/schedule/spm_plan.h"

#include <algorithm>
#include <optional>

#include "base/check.h"
#include "delegate/codegen/program_builder.h"

namespace deputy::delegate {
namespace {

struct Reserved {
  std::size_t begin = 0, end = 0;  // sections, both included
  std::int64_t low = 0, high = 0;
};

class Planner {
 public:
  Planner(const std::vector<Section>& sections, std::int64_t spm_bytes, std::size_t ahead, std::int64_t top_bytes)
      : sections_(sections), spm_(spm_bytes), ahead_(ahead), kept_free_(top_bytes) {}

  SpmPlan run() {
    for (const Section& section : sections_) {
      std::vector<bool> early(section.buffers.size(), false);
      for (const SectionInstruction& i : section.code)
        if (i.early_buffer >= 0) early[static_cast<std::size_t>(i.early_buffer)] = true;
      early_.push_back(std::move(early));
    }
    for (std::size_t s = 0; s < sections_.size(); ++s) place_own(s);
    for (const std::int64_t top : top_) plan_.top_free.push_back(top <= spm_ - kept_free_);
    for (std::size_t s = 0; s < sections_.size(); ++s) place_early(s);
    return std::move(plan_);
  }

 private:
  static std::int64_t bytes(const SectionBuffer& b) { return align_up(b.bytes, kBufferAlign); }

  void place_own(std::size_t s) {
    const Section& section = sections_[s];
    plan_.places.emplace_back(section.buffers.size(), BufferPlace{0, s});
    std::int64_t own = 0, constants = 0;
    for (std::size_t b = 0; b < section.buffers.size(); ++b)
      (early_[s][b] ? constants : own) += bytes(section.buffers[b]);
    DEPUTY_CHECK(own + constants <= spm_, "buffers exceed the scratchpad");
    // Beside the section before it, where there is plenty of room: the first tile then need not wait for the last
    // one of that section to leave.
    std::int64_t at = 0;
    if (s > 0 && bottom_[s - 1] >= own) at = 0;
    else if (s > 0 && top_[s - 1] + own + constants <= spm_ / 2) at = top_[s - 1];
    bottom_.push_back(at);
    for (std::size_t b = 0; b < section.buffers.size(); ++b)
      if (!early_[s][b]) {
        plan_.places[s][b].address = at;
        at += bytes(section.buffers[b]);
      }
    top_.push_back(at);
  }

  void place_early(std::size_t s) {
    const std::size_t first = s - std::min(s, ahead_);
    const std::size_t count = sections_[s].buffers.size();
    std::erase_if(reserved_, [&](const Reserved& r) { return r.end < first; });
    const std::size_t kept = reserved_.size();
    // Each buffer as early as it can be; where that leaves no room for all, all from one section on. From the
    // section itself they always fit: nothing later is placed yet, and nothing earlier is left.
    for (const std::int64_t high : {spm_ - kept_free_, spm_}) {
      if (high == spm_ && kept_free_ > 0) plan_.top_free[s] = false;
      reserved_.resize(kept);
      if (place_each(s, first, high)) return;
      for (std::size_t since = high < spm_ ? s : first; since <= s; ++since) {
        reserved_.resize(kept);
        bool fits = true;
        for (std::size_t b = 0; b < count && fits; ++b)
          if (early_[s][b]) fits = reserve(s, b, since, high);
        if (fits) return;
      }
    }
    DEPUTY_CHECK(false, "a section's constants do not fit beside its own buffers");
  }

  bool place_each(std::size_t s, std::size_t first, std::int64_t high) {
    for (std::size_t b = 0; b < sections_[s].buffers.size(); ++b) {
      if (!early_[s][b]) continue;
      std::size_t since = first;
      while (since <= s && !reserve(s, b, since, high)) ++since;
      if (since > s) return false;
    }
    return true;
  }

  // The highest free place below `high` from `since` to `s`.
  bool reserve(std::size_t s, std::size_t b, std::size_t since, std::int64_t high) {
    const std::int64_t size = bytes(sections_[s].buffers[b]);
    const std::int64_t floor =
        *std::max_element(top_.begin() + static_cast<std::ptrdiff_t>(since),
                          top_.begin() + static_cast<std::ptrdiff_t>(s) + 1);
    std::vector<std::pair<std::int64_t, std::int64_t>> taken;  // high, low
    for (const Reserved& r : reserved_)
      if (r.begin <= s && r.end >= since) taken.emplace_back(r.high, r.low);
    std::sort(taken.rbegin(), taken.rend());
    for (const auto& [other_high, other_low] : taken) {
      if (high - size >= other_high) break;
      high = std::min(high, other_low);
    }
    if (high - size < floor) return false;
    plan_.places[s][b] = {high - size, since};
    reserved_.push_back({since, s, high - size, high});
    if (high > spm_ - kept_free_)
      for (std::size_t i = since; i <= s; ++i) plan_.top_free[i] = false;
    return true;
  }

  const std::vector<Section>& sections_;
  const std::int64_t spm_;
  const std::size_t ahead_;
  const std::int64_t kept_free_;
  std::vector<std::vector<bool>> early_;
  std::vector<std::int64_t> bottom_, top_;  // by section: of its own buffers
  std::vector<Reserved> reserved_;
  SpmPlan plan_;
};

}  // namespace

SpmPlan plan_spm(const std::vector<Section>& sections, std::int64_t spm_bytes, std::size_t ahead, std::int64_t top_bytes) {
  return Planner(sections, spm_bytes, ahead, top_bytes).run();
}

}  // namespace deputy::delegate
