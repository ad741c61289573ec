// What `deputy quantize` says about its result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "quantize/evaluate.h"
#include "quantize/mixed.h"

namespace deputy::tools {

struct MetricRow {
  std::string name;
  std::uint64_t samples = 0;
  double before = 0, after = 0;  ///< float network, int8 network
  bool higher_is_better = true;
  std::uint64_t same_answer = 0;  ///< samples whose largest output is the same in both networks
  std::optional<double> sqnr_db;  ///< of the first output on these samples
};

struct QuantiseReport {
  std::string model, output, method, numerics;
  std::uint64_t samples = 0, resumed = 0;
  std::uint64_t file_before = 0, file_after = 0;  ///< bytes
  std::uint64_t constants_before = 0, constants_after = 0;
  int equalised = 0, folded = 0;
  quantize::Quantised result;
  std::vector<std::optional<double>> sqnr_db;  ///< by layer
  std::optional<double> output_sqnr_db;
  std::optional<MetricRow> metric;
  std::optional<quantize::MixedChoice> mixed;
};

std::string quantise_text(const QuantiseReport& report, bool layers);
std::string quantise_json(const QuantiseReport& report);

}  // namespace deputy::tools
