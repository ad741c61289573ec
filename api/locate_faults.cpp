// From cases that passed and failed to the entries of a quirk file.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "api/probe.h"

namespace deputy::api {
namespace {

using delegate::Op;

struct Sample {
  const ProbeCase* probe;
  const ProbeOutcome* outcome;
  const Op& op() const { return probe->graph.ops[0]; }
  bool failed() const { return outcome->state == ProbeState::kFailed; }
  DType type() const { return op_type(probe->graph, op()); }
};
using Samples = std::vector<Sample>;

std::vector<std::int64_t> values(const Feature& feature, const Sample& s) {
  return feature.values(s.probe->graph, s.op());
}

bool inside(const Feature& feature, const Sample& s, const NumberRange& range) {
  const auto v = values(feature, s);
  return std::any_of(v.begin(), v.end(), [&](std::int64_t n) { return range.contains(n); });
}

// Widened up to the next value that a case had which passed: nobody has seen what lies between
// work.
NumberRange widened(const Feature& feature, const Samples& samples, NumberRange range) {
  std::optional<std::int64_t> below, above;
  for (const Sample& s : samples) {
    if (s.failed()) continue;
    for (const std::int64_t v : values(feature, s)) {
      if (v < *range.low) below = std::max(below.value_or(v), v);
      if (v > *range.high) above = std::min(above.value_or(v), v);
    }
  }
  return {below ? std::optional(*below + 1) : std::nullopt,
          above ? std::optional(*above - 1) : std::nullopt};
}

// The narrowest range that holds a value of each failing case and none of a passing one.
std::optional<NumberRange> separating(const Feature& feature, const Samples& samples) {
  std::set<std::int64_t> ends;
  for (const Sample& s : samples)
    if (s.failed())
      for (const std::int64_t v : values(feature, s)) ends.insert(v);
  std::optional<NumberRange> best;
  for (const std::int64_t low : ends)
    for (const std::int64_t high : ends) {
      if (high < low || (best && high - low >= *best->high - *best->low)) continue;
      const NumberRange range{low, high};
      if (std::all_of(samples.begin(), samples.end(),
                      [&](const Sample& s) { return s.failed() == inside(feature, s, range); }))
        best = range;
    }
  if (best) best = widened(feature, samples, *best);
  return best;
}

// Fills `when`; false when no one number tells the failing cases apart.
bool constrain(const Samples& samples, Quirk& quirk) {
  if (std::all_of(samples.begin(), samples.end(), [](const Sample& s) { return s.failed(); }))
    return true;
  for (const Feature& feature : op_features())
    if (const auto range = separating(feature, samples)) {
      quirk.when[feature.name] = *range;
      return true;
    }
  return false;
}

Quirk locate(const Samples& samples, Quirk quirk) {
  if (constrain(samples, quirk)) return quirk;
  std::set<DType> types;
  for (const Sample& s : samples)
    if (s.failed()) types.insert(s.type());
  Samples same;
  for (const Sample& s : samples)
    if (types.contains(s.type())) same.push_back(s);
  if (same.size() < samples.size() && constrain(same, quirk))
    quirk.types.assign(types.begin(), types.end());
  return quirk;
}

}  // namespace

std::vector<Quirk> locate_faults(std::span<const ProbeCase> cases,
                                 std::span<const ProbeOutcome> outcomes,
                                 const base::Version& hardware) {
  std::vector<Quirk> out;
  for (const arch::OpKind kind : arch::all_ops()) {
    Samples samples;
    for (std::size_t i = 0; i < cases.size(); ++i)
      if (cases[i].graph.ops[0].kind == kind && outcomes[i].state != ProbeState::kSkipped)
        samples.push_back({&cases[i], &outcomes[i]});
    const auto failed =
        std::count_if(samples.begin(), samples.end(), [](const Sample& s) { return s.failed(); });
    if (failed == 0) continue;
    const Sample& first =
        *std::find_if(samples.begin(), samples.end(), [](const Sample& s) { return s.failed(); });
    Quirk quirk;
    quirk.id = fmt::format("probe-{}-{}", hardware.text(), arch::op_name(kind));
    quirk.op = kind;
    quirk.hardware = {hardware, hardware};
    quirk.reason = fmt::format("{} of {} self-tests failed, the first '{}': {}", failed,
                               samples.size(), first.outcome->name, first.outcome->text);
    out.push_back(locate(samples, std::move(quirk)));
  }
  return out;
}

}  // namespace deputy::api
