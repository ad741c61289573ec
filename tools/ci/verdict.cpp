#include "tools/ci/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace deputy::tools {
namespace {

bool beyond(double before, double now, double percent) {
  return std::abs(now - before) > std::abs(before) * percent / 100;
}

std::string short_hash(const std::string& hash) { return hash.substr(0, 12); }

void judge_outputs(const CiResult& now, const CiResult& before, CaseVerdict& out) {
  if (now.outputs.size() != before.outputs.size())
    out.outputs.push_back(
        fmt::format("{} outputs, the baseline has {}", now.outputs.size(), before.outputs.size()));
  for (std::size_t i = 0; i < std::min(now.outputs.size(), before.outputs.size()); ++i)
    if (now.outputs[i] != before.outputs[i])
      out.outputs.push_back(fmt::format("output {} has other bytes: {} instead of {}", i,
                                        short_hash(now.outputs[i]), short_hash(before.outputs[i])));
}

void judge_layers(const CiSuite& suite, const CiResult& now, const CiResult& before,
                  CaseVerdict& out) {
  const auto same = [](const CiLayer& a, const CiLayer& b) {
    return a.name == b.name && a.kind == b.kind;
  };
  out.structure = !std::ranges::equal(now.layers, before.layers, same);
  const double cycles = suite.tolerance("npu_cycles"), energy = suite.tolerance("energy_nj"),
               bytes = suite.tolerance("dram_bytes");
  for (std::size_t i = 0; i < std::min(now.layers.size(), before.layers.size()); ++i) {
    const CiLayer &n = now.layers[i], &b = before.layers[i];
    if (!same(n, b)) continue;
    if (n.engine == b.engine && !beyond(b.cycles, n.cycles, cycles) &&
        !beyond(b.energy_nj, n.energy_nj, energy) && !beyond(b.bytes, n.bytes, bytes))
      continue;
    out.layers.push_back({fmt::format("{} {} ({})", i, n.name, n.kind), b, n});
  }
  std::ranges::stable_sort(out.layers, std::greater(), [](const LayerVerdict& l) {
    return std::abs(l.now.cycles - l.before.cycles);
  });
}

}  // namespace

bool CaseVerdict::good() const {
  return error.empty() && outputs.empty() && !structure &&
         std::ranges::none_of(metrics, &MetricVerdict::moved);
}

std::vector<CaseVerdict> judge(const CiSuite& suite, const CiResults& now,
                               const CiResults& baseline) {
  std::vector<CaseVerdict> out;
  for (const CiCase& c : suite.cases) {
    CaseVerdict verdict;
    verdict.name = c.name;
    const CiResult& result = now.at(c.name);
    const auto before = baseline.find(c.name);
    if (!result.error.empty()) {
      verdict.error = result.error;
    } else if (before == baseline.end()) {
      verdict.error = "the baseline does not have it";
    } else {
      judge_outputs(result, before->second, verdict);
      for (const CiMetric& metric : ci_metrics()) {
        MetricVerdict m{metric.name, 0, result.metrics.at(metric.name),
                        suite.tolerance(metric.name), false};
        const auto was = before->second.metrics.find(metric.name);
        m.before = was == before->second.metrics.end() ? 0 : was->second;
        m.moved = was == before->second.metrics.end() || beyond(m.before, m.now, m.tolerance);
        verdict.metrics.push_back(m);
      }
      judge_layers(suite, result, before->second, verdict);
    }
    out.push_back(std::move(verdict));
  }
  for (const auto& [name, result] : baseline) {
    if (std::ranges::any_of(suite.cases, [&](const CiCase& c) { return c.name == name; })) continue;
    CaseVerdict verdict;
    verdict.name = name, verdict.error = "is in the baseline, not in the suite";
    out.push_back(std::move(verdict));
  }
  return out;
}

}  // namespace deputy::tools
