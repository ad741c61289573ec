// Assembles one NPU program: collects the instructions of each kernel with its scratchpad buffers,
// turns strided copies into LOADs and STOREs that fit the instruction's fields, and has the whole
// planned, ordered and encoded at the end (delegate/schedule).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "arch/isa.h"
#include "arch/npu_config.h"
#include "delegate/codegen/views.h"
#include "delegate/schedule/emit_stream.h"
#include "delegate/schedule/section.h"

namespace deputy::delegate {

/// A copy of planes x rows x row_bytes between system memory and the scratchpad; strides in bytes.
struct Box {
  std::int64_t planes = 1, rows = 1, row_bytes = 1;
  std::int64_t mem_plane = 0, mem_row = 0;
  std::int64_t spm_plane = 0, spm_row = 0;
  /// A box that lies dense in the scratchpad.
  static Box dense(std::int64_t planes, std::int64_t rows, std::int64_t row_bytes,
                   std::int64_t mem_plane, std::int64_t mem_row) {
    return {planes, rows, row_bytes, mem_plane, mem_row, rows * row_bytes, row_bytes};
  }
  static Box bytes(std::int64_t count) { return {1, 1, count, 0, 0, 0, 0}; }
};

class ProgramBuilder {
 public:
  explicit ProgramBuilder(const arch::NpuConfig& npu, const StreamOptions& options = {})
      : npu_(npu), options_(options) {}

  /// The source operator that the next instructions belong to.
  void set_tag(std::uint16_t tag) { tag_ = tag; }
  /// The action of the memory plan that the next sections belong to.
  void set_action(std::ptrdiff_t action) { action_ = action; }

  void emit(const arch::Operation& op);
  void load(const MemoryRef& from, std::uint32_t spm, const Box& box, arch::Traffic traffic);
  void store(const MemoryRef& to, std::uint32_t spm, const Box& box);

  /// Begins a section: buffers of the given sizes, live together until the next call, and the only
  /// scratchpad that the instructions until then may name. The sizes, each rounded up to
  /// kBufferAlign, must fit the scratchpad together. The addresses get their final values in
  /// finish().
  std::vector<std::uint32_t> allocate(std::span<const std::int64_t> sizes);

  /// Appends END and returns the program. The builder is then spent.
  Stream finish();

 private:
  template <class T>
  void transfer(const MemoryRef& mem, std::uint32_t spm, const Box& box, arch::Traffic traffic);

  arch::NpuConfig npu_;
  StreamOptions options_;
  std::vector<Section> sections_;
  std::uint16_t tag_ = 0;
  std::ptrdiff_t action_ = 0;
};

inline constexpr std::int64_t kBufferAlign = 16;
inline std::int64_t align_up(std::int64_t value, std::int64_t to) {
  return (value + to - 1) / to * to;
}

}  // namespace deputy::delegate
