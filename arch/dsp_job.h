// A job of the DSP: a list of commands in shared memory, done one after the other. Each is
// kDspCommandBytes of packed little-endian words (bitpack.h), padded with zeros. A job depends on
// nothing that another left in the DSP: it names its program, and brings its data in and out.
#pragma once

#include <cstdint>

#include "arch/bitpack.h"
#include "arch/isa.h"
#include "base/fields.h"

namespace deputy::arch {

inline constexpr std::uint32_t kDspCommandBytes = 96, kDspMostCommands = 64;
inline constexpr int kDspArguments = 16;

enum class DspCommandKind : std::uint8_t {
  /// `row_bytes` at `offset` of `region` become the program. `entry` tells programs apart, a hash
  /// of its words, say: when place,
  /// length and that number are the ones of the program that is there, it stays.
  kProgram = 0,
  kLoad = 1,   ///< rows of `region` to the data memory
  kStore = 2,  ///< and back
  kRun = 3,    ///< the program from word `entry`, with r1, r2, ... set, until it halts
};

struct DspCommand {
  std::uint8_t kind = 0, region = 0, arguments = 0;
  std::uint32_t offset = 0, tcm = 0, row_bytes = 0, rows = 1, memory_stride = 0, tcm_stride = 0,
                entry = 0;
  std::uint32_t argument[kDspArguments] = {};
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    const auto word = [](const char* name, const char* doc, const char* unit) {
      return Field{.name = name, .doc = doc, .unit = unit, .bits = 32};
    };
    v(s.kind,
      Field{.name = "kind", .doc = "0 program, 1 load, 2 store, 3 run", .bits = 8, .max = 3});
    v(s.region,
      Field{.name = "region", .doc = "of the ring entry", .bits = 8, .max = kRegionCount - 1});
    v(s.arguments, Field{.name = "arguments",
                         .doc = "run: registers that are set, from r1 on; the others are 0",
                         .bits = 16,
                         .max = kDspArguments});
    v(s.offset, word("offset", "from the region's base", "bytes"));
    v(s.tcm, word("tcm", "load, store: address in the data memory", "bytes"));
    v(s.row_bytes, word("row_bytes", "of a row", "bytes"));
    v(s.rows, word("rows", "load, store: how many", ""));
    v(s.memory_stride, word("memory_stride", "from one row to the next in the region", "bytes"));
    v(s.tcm_stride, word("tcm_stride", "and in the data memory", "bytes"));
    v(s.entry,
      word("entry",
           "run: the first word that runs; program: a number that changes with the contents", ""));
    for (auto& argument : s.argument) v(argument, word("argument", "run: r1, r2, ...", ""));
  }
};

}  // namespace deputy::arch
