// A suite's verdict for people, for build servers and for programs.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/ci/verdict.h"
#include "tools/json_text.h"
#include "tools/table.h"

namespace deputy::tools {
namespace {

std::string change(const MetricVerdict& m) {
  return fmt::format("{}: {:.10g} -> {:.10g} ({:+.3f} %, tolerance {:g} %)", m.name, m.before,
                     m.now, m.percent(), m.tolerance);
}

std::string change(const LayerVerdict& l) {
  std::string out = fmt::format("{}: cycles {:.10g} -> {:.10g} ({:+.10g})", l.what, l.before.cycles,
                                l.now.cycles, l.now.cycles - l.before.cycles);
  if (l.now.energy_nj != l.before.energy_nj)
    out += fmt::format(", energy {:+.4g} nJ", l.now.energy_nj - l.before.energy_nj);
  if (l.now.bytes != l.before.bytes)
    out += fmt::format(", bytes {:+.10g}", l.now.bytes - l.before.bytes);
  if (l.now.engine != l.before.engine)
    out += fmt::format(", on {} instead of {}", l.now.engine, l.before.engine);
  return out;
}

// Everything that is wrong with a case, one line each.
std::vector<std::string> findings(const CaseVerdict& c, int top) {
  std::vector<std::string> out;
  if (!c.error.empty()) out.push_back(c.error);
  out.insert(out.end(), c.outputs.begin(), c.outputs.end());
  if (c.structure) out.push_back("it has other layers than in the baseline");
  for (const MetricVerdict& m : c.metrics)
    if (m.moved) out.push_back(change(m));
  const auto shown = std::min(c.layers.size(), static_cast<std::size_t>(top));
  for (std::size_t i = 0; i < shown; ++i) out.push_back("layer " + change(c.layers[i]));
  if (shown < c.layers.size())
    out.push_back(fmt::format("and {} more layers", c.layers.size() - shown));
  return out;
}

std::string xml(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (c == '\n')
      out += "&#10;";
    else if (static_cast<unsigned char>(c) >= 0x20 || c == '\t')
      out += c;  // XML has no way to say the others
  }
  return out;
}

std::size_t bad(const std::vector<CaseVerdict>& cases) {
  return static_cast<std::size_t>(
      std::ranges::count_if(cases, [](const CaseVerdict& c) { return !c.good(); }));
}

}  // namespace

std::string ci_text(const std::vector<CaseVerdict>& cases, int top) {
  Table table({"case", "outputs", ">latency", ">NPU cycles", ">energy", ">DRAM bytes", ""});
  std::string details;
  for (const CaseVerdict& c : cases) {
    const auto cell = [&](const char* name) {
      const auto it = std::ranges::find(c.metrics, name, &MetricVerdict::name);
      if (it == c.metrics.end()) return std::string("-");
      return it->now == it->before ? std::string("same") : fmt::format("{:+.3f} %", it->percent());
    };
    table.row({c.name,
               !c.error.empty()    ? "-"
               : c.outputs.empty() ? "same"
                                   : "OTHER",
               cell("latency_ns"), cell("npu_cycles"), cell("energy_nj"), cell("dram_bytes"),
               c.good() ? "ok" : "FAILED"});
    if (c.good()) continue;
    details += fmt::format("\n{}\n", c.name);
    for (const std::string& line : findings(c, top)) details += "  " + line + "\n";
  }
  return fmt::format("{}{}\n  {} of {} cases as in the baseline\n", table.text(), details,
                     cases.size() - bad(cases), cases.size());
}

std::string ci_markdown(const std::string& suite, const std::vector<CaseVerdict>& cases, int top) {
  std::string out = fmt::format(
      "## deputy ci: {}\n\n{} of {} cases as in the baseline.\n\n| case | outputs | latency | NPU "
      "cycles | energy | DRAM bytes | |\n|---|---|---:|---:|---:|---:|---|\n",
      suite, cases.size() - bad(cases), cases.size());
  for (const CaseVerdict& c : cases) {
    out += fmt::format("| {} | {} |", c.name,
                       !c.error.empty()    ? "-"
                       : c.outputs.empty() ? "same"
                                           : "**other**");
    for (const char* name : {"latency_ns", "npu_cycles", "energy_nj", "dram_bytes"}) {
      const auto it = std::ranges::find(c.metrics, name, &MetricVerdict::name);
      if (it == c.metrics.end())
        out += " - |";
      else
        out += it->now == it->before
                   ? fmt::format(" {:.10g} |", it->now)
                   : fmt::format(" {:.10g} ({:+.3f} %) |", it->now, it->percent());
    }
    out += c.good() ? " ok |\n" : " **failed** |\n";
  }
  for (const CaseVerdict& c : cases) {
    if (c.good()) continue;
    out += fmt::format("\n### {}\n\n", c.name);
    for (const std::string& line : findings(c, top)) out += "* " + line + "\n";
  }
  return out;
}

std::string ci_junit(const std::string& suite, const std::vector<CaseVerdict>& cases, int top) {
  // One test for the outputs and one for each metric of a case: a build server's history shows what
  // moved when.
  std::string body;
  std::size_t tests = 0, failures = 0, errors = 0;
  const auto test = [&](const CaseVerdict& c, const std::string& name, const std::string& problem,
                        const std::string& detail) {
    ++tests;
    body += fmt::format("    <testcase classname=\"{}.{}\" name=\"{}\"", xml(suite), xml(c.name),
                        xml(name));
    if (problem.empty()) {
      body += "/>\n";
      return;
    }
    const char* const kind = name == "run" ? "error" : "failure";
    ++(name == "run" ? errors : failures);
    body += fmt::format(">\n      <{} message=\"{}\">{}</{}>\n    </testcase>\n", kind,
                        xml(problem), xml(detail), kind);
  };
  for (const CaseVerdict& c : cases) {
    test(c, "run", c.error, c.error);
    if (!c.error.empty()) continue;
    std::string layers;
    const auto shown = std::min(c.layers.size(), static_cast<std::size_t>(top));
    for (std::size_t i = 0; i < shown; ++i) layers += change(c.layers[i]) + "\n";
    test(c, "outputs", fmt::format("{}", fmt::join(c.outputs, "; ")), layers);
    test(c, "layers", c.structure ? "it has other layers than in the baseline" : "", "");
    for (const MetricVerdict& m : c.metrics) test(c, m.name, m.moved ? change(m) : "", layers);
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"{0}\" failures=\"{1}\" "
      "errors=\"{2}\">\n"
      "  <testsuite name=\"{3}\" tests=\"{0}\" failures=\"{1}\" errors=\"{2}\">\n{4}  "
      "</testsuite>\n</testsuites>\n",
      tests, failures, errors, xml(suite), body);
}

std::string ci_json(const std::vector<CaseVerdict>& cases) {
  using Json = nlohmann::ordered_json;
  Json rows = Json::array();
  for (const CaseVerdict& c : cases) {
    Json metrics = Json::object(), layers = Json::array();
    for (const MetricVerdict& m : c.metrics)
      metrics[m.name] = {{"before", m.before},
                         {"now", m.now},
                         {"tolerance_percent", m.tolerance},
                         {"moved", m.moved}};
    for (const LayerVerdict& l : c.layers)
      layers.push_back({{"layer", l.what},
                        {"cycles", {l.before.cycles, l.now.cycles}},
                        {"energy_nj", {l.before.energy_nj, l.now.energy_nj}},
                        {"bytes", {l.before.bytes, l.now.bytes}}});
    rows.push_back({{"case", c.name},
                    {"good", c.good()},
                    {"error", c.error},
                    {"outputs", c.outputs},
                    {"metrics", metrics},
                    {"layers", layers}});
  }
  return json_text("deputy-ci-verdict-1", {{"good", bad(cases) == 0}, {"cases", rows}});
}

}  // namespace deputy::tools
