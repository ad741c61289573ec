// What experiments and suites run: a built-in network or a model file, under a name.
#pragma once

#include <string>

#include "base/fields.h"
#include "base/result.h"
#include "tools/simulate.h"

namespace deputy::tools {

struct WorkloadRow {
  std::string name;     ///< shown
  std::string network;  ///< a built-in one, or
  std::string model;    ///< a file
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.name, Field{.name = "name", .doc = "shown; by default the network's or the model file's"});
    v(s.network, Field{.name = "network", .doc = "a built-in network"});
    v(s.model, Field{.name = "model", .doc = "or a model file, beside the file that names it"});
  }
  /// "ds_cnn" of a network, or of "models/ds_cnn.tflite".
  std::string stem() const;
};

/// Checks a row that was read and makes its file's name one that begins at `folder`. `where` is for
/// the error, kConfig.
base::Status complete(WorkloadRow& row, const std::string& where, const std::string& folder);

/// The graph, with bytes that say which it is: a model file's, or a built-in network's name, which
/// with the sources tells it.
base::Result<ModelFile> load_workload(const WorkloadRow& row);

}  // namespace deputy::tools
