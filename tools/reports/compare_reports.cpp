#include "tools/reports/compare_reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "tools/table.h"

namespace deputy::tools {
namespace {

std::string signed_cycles(double cycles) { return fmt::format("{:+.0f} cycles", cycles); }

std::string signed_bytes(double bytes) {
  return (bytes < 0 ? "-" : "+") + human_bytes(std::abs(bytes));
}

std::string tiles_text(const std::map<std::string, double>& tiles) {
  std::string out;
  for (const auto& [shape, count] : tiles)
    out += fmt::format("{}{:.0f} of {}", out.empty() ? "" : ", ", count, shape);
  return out.empty() ? "none" : out;
}

using arch::Engine;
using arch::engine_title;

// The resources whose bound changed, the largest change first.
void add_bounds(const ReportedLayer& a, const ReportedLayer& b, std::vector<std::string>& why) {
  struct Row {
    const char* name;
    double before, now;
  };
  std::vector<Row> rows = {{"compute", a.bounds.compute, b.bounds.compute},
                           {"scratchpad", a.bounds.scratchpad, b.bounds.scratchpad},
                           {"decoder", a.bounds.decoder, b.bounds.decoder},
                           {"SRAM", a.bounds.sram, b.bounds.sram},
                           {"DRAM", a.bounds.dram, b.bounds.dram}};
  std::erase_if(rows, [](const Row& r) { return std::abs(r.now - r.before) < 0.5; });
  std::ranges::stable_sort(rows, std::greater(),
                           [](const Row& r) { return std::abs(r.now - r.before); });
  for (const Row& r : rows)
    why.push_back(fmt::format("{} needs {:.0f} cycles instead of {:.0f} ({:+.0f})", r.name, r.now,
                              r.before, r.now - r.before));
  const double waits = (b.own_cycles - b.bounds.cycles()) - (a.own_cycles - a.bounds.cycles());
  if (std::abs(waits) >= 0.5)
    why.push_back(
        fmt::format("{} for everything beside its largest bound (waiting, filling, what other "
                    "layers do meanwhile)",
                    signed_cycles(waits)));
  if (a.bound != b.bound)
    why.push_back(fmt::format("held up by {} instead of {}", b.bound, a.bound));
}

void add_bytes(const ReportedLayer& a, const ReportedLayer& b, std::vector<std::string>& why) {
  std::string out;
  const auto row = [&](const char* what, double before, double now) {
    if (now != before)
      out += fmt::format("{}{} {}", out.empty() ? "" : ", ", signed_bytes(now - before), what);
  };
  row("loaded", a.load_bytes, b.load_bytes);
  if (b.weight_bytes != a.weight_bytes)
    out += fmt::format(" ({} of it weights)", signed_bytes(b.weight_bytes - a.weight_bytes));
  row("stored", a.store_bytes, b.store_bytes);
  if (!out.empty()) why.push_back("moves " + out);
}

// On the DSP both times: what its cycles went into.
void add_dsp(const ReportedLayer& a, const ReportedLayer& b, std::vector<std::string>& why) {
  const auto row = [&](const char* what, double before, double now) {
    if (before != now)
      why.push_back(fmt::format("{} {:.0f} DSP cycles instead of {:.0f} ({:+.0f})", what, now,
                                before, now - before));
  };
  const auto n = [](std::uint64_t cycles) { return static_cast<double>(cycles); };
  row("its kernel takes", n(a.dsp.program_cycles), n(b.dsp.program_cycles));
  row("of these it stalls", n(a.dsp.stall_cycles), n(b.dsp.stall_cycles));
  row("moving its data and program takes", n(a.dsp.transfer_cycles()), n(b.dsp.transfer_cycles()));
  if (a.dsp.jobs != b.dsp.jobs)
    why.push_back(fmt::format("{} jobs instead of {}", b.dsp.jobs, a.dsp.jobs));
}

// Why two layers that go together differ.
std::vector<std::string> reasons(const ReportFile& before, const ReportedLayer& a,
                                 const ReportFile& now, const ReportedLayer& b) {
  std::vector<std::string> why;
  if (a.engine != b.engine)
    why.push_back(fmt::format("runs on the {} instead of the {}{}", engine_title(b.engine),
                              engine_title(a.engine), b.reason.empty() ? "" : ": " + b.reason));
  const auto kernel = [](const ReportFile& r, const ReportedLayer& l) {
    return l.fused_into < 0 ? std::string() : r.layer_text(static_cast<std::size_t>(l.fused_into));
  };
  const std::string was = kernel(before, a), is = kernel(now, b);
  if (was != is)
    why.push_back(is.empty() ? "is a kernel of its own, no longer part of " + was
                             : "is part of the kernel of " + is + " now, where its time counts");
  if (a.engine == b.engine && a.engine == Engine::kNpu) {
    if (a.tiles != b.tiles)
      why.push_back(
          fmt::format("tiles: {} instead of {}", tiles_text(b.tiles), tiles_text(a.tiles)));
    add_bounds(a, b, why);
  } else if (a.engine == b.engine && a.engine == Engine::kDsp) {
    add_dsp(a, b, why);
  } else if (a.engine == b.engine && a.own_cycles != b.own_cycles) {
    why.push_back(fmt::format("{} of the CPU", signed_cycles(b.own_cycles - a.own_cycles)));
  }
  if (const double was_mhz = before.clock_mhz(a.engine), is_mhz = now.clock_mhz(b.engine);
      a.engine == b.engine && was_mhz != is_mhz)
    why.push_back(fmt::format("the {}'s clock is {:g} MHz instead of {:g}", engine_title(a.engine),
                              is_mhz, was_mhz));
  add_bytes(a, b, why);
  if (why.empty()) why.push_back("only its energy changed: the rows that price it did");
  return why;
}

std::vector<TotalChange> totals(const ReportFile& a, const ReportFile& b) {
  const auto memory = [](const ReportFile& r, const char* name) {
    const auto it = r.memory_bytes.find(name);
    return it == r.memory_bytes.end() ? 0.0 : it->second;
  };
  std::vector<TotalChange> out = {{"latency", "ns", a.latency_ns, b.latency_ns},
                                  {"NPU cycles", "cycles", a.npu_cycles, b.npu_cycles},
                                  {"host cycles", "cycles", a.host_cycles, b.host_cycles},
                                  {"energy of the inference", "nJ", a.inference_nj, b.inference_nj},
                                  {"energy from reset on", "nJ", a.total_nj, b.total_nj},
                                  {"DRAM traffic", "bytes", memory(a, "dram"), memory(b, "dram")},
                                  {"SRAM traffic", "bytes", memory(a, "sram"), memory(b, "sram")},
                                  {"NPU jobs", "", a.jobs(Engine::kNpu), b.jobs(Engine::kNpu)},
                                  {"MACs on the NPU", "", a.npu_macs, b.npu_macs}};
  if (a.target.dsp_mhz > 0 || b.target.dsp_mhz > 0) {
    out.push_back({"DSP cycles", "cycles", a.dsp_busy_cycles, b.dsp_busy_cycles});
    out.push_back({"DSP jobs", "", a.jobs(Engine::kDsp), b.jobs(Engine::kDsp)});
  }
  return out;
}

// The layer of `b` that goes with each of `a`.
std::vector<std::optional<std::size_t>> partners(const ReportFile& a, const ReportFile& b) {
  std::map<std::pair<std::string, std::string>, std::vector<std::size_t>> places;
  for (std::size_t i = b.layers.size(); i-- > 0;)
    places[{b.layers[i].name, b.layers[i].kind}].push_back(i);
  std::vector<std::optional<std::size_t>> out;
  for (const ReportedLayer& l : a.layers) {
    auto& left = places[{l.name, l.kind}];
    out.emplace_back();
    if (left.empty()) continue;
    out.back() = left.back();
    left.pop_back();
  }
  return out;
}

bool equal(const ReportedLayer& a, const ReportedLayer& b) {
  return a.engine == b.engine && a.own_ns == b.own_ns && a.energy_nj == b.energy_nj &&
         a.load_bytes == b.load_bytes && a.store_bytes == b.store_bytes &&
         a.weight_bytes == b.weight_bytes && a.tiles == b.tiles && a.fused_into == b.fused_into;
}

}  // namespace

ReportComparison compare_reports(const ReportFile& a, const ReportFile& b) {
  ReportComparison out;
  const auto title = [](const ReportFile& r) {
    return fmt::format("{} on {} ({})", r.model, r.soc, r.path);
  };
  out.before = title(a), out.now = title(b);
  out.totals = totals(a, b);
  out.time = {{"NPU jobs", "ns", a.npu_ns(), b.npu_ns()},
              {"DSP jobs", "ns", a.dsp_ns(), b.dsp_ns()},
              {"operators on the CPU", "ns", a.cpu_ns(), b.cpu_ns()},
              {"runtime", "ns", a.runtime_ns(), b.runtime_ns()}};
  if (a.dsp_ns() == 0 && b.dsp_ns() == 0) out.time.erase(out.time.begin() + 1);
  for (const auto& [component, nj] : a.component_nj) out.energy.push_back({component, "nJ", nj, 0});
  for (const auto& [component, nj] : b.component_nj) {
    const auto it = std::ranges::find(out.energy, component, &TotalChange::name);
    if (it != out.energy.end())
      it->now = nj;
    else
      out.energy.push_back({component, "nJ", 0, nj});
  }
  std::erase_if(out.energy, [](const TotalChange& c) { return c.now == c.before; });
  std::ranges::stable_sort(out.energy, std::greater(),
                           [](const TotalChange& c) { return std::abs(c.now - c.before); });

  const auto with = partners(a, b);
  std::set<std::size_t> taken;
  for (std::size_t i = 0; i < a.layers.size(); ++i) {
    if (!with[i]) {
      out.only_before.push_back(a.layer_text(i));
      continue;
    }
    taken.insert(*with[i]);
    const ReportedLayer &l = a.layers[i], &m = b.layers[*with[i]];
    if (equal(l, m)) {
      ++out.same_layers;
      continue;
    }
    out.layers.push_back({a.layer_text(i), l.own_ns, m.own_ns, l.energy_nj, m.energy_nj, l.bytes(),
                          m.bytes(), reasons(a, l, b, m)});
  }
  for (std::size_t i = 0; i < b.layers.size(); ++i)
    if (!taken.contains(i)) out.only_now.push_back(b.layer_text(i));
  std::ranges::stable_sort(out.layers, [](const LayerChange& x, const LayerChange& y) {
    const auto effect = [](const LayerChange& l) {
      return std::pair(std::abs(l.ns()), std::abs(l.now_nj - l.before_nj));
    };
    return effect(x) > effect(y);
  });
  return out;
}

}  // namespace deputy::tools
