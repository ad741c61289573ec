#include "delegate/schedule/spm_plan.h"

#include <algorithm>
#include <optional>

#include "base/check.h"
#include "delegate/codegen/hazards.h"
#include "delegate/codegen/program_builder.h"

namespace deputy::delegate {
namespace {

struct Reserved {
  std::size_t begin = 0, end = 0;  // sections, both included
  std::int64_t low = 0, high = 0;
};

class Planner {
 public:
  Planner(const std::vector<Section>& sections, std::int64_t spm_bytes, std::size_t ahead,
          std::int64_t top_bytes)
      : sections_(sections), spm_(spm_bytes), ahead_(ahead), kept_free_(top_bytes) {}

  SpmPlan run() {
    for (const Section& section : sections_) {
      std::vector<bool> early(section.buffers.size(), false);
      for (const SectionInstruction& i : section.code)
        if (i.early_buffer >= 0) early[static_cast<std::size_t>(i.early_buffer)] = true;
      early_.push_back(std::move(early));
    }
    for (std::size_t s = 0; s < sections_.size(); ++s) place_own(s);
    for (const std::vector<Own>& section : own_)
      plan_.top_free.push_back(std::all_of(section.begin(), section.end(), [&](const Own& own) {
        return own.high <= spm_ - kept_free_;
      }));
    for (std::size_t s = 0; s < sections_.size(); ++s) place_early(s);
    return std::move(plan_);
  }

 private:
  static std::int64_t bytes(const SectionBuffer& b) { return align_up(b.bytes, kBufferAlign); }

  // Rectangles of time and space: a section's own buffers, and since when in the section before a
  // new one may have them.
  struct Own {
    std::int64_t low = 0, high = 0;
    std::size_t last = 0;  // the last instruction that touches it
  };

  void place_own(std::size_t s) {
    const Section& section = sections_[s];
    const std::size_t count = section.buffers.size();
    plan_.places.emplace_back(count, BufferPlace{0, s});
    std::int64_t own = 0, constants = 0;
    for (std::size_t b = 0; b < count; ++b)
      (early_[s][b] ? constants : own) += bytes(section.buffers[b]);
    DEPUTY_CHECK(own + constants <= spm_, "buffers exceed the scratchpad");
    const std::int64_t limit =
        spm_ - constants - (own + constants + kept_free_ <= spm_ ? kept_free_ : 0);
    std::vector<Own> placed(count);
    const std::vector<std::pair<std::size_t, std::size_t>> touched = touches(section);
    if (!beside(s, limit, touched, placed)) {
      std::int64_t at = 0;
      for (std::size_t b = 0; b < count; ++b)
        if (!early_[s][b]) placed[b].low = at, at += bytes(section.buffers[b]), placed[b].high = at;
    }
    own_.emplace_back();
    for (std::size_t b = 0; b < count; ++b) {
      if (early_[s][b]) continue;
      plan_.places[s][b].address = placed[b].low;
      own_.back().push_back({placed[b].low, placed[b].high, touched[b].second});
    }
  }

  // The first and last instruction that touch each buffer.
  static std::vector<std::pair<std::size_t, std::size_t>> touches(const Section& section) {
    std::vector<std::pair<std::size_t, std::size_t>> out(section.buffers.size(),
                                                         {section.code.size(), 0});
    for (std::size_t i = 0; i < section.code.size(); ++i)
      for (const Access& access : accesses(section.code[i].op)) {
        if (access.space != kSpmSpace) continue;
        auto& [first, last] = out[buffer_of(section, static_cast<std::uint32_t>(access.begin))];
        first = std::min(first, i), last = i;
      }
    return out;
  }

  // Buffers that are needed first where the section before has nothing, or what it is done with
  // first. False when they do not fit like that.
  bool beside(std::size_t s, std::int64_t limit,
              const std::vector<std::pair<std::size_t, std::size_t>>& touched,
              std::vector<Own>& placed) const {
    const Section& section = sections_[s];
    const std::vector<Own> none, &before = s > 0 ? own_[s - 1] : none;
    std::vector<std::size_t> order;
    for (std::size_t b = 0; b < placed.size(); ++b)
      if (!early_[s][b]) order.push_back(b);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return touched[a].first < touched[b].first;
    });
    std::vector<Own> mine;
    for (const std::size_t b : order) {
      const std::int64_t size = bytes(section.buffers[b]);
      std::vector<std::int64_t> starts = {0};
      for (const Own& other : mine) starts.push_back(other.high);
      for (const Own& other : before) starts.push_back(other.high);
      std::sort(starts.begin(), starts.end());
      std::optional<std::pair<std::size_t, std::int64_t>> best;  // when it is free, where
      for (const std::int64_t low : starts) {
        if (low + size > limit || (best && best->first == 0)) break;
        const auto covers = [&](const Own& other) {
          return other.low < low + size && low < other.high;
        };
        if (std::any_of(mine.begin(), mine.end(), covers)) continue;
        std::size_t free = 0;
        for (const Own& other : before)
          if (covers(other)) free = std::max(free, other.last + 1);
        if (!best || free < best->first) best = {free, low};
      }
      if (!best) return false;
      placed[b] = {best->second, best->second + size, 0};
      mine.push_back(placed[b]);
    }
    return true;
  }

  void place_early(std::size_t s) {
    const std::size_t first = s - std::min(s, ahead_);
    std::erase_if(reserved_, [&](const Reserved& r) { return r.end < first; });
    // Each buffer as early as it can be; where that leaves no room for all, none before a later
    // section. From the section itself they always fit: nothing later is placed yet, and nothing
    // earlier is left.
    for (const std::int64_t high : {spm_ - kept_free_, spm_})
      for (std::size_t since = high < spm_ || kept_free_ == 0 ? first : s; since <= s; ++since)
        if (place_all(s, since, high)) return;
    DEPUTY_CHECK(false, "a section's constants do not fit beside its own buffers");
  }

  bool place_all(std::size_t s, std::size_t first, std::int64_t high) {
    const std::size_t kept = reserved_.size();
    for (std::size_t b = 0; b < sections_[s].buffers.size(); ++b) {
      if (!early_[s][b]) continue;
      const auto place = earliest(s, bytes(sections_[s].buffers[b]), first, high);
      if (!place) {
        reserved_.resize(kept);
        return false;
      }
      plan_.places[s][b] = {place->low, place->begin};
      reserved_.push_back(*place);
    }
    for (std::size_t i = kept; i < reserved_.size(); ++i)
      if (reserved_[i].high > spm_ - kept_free_)
        for (std::size_t at = reserved_[i].begin; at <= s; ++at) plan_.top_free[at] = false;
    return true;
  }

  // The highest place below `high` that is free from as early a section as possible, not before
  // `first`, to `s`.
  std::optional<Reserved> earliest(std::size_t s, std::int64_t size, std::size_t first,
                                   std::int64_t high) const {
    std::vector<std::pair<std::int64_t, std::int64_t>> free = {{0, high}}, next;  // ascending
    std::optional<Reserved> best;
    const auto take = [&](std::int64_t low, std::int64_t top) {
      if (std::none_of(free.begin(), free.end(),
                       [&](const auto& f) { return f.first < top && low < f.second; }))
        return;
      next.clear();
      for (const auto& [from, to] : free) {
        if (const std::int64_t end = std::min(to, low); end - from >= size)
          next.emplace_back(from, end);
        if (const std::int64_t begin = std::max(from, top); to - begin >= size)
          next.emplace_back(begin, to);
      }
      std::swap(free, next);
    };
    for (std::size_t since = s + 1; since-- > first;) {
      for (const Own& own : own_[since]) take(own.low, own.high);
      for (const Reserved& r : reserved_)
        if (since == s ? r.begin <= s && r.end >= s : r.end == since) take(r.low, r.high);
      if (free.empty() || free.back().second - free.back().first < size) break;
      best = {since, s, free.back().second - size, free.back().second};
    }
    return best;
  }

  const std::vector<Section>& sections_;
  const std::int64_t spm_;
  const std::size_t ahead_;
  const std::int64_t kept_free_;
  std::vector<std::vector<bool>> early_;
  std::vector<std::vector<Own>> own_;  // by section
  std::vector<Reserved> reserved_;
  SpmPlan plan_;
};

}  // namespace

SpmPlan plan_spm(const std::vector<Section>& sections, std::int64_t spm_bytes, std::size_t ahead,
                 std::int64_t top_bytes) {
  return Planner(sections, spm_bytes, ahead, top_bytes).run();
}

}  // namespace deputy::delegate
