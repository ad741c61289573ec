// Moves bytes between strided places in system memory through the scratchpad, optionally through a
// table on the way.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "delegate/codegen/lower.h"
#include "delegate/fusion/epilogue_plan.h"
#include "delegate/ops/copies.h"

namespace deputy::delegate {

class CopyEmitter {
 public:
  /// Buffers of at most `chunk` bytes.
  CopyEmitter(Lowering& context, std::int64_t chunk, const std::optional<ByteTable>& table = {});

  /// `dims` as in Copy: simplified, the innermost contiguous on both sides.
  void emit(MemoryRef from, MemoryRef to, std::vector<CopyDim> dims);

 private:
  void outer(const std::vector<CopyDim>& dims, std::size_t depth, std::int64_t from,
             std::int64_t to);
  void boxes(const CopyDim* d, std::int64_t from, std::int64_t to);

  ProgramBuilder& program_;
  std::int64_t chunk_ = 0;
  std::vector<std::uint32_t> slots_;
  std::uint32_t table_ = 0;
  bool has_table_;
  std::size_t next_ = 0;
  MemoryRef from_, to_;
};

/// One tensor's elements to another's of the same shape, each lying as its view says.
std::vector<CopyDim> view_dims(const Shape& shape, const TensorView& from, const TensorView& to);

}  // namespace deputy::delegate
