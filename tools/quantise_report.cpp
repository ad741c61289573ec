#include "tools/quantise_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tools/json_text.h"
#include "tools/table.h"

namespace deputy::tools {
namespace {

std::string db(const std::optional<double>& value) {
  if (!value) return "";
  return std::isinf(*value) ? "exact" : fmt::format("{:.1f}", *value);
}
std::string range(const quantize::Range& r) { return fmt::format("{:.4g} .. {:.4g}", r.lo, r.hi); }
const char* type_of(const quantize::LayerRow& row) {
  return !row.integer ? "float" : row.wide ? "int16" : "int8";
}
double percent(std::uint64_t part, std::uint64_t whole) {
  return whole ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0;
}
std::string value_text(const MetricRow& m, double value) {
  return m.name == "top1" ? fmt::format("{:.2f} %", 100 * value) : fmt::format("{:.5f}", value);
}

std::string compensation(const quantize::LayerRow& row) {
  if (!row.compensated_db) return "";
  return fmt::format("{}compensated: {:.1f} dB", row.note.empty() ? "" : "; ", *row.compensated_db);
}

std::string mixed_text(const QuantiseReport& r, bool layers) {
  const quantize::MixedChoice& m = *r.mixed;
  std::string out;
  if (layers) {
    Table table({">#", "result in int16", ">outputs' SQNR dB", ">bytes %", ">cycles %", "verdict"});
    for (const quantize::SensitivityRow& row : m.rows) {
      const bool possible = row.output_db.has_value();
      table.row({fmt::format("{}", row.op), r.result.layers[row.op].name, db(row.output_db),
                 possible ? fmt::format("{:+.1f}", row.bytes_percent) : "",
                 possible ? fmt::format("{:+.1f}", row.cycles_percent) : "", row.verdict});
    }
    out += table.text() + "\n";
  }
  return out +
         fmt::format(
             "  mixed    outputs' SQNR {} dB in int8, {} dB with {} results in int16: {:+.1f} % "
             "bytes, {:+.1f} % cycles\n",
             db(m.int8_db), db(m.mixed_db), m.wide.size(), m.bytes_percent, m.cycles_percent);
}

}  // namespace

std::string quantise_text(const QuantiseReport& r, bool layers) {
  const auto integers = std::count_if(r.result.layers.begin(), r.result.layers.end(),
                                      [](const auto& row) { return row.integer; });
  const auto wide = std::count_if(r.result.layers.begin(), r.result.layers.end(),
                                  [](const auto& row) { return row.wide; });
  std::string out = fmt::format(
      "{} -> {}: {} of {} operators on int8{}, {} ranges of {} samples, rounding {}\n\n", r.model,
      r.output, integers - wide, r.result.layers.size(),
      wide ? fmt::format(", {} on int16", wide) : "", r.method, r.samples, r.numerics);
  if (layers) {
    Table table({">#", "operator", "result", "seen", "type", "range", ">scale", ">zero", ">SQNR dB",
                 "remark"});
    for (std::size_t i = 0; i < r.result.layers.size(); ++i) {
      const quantize::LayerRow& row = r.result.layers[i];
      const bool q = row.integer;
      table.row({fmt::format("{}", row.op), row.kind, row.name, range(row.seen), type_of(row),
                 q ? range(row.range) : "",
                 q ? fmt::format("{:.4g}", row.quantisation.scale[0]) : "",
                 q ? fmt::format("{}", row.quantisation.zero_point[0]) : "", db(r.sqnr_db[i]),
                 row.reason + row.note + compensation(row)});
    }
    out += table.text() + "\n";
  }
  if (r.mixed) out += mixed_text(r, layers);
  for (const std::string& warning : r.result.warnings)
    out += fmt::format("  warning: {}\n", warning);
  if (r.equalised || r.folded)
    out += fmt::format("  {} pairs of layers equalised, {} scales folded\n", r.equalised, r.folded);
  const auto compensated =
      std::count_if(r.result.layers.begin(), r.result.layers.end(),
                    [](const auto& row) { return row.compensated_db.has_value(); });
  if (compensated)
    out +=
        fmt::format("  weights of {} operators rounded so that their errors cancel\n", compensated);
  if (r.output_sqnr_db) out += fmt::format("  output   SQNR {} dB\n", db(r.output_sqnr_db));
  out += fmt::format("  weights  {} -> {} ({:.1f} %)\n",
                     human_bytes(static_cast<double>(r.result.weight_bytes_before)),
                     human_bytes(static_cast<double>(r.result.weight_bytes_after)),
                     percent(r.result.weight_bytes_after, r.result.weight_bytes_before));
  out += fmt::format("  biases   {} -> {}\n",
                     human_bytes(static_cast<double>(r.result.bias_bytes_before)),
                     human_bytes(static_cast<double>(r.result.bias_bytes_after)));
  out += fmt::format(
      "  file     {} -> {} ({:.1f} %)\n", human_bytes(static_cast<double>(r.file_before)),
      human_bytes(static_cast<double>(r.file_after)), percent(r.file_after, r.file_before));
  if (r.metric) {
    out += fmt::format("  {:<8} float {}, {} {} on {} samples", r.metric->name,
                       value_text(*r.metric, r.metric->before), wide ? "mixed" : "int8",
                       value_text(*r.metric, r.metric->after), r.metric->samples);
    if (r.metric->name == "top1") out += fmt::format(", {} with one answer", r.metric->same_answer);
    if (r.metric->sqnr_db) out += fmt::format(", SQNR {} dB", db(r.metric->sqnr_db));
    out += "\n";
  }
  return out;
}

std::string quantise_json(const QuantiseReport& r) {
  using Json = nlohmann::ordered_json;
  const auto number = [](const std::optional<double>& v) {
    return v && std::isfinite(*v) ? Json(*v) : Json(nullptr);
  };
  Json layers = Json::array();
  for (std::size_t i = 0; i < r.result.layers.size(); ++i) {
    const quantize::LayerRow& row = r.result.layers[i];
    Json j = {{"index", row.op},      {"kind", row.kind},
              {"tensor", row.name},   {"int8", row.integer && !row.wide},
              {"type", type_of(row)}, {"seen", {row.seen.lo, row.seen.hi}}};
    if (row.integer) {
      j["range"] = {row.range.lo, row.range.hi};
      j["scale"] = row.quantisation.scale[0], j["zero_point"] = row.quantisation.zero_point[0];
    }
    j["sqnr_db"] = number(r.sqnr_db[i]);
    if (!row.reason.empty()) j["reason"] = row.reason;
    if (!row.note.empty()) j["note"] = row.note;
    if (row.compensated_db) j["compensated_db"] = *row.compensated_db;
    layers.push_back(std::move(j));
  }
  Json out = {
      {"model", r.model},
      {"output", r.output},
      {"method", r.method},
      {"numerics", r.numerics},
      {"samples", r.samples},
      {"resumed", r.resumed},
      {"equalised_pairs", r.equalised},
      {"folded_scales", r.folded},
      {"weights",
       {{"before", r.result.weight_bytes_before}, {"after", r.result.weight_bytes_after}}},
      {"biases", {{"before", r.result.bias_bytes_before}, {"after", r.result.bias_bytes_after}}},
      {"constants", {{"before", r.constants_before}, {"after", r.constants_after}}},
      {"file", {{"before", r.file_before}, {"after", r.file_after}}},
      {"output_sqnr_db", number(r.output_sqnr_db)},
      {"warnings", r.result.warnings}};
  if (r.metric)
    out["metric"] = {{"name", r.metric->name},
                     {"samples", r.metric->samples},
                     {"float", r.metric->before},
                     {"int8", r.metric->after},
                     {"same_answer", r.metric->same_answer},
                     {"sqnr_db", number(r.metric->sqnr_db)},
                     {"higher_is_better", r.metric->higher_is_better}};
  if (r.mixed) {
    Json rows = Json::array();
    for (const quantize::SensitivityRow& row : r.mixed->rows)
      rows.push_back({{"index", row.op},
                      {"output_sqnr_db", number(row.output_db)},
                      {"bytes_percent", row.bytes_percent},
                      {"cycles_percent", row.cycles_percent},
                      {"chosen", row.chosen},
                      {"verdict", row.verdict}});
    out["mixed"] = {{"int8_sqnr_db", number(r.mixed->int8_db)},
                    {"sqnr_db", number(r.mixed->mixed_db)},
                    {"bytes_percent", r.mixed->bytes_percent},
                    {"cycles_percent", r.mixed->cycles_percent},
                    {"rows", rows}};
  }
  out["layers"] = layers;
  return json_text("deputy-quantize-1", out);
}

}  // namespace deputy::tools
