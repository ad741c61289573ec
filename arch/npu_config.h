// What an NPU of this family can be: the capabilities that the YAML sets, the compiler tiles for,
// the registers report and the model is built from.
#pragma once

#include <cstdint>

#include "base/fields.h"

namespace deputy::arch {

struct MacConfig {
  std::int32_t oc_lanes = 8;
  std::int32_t ic_lanes = 8;
  std::int32_t pixels = 2;
  // Vela 3.10 has Ethos-U55-128 do a 3x3 depthwise layer at 8.3 MAC a cycle: one tap for each
  // output-channel lane.
  std::int32_t dw_taps = 1;
  std::int32_t accumulators = 2048;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.oc_lanes,
      Field{.name = "oc_lanes", .doc = "output channels computed at once", .min = 1, .max = 256});
    v(s.ic_lanes, Field{.name = "ic_lanes",
                        .doc = "input channels (or kernel taps) multiplied at once per output",
                        .min = 1,
                        .max = 256});
    v(s.pixels,
      Field{.name = "pixels", .doc = "output pixels computed at once", .min = 1, .max = 64});
    v(s.dw_taps, Field{.name = "dw_taps",
                       .doc = "depthwise: kernel taps per cycle, channel lane and pixel",
                       .min = 1,
                       .max = 64});
    v(s.accumulators, Field{.name = "accumulators",
                            .doc = "int32 accumulators that CONV can hold between instructions",
                            .min = 64,
                            .max = 1048576});
  }
  std::int64_t per_cycle() const { return std::int64_t{oc_lanes} * ic_lanes * pixels; }
};

/// An array with bit-serial weights that works in passes (arch/npu_timing_serial.h). It concerns
/// cycles alone; with `outputs` 0 the array is the ordinary one and the rest has no effect.
struct SerialConfig {
  std::int32_t outputs = 0;
  std::int32_t side = 3;
  std::int32_t weight_bits = 8;
  std::int32_t port_bytes = 32;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.outputs, Field{.name = "outputs",
                       .doc = "output channels of one pass; 0: the array is not bit-serial",
                       .min = 0,
                       .max = 256});
    v(s.side, Field{.name = "side",
                    .doc = "a pass makes side x side pixels and takes side x side kernel taps",
                    .min = 1,
                    .max = 16});
    v(s.weight_bits, Field{.name = "weight_bits",
                           .doc = "cycles of an output channel in a pass of side x side taps",
                           .unit = "bits",
                           .min = 1,
                           .max = 8});
    v(s.port_bytes, Field{.name = "port_bytes",
                          .doc = "scratchpad bytes a cycle for inputs and results",
                          .unit = "bytes",
                          .min = 1,
                          .max = 256});
  }
};

struct SpmConfig {
  std::int32_t bytes = 131072;
  std::int32_t bytes_per_cycle = 256;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.bytes, Field{.name = "bytes",
                     .doc = "scratchpad size",
                     .unit = "bytes",
                     .min = 4096,
                     .max = 33554432});
    v(s.bytes_per_cycle, Field{.name = "bytes_per_cycle",
                               .doc = "scratchpad bandwidth to the compute units",
                               .unit = "bytes/cycle",
                               .min = 1,
                               .max = 8192});
  }
};

struct VectorConfig {
  std::int32_t out_lanes = 8;
  // Vela 3.10 has Ethos-U55-128 add two int8 maps at 1.5 cycles an element (ResNet-8's residual).
  std::int32_t ew_lanes = 1;
  std::int32_t pool_lanes = 8;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.out_lanes,
      Field{.name = "out_lanes", .doc = "outputs requantised per cycle", .min = 1, .max = 1024});
    v(s.ew_lanes, Field{.name = "ew_lanes",
                        .doc = "element-wise and table results per cycle",
                        .min = 1,
                        .max = 1024});
    v(s.pool_lanes,
      Field{
          .name = "pool_lanes", .doc = "pooling inputs reduced per cycle", .min = 1, .max = 1024});
  }
};

struct NpuDmaConfig {
  std::int32_t chunk_bytes = 1024;
  std::int32_t outstanding = 4;
  std::int32_t issue_cycles = 8;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.chunk_bytes, Field{.name = "chunk_bytes",
                           .doc = "largest single bus transaction",
                           .unit = "bytes",
                           .min = 16,
                           .max = 65536});
    v(s.outstanding,
      Field{.name = "outstanding", .doc = "transactions in flight per queue", .min = 1, .max = 64});
    v(s.issue_cycles, Field{.name = "issue_cycles",
                            .doc = "set-up of one LOAD or STORE",
                            .unit = "cycles",
                            .min = 0,
                            .max = 1000});
  }
};

/// The decoder in the load path. Its eight lanes (arch/weight_codec.h) yield eight bytes a cycle.
struct WeightDecoderConfig {
  std::int32_t bytes_per_cycle = 8;
  std::int32_t setup_cycles = 16;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.bytes_per_cycle, Field{.name = "bytes_per_cycle",
                               .doc = "bytes that LOADW decodes per cycle",
                               .unit = "bytes/cycle",
                               .min = 1,
                               .max = 256});
    v(s.setup_cycles, Field{.name = "setup_cycles",
                            .doc = "reading the code table, beside the fetch of the stream",
                            .unit = "cycles",
                            .min = 0,
                            .max = 10000});
  }
};

struct NpuControlConfig {
  std::int32_t queue_depth = 16;
  std::int32_t fetch_bytes = 512;
  std::int32_t decode_cycles = 4;
  std::int32_t start_cycles = 32;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.queue_depth, Field{.name = "queue_depth",
                           .doc = "instructions waiting in each queue",
                           .min = 1,
                           .max = 1024});
    v(s.fetch_bytes, Field{.name = "fetch_bytes",
                           .doc = "command bytes fetched at once",
                           .unit = "bytes",
                           .min = 256,
                           .max = 65536});
    v(s.decode_cycles, Field{.name = "decode_cycles",
                             .doc = "decode and dispatch of one instruction",
                             .unit = "cycles",
                             .min = 1,
                             .max = 1000});
    v(s.start_cycles, Field{.name = "start_cycles",
                            .doc = "pipeline fill and drain of one compute instruction",
                            .unit = "cycles",
                            .min = 0,
                            .max = 10000});
  }
};

/// All the knobs of one NPU (YAML group "npu").
struct NpuConfig {
  double clock_mhz = 200;
  MacConfig mac;
  SerialConfig serial;
  SpmConfig spm;
  VectorConfig vec;
  NpuDmaConfig dma;
  WeightDecoderConfig wdec;
  NpuControlConfig ctrl;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.clock_mhz,
      Field{.name = "clock_mhz", .doc = "NPU clock", .unit = "MHz", .min = 1, .max = 5000});
    v(s.mac, Field{.name = "mac", .doc = "MAC array"});
    v(s.serial, Field{.name = "serial", .doc = "bit-serial MAC array"});
    v(s.spm, Field{.name = "spm", .doc = "local scratchpad"});
    v(s.vec, Field{.name = "vec", .doc = "output stage, element-wise and pooling units"});
    v(s.dma, Field{.name = "dma", .doc = "load and store queues"});
    v(s.wdec, Field{.name = "wdec", .doc = "decoder of compressed weights"});
    v(s.ctrl, Field{.name = "ctrl", .doc = "command processor"});
  }
  /// Output channels that belong together: a tile with a multiple of them wastes none.
  std::int32_t output_block() const { return serial.outputs > 0 ? serial.outputs : mac.oc_lanes; }
};

}  // namespace deputy::arch
