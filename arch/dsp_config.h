// What a DSP of this family can be: the knobs that the YAML sets, the assembler schedules for and
// the model is built from. Latencies are those of a short in-order pipeline at a few hundred MHz: a
// result of latency n can be read n packets later without a stall.
#pragma once

#include <cstdint>

#include "base/fields.h"

namespace deputy::arch {

/// The tightly coupled data memory. One vector access uses every bank for a cycle.
struct DspTcmConfig {
  std::int32_t bytes = 131072;
  std::int32_t banks = 32;
  std::int32_t program_bytes = 65536;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.bytes,
      Field{.name = "bytes", .doc = "data memory", .unit = "bytes", .min = 1024, .max = 16777216});
    v(s.banks, Field{.name = "banks",
                     .doc = "banks of four bytes that are accessed at once; a power of two",
                     .min = 1,
                     .max = 32});
    v(s.program_bytes, Field{.name = "program_bytes",
                             .doc = "program memory",
                             .unit = "bytes",
                             .min = 256,
                             .max = 1048576});
  }
};

struct DspLatencyConfig {
  std::int32_t scalar = 1, scalar_mul = 2, divide = 12;
  std::int32_t vector = 1, permute = 2, reduce = 3, mac = 3, load = 2, gather = 3;
  std::int32_t branch = 2, interrupt = 4;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    const auto row = [](const char* name, const char* doc, double min) {
      return Field{.name = name, .doc = doc, .unit = "cycles", .min = min, .max = 64};
    };
    v(s.scalar, row("scalar", "scalar arithmetic", 1));
    v(s.scalar_mul, row("scalar_mul", "scalar multiplication", 1));
    v(s.divide, row("divide", "scalar division and square root", 1));
    v(s.vector, row("vector", "lane-wise vector arithmetic", 1));
    v(s.permute, row("permute", "operations that move data across lanes", 1));
    v(s.reduce, row("reduce", "from a vector to a scalar or mask count", 1));
    v(s.mac, row("mac", "multiplication; accumulating onto a sum takes 1", 1));
    v(s.load, row("load", "load from the data memory", 1));
    v(s.gather, row("gather", "gather without bank conflicts", 1));
    v(s.branch, row("branch", "packets lost when a branch is taken; loops lose none", 0));
    v(s.interrupt, row("interrupt", "entering an interrupt handler", 0));
  }
};

struct DspDmaConfig {
  std::int32_t chunk_bytes = 1024;
  std::int32_t outstanding = 4;
  std::int32_t bytes_per_cycle = 8;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.chunk_bytes, Field{.name = "chunk_bytes",
                           .doc = "largest single bus transaction",
                           .unit = "bytes",
                           .min = 16,
                           .max = 65536});
    v(s.outstanding,
      Field{.name = "outstanding", .doc = "transactions in flight", .min = 1, .max = 64});
    v(s.bytes_per_cycle, Field{.name = "bytes_per_cycle",
                               .doc = "width of the data memory's port for transfers",
                               .unit = "bytes/cycle",
                               .min = 1,
                               .max = 128});
  }
};

/// All the knobs of one DSP (YAML group "dsp").
struct DspConfig {
  double clock_mhz = 200;
  std::int32_t mailbox_depth = 8;
  DspTcmConfig tcm;
  DspLatencyConfig latency;
  DspDmaConfig dma;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.clock_mhz,
      Field{.name = "clock_mhz", .doc = "DSP clock", .unit = "MHz", .min = 1, .max = 5000});
    v(s.mailbox_depth, Field{.name = "mailbox_depth",
                             .doc = "words in each direction's mailbox",
                             .min = 1,
                             .max = 256});
    v(s.tcm, Field{.name = "tcm", .doc = "tightly coupled memories"});
    v(s.latency, Field{.name = "latency", .doc = "pipeline"});
    v(s.dma, Field{.name = "dma", .doc = "the core's own DMA channel"});
  }
};

/// The DSP of a SoC, which need not have one.
struct DspTarget : DspConfig {
  bool present = false;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.present,
      Field{.name = "present",
            .doc = "the SoC has a DSP; else its rows count for deputy asm and deputy dsp alone"});
    DspConfig::fields(s, v);
  }
};

}  // namespace deputy::arch
