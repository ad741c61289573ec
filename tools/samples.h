// Samples for calibration and evaluation, read one at a time from .npy files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "delegate/ir/graph.h"
#include "tools/npy.h"

namespace deputy::tools {

class Samples {
 public:
  /// `paths`: .npy files, or folders whose .npy files are taken by name. A file holds one sample in
  /// its input's shape, or many along a dimension before it; dimensions of size 1 do not matter. A
  /// graph with several inputs wants INPUT=PATH for each. kInput: another shape or type, a file
  /// without data; kIo: no such file.
  static base::Result<Samples> open(const std::vector<std::string>& paths,
                                    const delegate::Graph& graph);

  std::uint64_t size() const { return size_; }
  /// The bytes for each graph input. Reads them from disk; nothing is kept. kInput: a float that is
  /// NaN or infinite, named by file, sample and place.
  base::Result<std::vector<std::vector<std::uint8_t>>> get(std::uint64_t index) const;
  /// Names, sizes and shapes of the files: what they are told apart by.
  std::string identity() const;

 private:
  struct File {
    std::string path;
    NpyHeader header;
    std::uint64_t samples = 0;
  };
  struct Input {
    std::vector<File> files;
    std::uint64_t bytes = 0;  ///< of a sample
  };
  static base::Result<Input> open_input(const std::vector<std::string>& paths,
                                        const arch::TensorDesc& desc);

  std::vector<Input> inputs_;
  std::uint64_t size_ = 0;
};

}  // namespace deputy::tools
