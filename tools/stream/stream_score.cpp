#include "tools/stream/stream_score.h"

#include <algorithm>
#include <cmath>

namespace deputy::tools {
namespace {

std::int64_t samples_of(const StreamRun& run, double s) {
  return static_cast<std::int64_t>(std::lrint(s * run.chain->shape.samples_per_second));
}

ValueScore summary(const std::vector<double>& errors, std::uint64_t labelled) {
  ValueScore out;
  out.labelled = labelled, out.found = errors.size();
  if (errors.empty()) return out;
  std::vector<double> sizes;
  for (const double e : errors) {
    out.bias += e / static_cast<double>(errors.size());
    sizes.push_back(std::abs(e));
    out.error += sizes.back() / static_cast<double>(errors.size());
  }
  std::ranges::sort(sizes);
  out.p90 = sizes[(9 * sizes.size() + 9) / 10 - 1];
  return out;
}

}  // namespace

// Each label takes the nearest decision that is near enough and still free. Labels too near to the
// ends of a piece of signal cannot be decided; with gaps there is no telling which those are, and
// all others count.
StreamScore score_classes(const StreamRun& run) {
  StreamScore out;
  std::size_t classes = run.chain->classes.size();
  for (const StreamLabel& label : run.signal.labels)
    classes = std::max(classes, static_cast<std::size_t>(label.kind) + 1);
  for (const StreamDecision& d : run.decisions)
    classes = std::max(classes, static_cast<std::size_t>(d.kind) + 1);
  out.of_class.resize(classes);
  const auto extra = [&](const StreamDecision& d) {
    ++out.extra, ++out.of_class[static_cast<std::size_t>(d.kind)].wrong;
  };
  out.confusion.assign(classes, std::vector<std::uint64_t>(classes));
  const std::int64_t near = samples_of(run, run.chain->tolerance_s),
                     blind = samples_of(run, run.chain->blind_s);
  const auto end = static_cast<std::int64_t>(run.offered * run.chain->shape.samples_per_frame);
  std::size_t next = 0;
  for (const StreamLabel& label : run.signal.labels) {
    while (next < run.decisions.size() && run.decisions[next].sample < label.sample - near)
      extra(run.decisions[next++]);
    const bool counts = label.sample >= blind && label.sample < end - blind;
    StreamScore::OfClass& own = out.of_class[static_cast<std::size_t>(label.kind)];
    out.labelled += counts, own.labelled += counts;
    if (next == run.decisions.size() || run.decisions[next].sample > label.sample + near) continue;
    const StreamDecision& d = run.decisions[next++];
    if (!counts) continue;
    ++out.found, ++own.found;
    if (d.kind == label.kind)
      ++out.right, ++own.right;
    else
      ++out.of_class[static_cast<std::size_t>(d.kind)].wrong;
    ++out.confusion[static_cast<std::size_t>(label.kind)][static_cast<std::size_t>(d.kind)];
  }
  for (; next < run.decisions.size(); ++next) extra(run.decisions[next]);
  return out;
}

ValueScores score_values(const StreamRun& run) {
  const std::int64_t near = samples_of(run, run.chain->tolerance_s);
  std::vector<std::vector<double>> errors(std::max<std::size_t>(1, run.chain->classes.size()));
  std::vector<std::uint64_t> labelled(errors.size());
  std::size_t next = 0;
  for (const StreamLabel& label : run.signal.labels) {
    const auto kind = static_cast<std::size_t>(label.kind);
    ++labelled.at(kind);
    while (next < run.decisions.size() && run.decisions[next].sample < label.sample - near) ++next;
    if (next == run.decisions.size() || run.decisions[next].sample > label.sample + near) continue;
    errors.at(kind).push_back(run.decisions[next++].value - label.value);
  }
  ValueScores out;
  std::vector<double> every;
  for (std::size_t kind = 0; kind < errors.size(); ++kind) {
    out.of_class.push_back(summary(errors[kind], labelled[kind]));
    every.insert(every.end(), errors[kind].begin(), errors[kind].end());
  }
  out.all = summary(every, run.signal.labels.size());
  return out;
}

EpisodeScore score_episodes(const StreamRun& run) {
  struct Span {
    std::int64_t begin, end;
  };
  EpisodeScore out;
  const auto signal = static_cast<std::int64_t>(run.offered * run.chain->shape.samples_per_frame);
  out.hours = static_cast<double>(signal) / run.chain->shape.samples_per_second / 3600;
  std::vector<Span> episodes, alarms;
  bool open = false;
  for (const StreamLabel& label : run.signal.labels) {
    if (label.kind != 0 && !open) episodes.push_back({label.sample, signal});
    if (label.kind == 0 && open) episodes.back().end = label.sample;
    open = label.kind != 0;
  }
  const std::int64_t near = samples_of(run, run.chain->tolerance_s),
                     step = 2 * run.chain->shape.samples_per_frame;
  for (const StreamDecision& d : run.decisions) {
    if (d.kind == 0) continue;
    if (alarms.empty() || d.sample - alarms.back().end > step)
      alarms.push_back({d.sample, d.sample});
    alarms.back().end = d.sample;
  }
  double latencies = 0;
  for (const Span& e : episodes) {
    ++out.labelled;
    const auto heard = std::ranges::find_if(
        alarms, [&](const Span& a) { return a.end >= e.begin && a.begin <= e.end + near; });
    if (heard == alarms.end()) continue;
    ++out.found;
    const double late = static_cast<double>(std::max<std::int64_t>(0, heard->begin - e.begin)) /
                        run.chain->shape.samples_per_second;
    latencies += late, out.latency_max_s = std::max(out.latency_max_s, late);
  }
  if (out.found) out.latency_s = latencies / static_cast<double>(out.found);
  for (const Span& a : alarms)
    out.false_alarms += std::ranges::none_of(
        episodes, [&](const Span& e) { return a.end >= e.begin && a.begin <= e.end + near; });
  return out;
}

}  // namespace deputy::tools
