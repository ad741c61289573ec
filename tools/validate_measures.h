// How each kind of number in the validation table is measured.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "tools/anchors.h"
#include "tools/report.h"

namespace deputy::tools {

/// Simulations for the table; rows that need the same one share it.
class ValidationRuns {
 public:
  /// `data`: folder with model files; may be empty.
  explicit ValidationRuns(std::string data) : data_(std::move(data)) {}

  /// Whether the row's workload is there.
  bool has_workload(const AnchorRow& row) const;
  /// One inference of the row's network or model, timing only, everything the NPU can take on the
  /// NPU.
  base::Result<std::shared_ptr<const Report>> inference(const AnchorRow& row) {
    return inference_on(row, row.soc, row.set, row.sram_kib);
  }
  /// The same where the row's ratio has its divisor.
  base::Result<std::shared_ptr<const Report>> over(const AnchorRow& row) {
    return inference_on(row, row.over_soc.empty() ? row.soc : row.over_soc, row.over_set,
                        row.over_sram_kib);
  }

 private:
  base::Result<std::shared_ptr<const Report>> inference_on(const AnchorRow& row,
                                                           const std::string& soc,
                                                           const std::string& set, double sram_kib);

  std::string data_;
  std::map<std::string, std::shared_ptr<const Report>> done_;
};

struct Measured {
  double ours = 0;
  double reference = 0;  ///< worked out from the run; 0: the row's own counts
};

/// One kind of measurement, as anchor rows name it.
struct Measure {
  const char* name;
  const char* unit;
  const char* doc;
  base::Result<Measured> (*run)(ValidationRuns& runs, const AnchorRow& row);
};
std::span<const Measure> measures();
base::Result<const Measure*> find_measure(const AnchorRow& row);

}  // namespace deputy::tools
