#include "tools/trace/vcd.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

namespace deputy::tools {
namespace {

// Identifiers of printable characters.
std::string code_of(std::size_t n) {
  std::string out;
  do {
    out.push_back(static_cast<char>('!' + n % 94));
    n /= 94;
  } while (n > 0);
  return out;
}

int width_of(const sim::TraceSignal& signal) {
  if (signal.kind == sim::SignalKind::kTimeline) return 64;
  if (signal.kind != sim::SignalKind::kLevel) return 1;
  std::uint64_t most = 1;
  for (const auto& [at, value] : signal.changes) most = std::max(most, value);
  return std::bit_width(most);
}

std::string value_text(const sim::TraceSignal& signal, std::uint64_t value,
                       const std::string& code) {
  if (signal.kind == sim::SignalKind::kPulse) return "1" + code;
  if (width_of(signal) == 1 && signal.kind == sim::SignalKind::kLine)
    return (value ? "1" : "0") + code;
  return fmt::format("b{:b} {}", value, code);
}

// "npu.load.busy" -> scope "npu.load", name "busy".
std::pair<std::string, std::string> split(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string::npos ? std::pair<std::string, std::string>("", name)
                                  : std::pair(name.substr(0, dot), name.substr(dot + 1));
}

}  // namespace

std::string vcd_text(const TraceView& view, std::uint64_t end_ps) {
  std::string out = "$version deputy $end\n$timescale 1 ps $end\n$scope module soc $end\n";
  std::map<std::string, std::vector<std::size_t>> scopes;
  for (std::size_t i = 0; i < view.signals.size(); ++i)
    scopes[split(view.signals[i].name).first].push_back(i);
  for (const auto& [scope, signals] : scopes) {
    std::string name = scope;
    std::ranges::replace(name, '.', '_');
    out += fmt::format("$scope module {} $end\n", name);
    for (const std::size_t i : signals) {
      const sim::TraceSignal& signal = view.signals[i];
      const bool level =
          signal.kind == sim::SignalKind::kLevel || signal.kind == sim::SignalKind::kTimeline;
      std::string local = split(signal.name).second;
      if (local[0] >= '0' && local[0] <= '9')
        local = "t" + local;  // an identifier begins with a letter
      std::ranges::replace(local, '.', '_');
      out += fmt::format(
          "$var {} {} {} {}{} $end\n", signal.kind == sim::SignalKind::kPulse ? "event" : "wire",
          width_of(signal), code_of(i), local,
          level && width_of(signal) > 1 ? fmt::format(" [{}:0]", width_of(signal) - 1) : "");
    }
    out += "$upscope $end\n";
  }
  out += "$upscope $end\n$enddefinitions $end\n#0\n$dumpvars\n";
  struct Change {
    std::uint64_t at;
    std::size_t signal;
    std::uint64_t value;
  };
  std::vector<Change> changes;
  for (std::size_t i = 0; i < view.signals.size(); ++i) {
    if (view.signals[i].kind != sim::SignalKind::kPulse)
      out += value_text(view.signals[i], 0, code_of(i)) + "\n";
    for (const auto& [at, value] : view.signals[i].changes) changes.push_back({at, i, value});
  }
  out += "$end\n";
  std::ranges::stable_sort(changes, {}, &Change::at);
  std::uint64_t now = 0;
  for (const Change& change : changes) {
    if (change.at != now) out += fmt::format("#{}\n", now = change.at);
    out += value_text(view.signals[change.signal], change.value, code_of(change.signal)) + "\n";
  }
  if (end_ps > now) out += fmt::format("#{}\n", end_ps);
  return out;
}

}  // namespace deputy::tools
