// Which byte of the constants each byte of the scratchpad and of the fast arena is a copy of, while
// a program is replayed in stream order: what a program copies ahead of its use must be there when
// it is used (check_programs.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arch/executable.h"
#include "arch/isa.h"

namespace deputy::delegate {

class StagedConstants {
 public:
  /// For one program. Follows nothing when the program copies nothing.
  StagedConstants(const arch::Executable& executable, const arch::Program& program);

  /// Whether the instruction stores a copy of constants.
  static bool stores_copy(const arch::Operation& op);
  /// Takes what an instruction does to the scratchpad, after the checks below.
  void follow(const arch::Operation& op);
  /// A STORE of a copy, inside the arena. What is wrong with it, or empty.
  std::string store(const arch::Store& store);
  /// Bytes of the arena that are loaded as constants: they must be copies that follow each other.
  std::string load(std::uint64_t at, std::uint64_t bytes) const;
  /// Something else was written to the arena.
  void overwritten(std::uint64_t at, std::uint64_t bytes);

 private:
  using Origins = std::vector<std::uint64_t>;  // 1 + the offset in the constants; 0: no copy
  static bool follow_each_other(const Origins& origins, std::uint64_t at, std::uint64_t bytes);
  Origins spm_, arena_;
};

}  // namespace deputy::delegate
