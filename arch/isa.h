// The NPU's instruction set: the one table that the encoder, the decoder, the disassembler, the
// code generator, the model, the driver's verifier and the reference page read.
//
// A command stream is a sequence of instructions in little-endian 32-bit words. Each carries
// everything it needs: no instruction depends on state set by another. The first word holds opcode,
// length and tag; the bytes after it hold a two-bit size for each wait and field, then the values
// that are there. A field at its default, or at the value that T::imply() works out from the others
// (dense strides, square kernels), takes no byte: streams come over the same bus as weights, and
// most of an instruction is the usual. Instructions go to one of three queues (load, compute,
// store) that run decoupled, each in order. An instruction starts only when the three queues have
// completed at least wait_load, wait_compute and wait_store instructions since the job began. Waits
// may only name instructions earlier in the stream, which makes deadlock impossible; the command
// processor faults on a stream that breaks this.
//
// Addresses: system memory is named as a region (one of eight base registers) plus an offset; the
// local scratchpad (SPM) by byte address. Feature maps in the SPM are NHWC tiles of bytes (int8, or
// uint8 where an instruction's u8 is set) with explicit row and pixel strides in bytes; channels
// are contiguous.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "arch/bitpack.h"
#include "arch/weight_codec.h"
#include "base/fields.h"
#include "base/result.h"

namespace deputy::arch {

inline constexpr int kIsaVersion = 2;
inline constexpr int kRegionCount = 8;

enum class Opcode : std::uint8_t {
  kEnd = 0x01,
  kLoad = 0x10,
  kLoadWeights = 0x11,
  kStore = 0x20,
  kConv = 0x30,
  kDepthwise = 0x31,
  kPool = 0x32,
  kEltwise = 0x33,
  kLut = 0x34,
  kFill = 0x35,
  kSoftmax = 0x36,
};
enum class Queue : std::uint8_t { kControl, kLoad, kCompute, kStore };

struct Header {
  std::uint8_t opcode = 0;
  std::uint8_t words = 0;
  std::uint16_t tag = 0;
  std::uint32_t wait_load = 0, wait_compute = 0, wait_store = 0;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.opcode, Field{.name = "opcode", .doc = "which instruction", .bits = 8});
    v(s.words, Field{.name = "words",
                     .doc = "length of the instruction with its header",
                     .unit = "words",
                     .bits = 8});
    v(s.tag,
      Field{.name = "tag", .doc = "source operator, for statistics and fault reports", .bits = 16});
    v(s.wait_load, Field{.name = "wait_load", .doc = "loads that must have completed", .bits = 32});
    v(s.wait_compute,
      Field{.name = "wait_compute", .doc = "computes that must have completed", .bits = 32});
    v(s.wait_store,
      Field{.name = "wait_store", .doc = "stores that must have completed", .bits = 32});
  }
};
/// How a wait or a field is encoded: the codes lie four to a byte, lowest bits first, in order of
/// the fields.
enum class FieldSize : std::uint8_t { kOmitted = 0, kOneByte = 1, kTwoBytes = 2, kFull = 3 };
/// Bytes of a value; kFull takes as many as the field's bits need. Signed fields are sign-extended.
constexpr int field_bytes(FieldSize size, int bits) {
  return size == FieldSize::kFull ? (bits + 7) / 8 : static_cast<int>(size);
}

/// Why bytes move: decides the statistics column they count in.
enum class Traffic : std::uint8_t { kFeatureMap = 0, kWeights = 1, kParams = 2 };

/// Ends the job: when all three queues are empty, STATUS.done is set and the job interrupt raised.
struct End {
  static constexpr Opcode kOpcode = Opcode::kEnd;
  static constexpr const char* kName = "END";
  static constexpr const char* kDoc = "drain all queues, then complete the job";
  static constexpr Queue kQueue = Queue::kControl;
  template <class Self, class V>
  static void fields(Self&, V&&) {}
};

/// A product that an implied field takes, at most what its member holds.
inline std::uint32_t implied_product(std::uint64_t a, std::uint64_t b, std::uint64_t c = 1) {
  const std::uint64_t product = a * b * c;  // of three fields of at most 24, 16 and 16 bits
  return product > 0xFFFFFFFF ? 0xFFFFFFFF : static_cast<std::uint32_t>(product);
}

/// A strided copy of up to three dimensions between system memory and the SPM:
/// planes x rows x row_bytes. Load copies memory -> SPM, Store SPM -> memory.
template <class Self, class V>
void transfer_fields(Self& s, V&& v) {
  using base::Field;
  v(s.region, Field{.name = "region",
                    .doc = "base register of the system-memory side",
                    .bits = 4,
                    .max = kRegionCount - 1});
  v(s.traffic,
    Field{.name = "traffic", .doc = "0 feature map, 1 weights, 2 parameters", .bits = 2, .max = 2});
  v(s.spm_addr,
    Field{.name = "spm_addr", .doc = "first byte in the SPM", .unit = "bytes", .bits = 26});
  v(s.mem_offset, Field{.name = "mem_offset",
                        .doc = "first byte, from the region's base",
                        .unit = "bytes",
                        .bits = 40});
  v(s.row_bytes, Field{.name = "row_bytes",
                       .doc = "contiguous bytes of a row",
                       .unit = "bytes",
                       .bits = 24,
                       .min = 1});
  v(s.rows, Field{.name = "rows", .doc = "rows of a plane", .bits = 16, .min = 1});
  v(s.planes, Field{.name = "planes", .doc = "planes", .bits = 16, .min = 1});
  v(s.mem_row_stride, Field{.name = "mem_row_stride",
                            .doc = "memory bytes from row to row",
                            .unit = "bytes",
                            .bits = 32});
  v(s.mem_plane_stride, Field{.name = "mem_plane_stride",
                              .doc = "memory bytes from plane to plane",
                              .unit = "bytes",
                              .bits = 32});
  v(s.spm_row_stride, Field{.name = "spm_row_stride",
                            .doc = "SPM bytes from row to row",
                            .unit = "bytes",
                            .bits = 26,
                            .implied = true});
  v(s.spm_plane_stride, Field{.name = "spm_plane_stride",
                              .doc = "SPM bytes from plane to plane",
                              .unit = "bytes",
                              .bits = 26,
                              .implied = true});
}
struct Transfer {
  std::uint8_t region = 0, traffic = 0;
  std::uint32_t spm_addr = 0;
  std::uint64_t mem_offset = 0;
  std::uint32_t row_bytes = 1, rows = 1, planes = 1;
  std::uint32_t mem_row_stride = 0, mem_plane_stride = 0, spm_row_stride = 0, spm_plane_stride = 0;
  std::uint64_t bytes() const { return std::uint64_t{row_bytes} * rows * planes; }
  /// Bytes from the first to the last, holes included, on either side. Strides and counts of a
  /// decoded instruction are so small that nothing wraps.
  std::uint64_t mem_extent() const { return extent(mem_plane_stride, mem_row_stride); }
  std::uint64_t spm_extent() const { return extent(spm_plane_stride, spm_row_stride); }
  std::uint64_t extent(std::uint64_t plane_stride, std::uint64_t row_stride) const {
    return (planes - 1) * plane_stride + (rows - 1) * row_stride + row_bytes;
  }
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    transfer_fields(s, v);
  }
  /// Dense in the SPM.
  static void imply(Transfer& t) {
    t.spm_row_stride = t.row_bytes;
    t.spm_plane_stride = implied_product(t.row_bytes, t.rows);
  }
};
struct Load : Transfer {
  static constexpr Opcode kOpcode = Opcode::kLoad;
  static constexpr const char* kName = "LOAD";
  static constexpr const char* kDoc = "strided copy from system memory to the SPM";
  static constexpr Queue kQueue = Queue::kLoad;
};
/// Fetches `stream_bytes` contiguous bytes of a compressed block and decodes them into `bytes`
/// bytes of the SPM (weight_codec.h). The table is in the SPM, put there by an earlier instruction,
/// or the decoder's own. With planes > 1 the block holds records of that many bytes, one byte
/// position after the other; they are put together again in the SPM.
struct LoadWeights {
  static constexpr Opcode kOpcode = Opcode::kLoadWeights;
  static constexpr const char* kName = "LOADW";
  static constexpr const char* kDoc = "fetch a compressed block and decode it into the SPM";
  static constexpr Queue kQueue = Queue::kLoad;
  std::uint64_t mem_offset = 0;
  std::uint32_t stream_bytes = 1, spm_addr = 0, region = 0, traffic = 1, bytes = 1, planes = 1;
  std::uint32_t fixed_code = 0, table_addr = 0;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.mem_offset, Field{.name = "mem_offset",
                          .doc = "first byte of the stream, from the region's base",
                          .unit = "bytes",
                          .bits = 40});
    v(s.stream_bytes, Field{.name = "stream_bytes",
                            .doc = "bytes of the stream",
                            .unit = "bytes",
                            .bits = 24,
                            .min = 1});
    v(s.spm_addr,
      Field{
          .name = "spm_addr", .doc = "first decoded byte in the SPM", .unit = "bytes", .bits = 26});
    v(s.region, Field{.name = "region",
                      .doc = "base register of the system-memory side",
                      .bits = 4,
                      .max = kRegionCount - 1});
    v(s.traffic,
      Field{
          .name = "traffic", .doc = "0 feature map, 1 weights, 2 parameters", .bits = 2, .max = 2});
    v(s.bytes, Field{.name = "bytes",
                     .doc = "decoded bytes; a multiple of planes",
                     .unit = "bytes",
                     .bits = 26,
                     .min = 1});
    v(s.planes, Field{.name = "planes",
                      .doc = "bytes of a record; 1: the stream is in order",
                      .bits = 4,
                      .min = 1});
    v(s.fixed_code, Field{.name = "fixed_code",
                          .doc = "1: the decoder's own table, not that at table_addr",
                          .bits = 1});
    v(s.table_addr, Field{.name = "table_addr",
                          .doc = "145-byte code table in the SPM",
                          .unit = "bytes",
                          .bits = 26});
  }
};
struct Store : Transfer {
  static constexpr Opcode kOpcode = Opcode::kStore;
  static constexpr const char* kName = "STORE";
  static constexpr const char* kDoc = "strided copy from the SPM to system memory";
  static constexpr Queue kQueue = Queue::kStore;
};

/// A tile of a feature map in the SPM. Strides in bytes; a stride of 0 repeats (broadcast, inputs
/// only).
#define DEPUTY_TILE_FIELDS(v, s, p)                                                                \
  v(s.p##_addr,                                                                                    \
    base::Field{.name = #p "_addr", .doc = "first byte in the SPM", .unit = "bytes", .bits = 26}); \
  v(s.p##_row_stride, base::Field{.name = #p "_row_stride",                                        \
                                  .doc = "from row to row",                                        \
                                  .unit = "bytes",                                                 \
                                  .bits = 26,                                                      \
                                  .implied = true});                                               \
  v(s.p##_px_stride, base::Field{.name = #p "_px_stride",                                          \
                                 .doc = "from pixel to pixel",                                     \
                                 .unit = "bytes",                                                  \
                                 .bits = 26,                                                       \
                                 .implied = true})
#define DEPUTY_EXTENT_FIELDS(v, s, p)                                                       \
  v(s.p##_h, base::Field{.name = #p "_h", .doc = "rows", .bits = 16, .min = 1});            \
  v(s.p##_w, base::Field{.name = #p "_w", .doc = "pixels of a row", .bits = 16, .min = 1}); \
  v(s.p##_c, base::Field{.name = #p "_c", .doc = "channels", .bits = 16, .min = 1})

/// Kernel geometry shared by convolution, depthwise and pooling. Input row read for output row y
/// and tap ky: y*stride_h + ky*dil_h - pad_top; anything outside [0, ifm_h) x [0, ifm_w) is padding
/// (adds nothing). pad_top/pad_left may be negative: the tile then starts after the first tap's
/// input.
#define DEPUTY_KERNEL_FIELDS(v, s)                                                                \
  v(s.k_h, base::Field{.name = "k_h", .doc = "kernel rows", .bits = 16, .min = 1});               \
  v(s.k_w,                                                                                        \
    base::Field{.name = "k_w", .doc = "kernel columns", .bits = 16, .min = 1, .implied = true});  \
  v(s.stride_h,                                                                                   \
    base::Field{.name = "stride_h", .doc = "input rows per output row", .bits = 16, .min = 1});   \
  v(s.stride_w, base::Field{.name = "stride_w",                                                   \
                            .doc = "input columns per output column",                             \
                            .bits = 16,                                                           \
                            .min = 1,                                                             \
                            .implied = true});                                                    \
  v(s.dil_h,                                                                                      \
    base::Field{.name = "dil_h", .doc = "input rows between taps", .bits = 16, .min = 1});        \
  v(s.dil_w,                                                                                      \
    base::Field{.name = "dil_w", .doc = "input columns between taps", .bits = 16, .min = 1});     \
  v(s.pad_top,                                                                                    \
    base::Field{                                                                                  \
        .name = "pad_top", .doc = "padding rows above the tile", .bits = 16, .is_signed = true}); \
  v(s.pad_left, base::Field{.name = "pad_left",                                                   \
                            .doc = "padding columns left of the tile",                            \
                            .bits = 16,                                                           \
                            .is_signed = true})

/// What a window instruction's encoding may leave out: dense tiles, square kernels and strides.
template <class T>
void imply_window(T& t, std::uint32_t ifm_c) {
  t.ifm_px_stride = ifm_c, t.ifm_row_stride = implied_product(t.ifm_w, ifm_c);
  t.ofm_px_stride = t.ofm_c, t.ofm_row_stride = implied_product(t.ofm_w, t.ofm_c);
  t.k_w = t.k_h, t.stride_w = t.stride_h;
}

/// Output stage. Parameters per output channel are 12 bytes in the SPM at prm_addr: int32 bias,
/// int32 multiplier (fp32 mode: the float32 scale's bits), int32 shift (numerics.h). Then + ofm_zp,
/// clamp, LUT. u8: an unsigned byte b stands for the value b - 128, so each byte of a feature map
/// has its top bit flipped when it is read and again when it is written; everything between (zero
/// points, clamp, table) is as for int8.
#define DEPUTY_OUTPUT_FIELDS(v, s)                                                              \
  v(s.ofm_zp,                                                                                   \
    base::Field{.name = "ofm_zp", .doc = "output zero point", .bits = 8, .is_signed = true});   \
  v(s.act_min,                                                                                  \
    base::Field{.name = "act_min", .doc = "lower clamp", .bits = 8, .is_signed = true});        \
  v(s.act_max,                                                                                  \
    base::Field{.name = "act_max", .doc = "upper clamp", .bits = 8, .is_signed = true});        \
  v(s.rounding,                                                                                 \
    base::Field{.name = "rounding", .doc = "0 tflite, 1 single, 2 fp32", .bits = 2, .max = 2}); \
  v(s.lut_en, base::Field{.name = "lut_en",                                                     \
                          .doc = "1: map each output byte through the table at lut_addr",       \
                          .bits = 1});                                                          \
  v(s.lut_addr, base::Field{.name = "lut_addr",                                                 \
                            .doc = "256-byte table in the SPM, indexed by value + 128",         \
                            .unit = "bytes",                                                    \
                            .bits = 26});                                                       \
  v(s.u8,                                                                                       \
    base::Field{.name = "u8", .doc = "1: the bytes of all feature maps are unsigned", .bits = 1})

inline constexpr int kChannelParamBytes = 12;

/// acc[y,x,o] (+)= sum over taps and input channels of (ifm - ifm_zp) * (weight - w_zp), int32 with
/// wrap-around. Weights are OHWI in the SPM, w_oc_stride bytes from one output channel to the next.
/// acc_keep adds to the accumulators of the previous CONV instead of starting at the bias; acc_hold
/// leaves the sums there without an output (both need ofm_h*ofm_w*ofm_c <= npu.mac.accumulators). A
/// fully connected layer is 1x1.
struct Conv {
  static constexpr Opcode kOpcode = Opcode::kConv;
  static constexpr const char* kName = "CONV";
  static constexpr const char* kDoc = "2-D convolution of a tile; fully connected as 1x1";
  static constexpr Queue kQueue = Queue::kCompute;
  std::uint32_t ifm_addr = 0, ifm_row_stride = 0, ifm_px_stride = 0, ifm_h = 1, ifm_w = 1,
                ifm_c = 1;
  std::uint32_t ofm_addr = 0, ofm_row_stride = 0, ofm_px_stride = 0, ofm_h = 1, ofm_w = 1,
                ofm_c = 1;
  std::uint32_t w_addr = 0, w_oc_stride = 0, prm_addr = 0;
  std::uint32_t k_h = 1, k_w = 1, stride_h = 1, stride_w = 1, dil_h = 1, dil_w = 1;
  std::int32_t pad_top = 0, pad_left = 0;
  std::int32_t ifm_zp = 0, w_zp = 0, ofm_zp = 0, act_min = -128, act_max = 127;
  std::uint32_t rounding = 0, lut_en = 0, lut_addr = 0, u8 = 0, acc_keep = 0, acc_hold = 0;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    DEPUTY_TILE_FIELDS(v, s, ifm);
    DEPUTY_EXTENT_FIELDS(v, s, ifm);
    DEPUTY_TILE_FIELDS(v, s, ofm);
    DEPUTY_EXTENT_FIELDS(v, s, ofm);
    v(s.w_addr,
      base::Field{.name = "w_addr", .doc = "weights in the SPM", .unit = "bytes", .bits = 26});
    v(s.w_oc_stride, base::Field{.name = "w_oc_stride",
                                 .doc = "from one output channel's kernel to the next",
                                 .unit = "bytes",
                                 .bits = 26,
                                 .implied = true});
    v(s.prm_addr,
      base::Field{
          .name = "prm_addr", .doc = "channel parameters in the SPM", .unit = "bytes", .bits = 26});
    DEPUTY_KERNEL_FIELDS(v, s);
    v(s.ifm_zp,
      base::Field{.name = "ifm_zp", .doc = "input zero point", .bits = 8, .is_signed = true});
    v(s.w_zp,
      base::Field{.name = "w_zp", .doc = "weight zero point", .bits = 8, .is_signed = true});
    DEPUTY_OUTPUT_FIELDS(v, s);
    v(s.acc_keep, base::Field{.name = "acc_keep", .doc = "1: add to the accumulators", .bits = 1});
    v(s.acc_hold,
      base::Field{.name = "acc_hold", .doc = "1: keep sums, write no output", .bits = 1});
  }
  static void imply(Conv& c) {
    imply_window(c, c.ifm_c);
    c.w_oc_stride = implied_product(c.ifm_c, c.k_h, c.k_h);
  }
  std::uint64_t macs() const { return std::uint64_t{ofm_h} * ofm_w * ofm_c * k_h * k_w * ifm_c; }
};

/// Depthwise convolution: output channel c reads input channel c / depth_mult. Weights are HWC in
/// the SPM (k_h, k_w, ofm_c), w_tap_stride bytes from tap to tap, and count less w_zp.
struct Depthwise {
  static constexpr Opcode kOpcode = Opcode::kDepthwise;
  static constexpr const char* kName = "DWCONV";
  static constexpr const char* kDoc = "depthwise 2-D convolution of a tile";
  static constexpr Queue kQueue = Queue::kCompute;
  std::uint32_t ifm_addr = 0, ifm_row_stride = 0, ifm_px_stride = 0, ifm_h = 1, ifm_w = 1,
                ifm_c = 1;
  std::uint32_t ofm_addr = 0, ofm_row_stride = 0, ofm_px_stride = 0, ofm_h = 1, ofm_w = 1,
                ofm_c = 1;
  std::uint32_t w_addr = 0, w_tap_stride = 0, prm_addr = 0, depth_mult = 1;
  std::uint32_t k_h = 1, k_w = 1, stride_h = 1, stride_w = 1, dil_h = 1, dil_w = 1;
  std::int32_t pad_top = 0, pad_left = 0;
  std::int32_t ifm_zp = 0, w_zp = 0, ofm_zp = 0, act_min = -128, act_max = 127;
  std::uint32_t rounding = 0, lut_en = 0, lut_addr = 0, u8 = 0;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    DEPUTY_TILE_FIELDS(v, s, ifm);
    DEPUTY_EXTENT_FIELDS(v, s, ifm);
    DEPUTY_TILE_FIELDS(v, s, ofm);
    DEPUTY_EXTENT_FIELDS(v, s, ofm);
    v(s.w_addr,
      base::Field{.name = "w_addr", .doc = "weights in the SPM", .unit = "bytes", .bits = 26});
    v(s.w_tap_stride, base::Field{.name = "w_tap_stride",
                                  .doc = "from one tap's channels to the next",
                                  .unit = "bytes",
                                  .bits = 26,
                                  .implied = true});
    v(s.prm_addr,
      base::Field{
          .name = "prm_addr", .doc = "channel parameters in the SPM", .unit = "bytes", .bits = 26});
    v(s.depth_mult,
      base::Field{.name = "depth_mult",
                  .doc = "output channels per input channel; ofm_c = ifm_c * depth_mult",
                  .bits = 16,
                  .min = 1});
    DEPUTY_KERNEL_FIELDS(v, s);
    v(s.ifm_zp,
      base::Field{.name = "ifm_zp", .doc = "input zero point", .bits = 8, .is_signed = true});
    v(s.w_zp,
      base::Field{.name = "w_zp", .doc = "weight zero point", .bits = 8, .is_signed = true});
    DEPUTY_OUTPUT_FIELDS(v, s);
  }
  static void imply(Depthwise& d) {
    imply_window(d, d.ifm_c);
    d.w_tap_stride = d.ofm_c;
  }
  std::uint64_t macs() const { return std::uint64_t{ofm_h} * ofm_w * ofm_c * k_h * k_w; }
};

enum class PoolMode : std::uint8_t { kMax = 0, kAverage = 1, kMean = 2 };

/// Pooling. kMax: clamp(max). kAverage: clamp(round_half_away(sum / taps inside)), same scale in
/// and out; with u8 the sum is of the unsigned bytes, so that halves round up. kMean:
/// clamp(requantise(sum(ifm - ifm_zp), multiplier, shift) + ofm_zp), the divisor folded into the
/// multiplier.
struct Pool {
  static constexpr Opcode kOpcode = Opcode::kPool;
  static constexpr const char* kName = "POOL";
  static constexpr const char* kDoc = "max, average or mean pooling of a tile";
  static constexpr Queue kQueue = Queue::kCompute;
  std::uint32_t mode = 0;
  std::uint32_t ifm_addr = 0, ifm_row_stride = 0, ifm_px_stride = 0, ifm_h = 1, ifm_w = 1;
  std::uint32_t ofm_addr = 0, ofm_row_stride = 0, ofm_px_stride = 0, ofm_h = 1, ofm_w = 1,
                ofm_c = 1;
  std::uint32_t k_h = 1, k_w = 1, stride_h = 1, stride_w = 1, dil_h = 1, dil_w = 1;
  std::int32_t pad_top = 0, pad_left = 0;
  std::int32_t ifm_zp = 0, ofm_zp = 0, act_min = -128, act_max = 127;
  std::uint32_t rounding = 0, lut_en = 0, lut_addr = 0, u8 = 0;
  std::int32_t multiplier = 0, shift = 0;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    v(s.mode, base::Field{.name = "mode",
                          .doc = "0 max, 1 average, 2 mean with requantisation",
                          .bits = 2,
                          .max = 2});
    DEPUTY_TILE_FIELDS(v, s, ifm);
    v(s.ifm_h, base::Field{.name = "ifm_h", .doc = "rows", .bits = 16, .min = 1});
    v(s.ifm_w, base::Field{.name = "ifm_w", .doc = "pixels of a row", .bits = 16, .min = 1});
    DEPUTY_TILE_FIELDS(v, s, ofm);
    DEPUTY_EXTENT_FIELDS(v, s, ofm);
    DEPUTY_KERNEL_FIELDS(v, s);
    v(s.ifm_zp,
      base::Field{
          .name = "ifm_zp", .doc = "input zero point (mean)", .bits = 8, .is_signed = true});
    DEPUTY_OUTPUT_FIELDS(v, s);
    v(s.multiplier, base::Field{.name = "multiplier",
                                .doc = "requantisation multiplier (mean)",
                                .bits = 32,
                                .is_signed = true});
    v(s.shift,
      base::Field{
          .name = "shift", .doc = "requantisation shift (mean)", .bits = 8, .is_signed = true});
  }
  static void imply(Pool& p) { imply_window(p, p.ofm_c); }
};

enum class EltwiseMode : std::uint8_t { kAdd = 0, kSub = 1, kMul = 2, kMin = 3, kMax = 4 };

/// Element-wise of two tiles with broadcast by zero strides (b_ch_stride 0 repeats one channel).
/// add/sub/mul follow EltwiseRequant in numerics.h; min/max compare raw values.
struct Eltwise {
  static constexpr Opcode kOpcode = Opcode::kEltwise;
  static constexpr const char* kName = "ELTWISE";
  static constexpr const char* kDoc = "add, sub, mul, min or max of two tiles";
  static constexpr Queue kQueue = Queue::kCompute;
  std::uint32_t mode = 0, a_ch_stride = 1, b_ch_stride = 1;
  std::uint32_t a_addr = 0, a_row_stride = 0, a_px_stride = 0;
  std::uint32_t b_addr = 0, b_row_stride = 0, b_px_stride = 0;
  std::uint32_t ofm_addr = 0, ofm_row_stride = 0, ofm_px_stride = 0, ofm_h = 1, ofm_w = 1,
                ofm_c = 1;
  std::int32_t a_zp = 0, b_zp = 0, ofm_zp = 0, act_min = -128, act_max = 127;
  std::uint32_t rounding = 0, lut_en = 0, lut_addr = 0, u8 = 0, left_shift = 0;
  std::int32_t a_mult = 0, a_shift = 0, b_mult = 0, b_shift = 0, o_mult = 0, o_shift = 0;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    v(s.mode,
      base::Field{.name = "mode", .doc = "0 add, 1 sub, 2 mul, 3 min, 4 max", .bits = 3, .max = 4});
    v(s.a_ch_stride,
      base::Field{.name = "a_ch_stride", .doc = "0: broadcast a over channels", .bits = 1});
    v(s.b_ch_stride,
      base::Field{.name = "b_ch_stride", .doc = "0: broadcast b over channels", .bits = 1});
    DEPUTY_TILE_FIELDS(v, s, a);
    DEPUTY_TILE_FIELDS(v, s, b);
    DEPUTY_TILE_FIELDS(v, s, ofm);
    DEPUTY_EXTENT_FIELDS(v, s, ofm);
    v(s.a_zp, base::Field{.name = "a_zp", .doc = "zero point of a", .bits = 8, .is_signed = true});
    v(s.b_zp, base::Field{.name = "b_zp", .doc = "zero point of b", .bits = 8, .is_signed = true});
    DEPUTY_OUTPUT_FIELDS(v, s);
    v(s.left_shift, base::Field{.name = "left_shift",
                                .doc = "headroom before the input multipliers (add, sub)",
                                .bits = 5});
    v(s.a_mult,
      base::Field{.name = "a_mult", .doc = "multiplier of a", .bits = 32, .is_signed = true});
    v(s.b_mult,
      base::Field{.name = "b_mult", .doc = "multiplier of b", .bits = 32, .is_signed = true});
    v(s.o_mult,
      base::Field{.name = "o_mult", .doc = "output multiplier", .bits = 32, .is_signed = true});
    v(s.a_shift, base::Field{.name = "a_shift", .doc = "shift of a", .bits = 8, .is_signed = true});
    v(s.b_shift, base::Field{.name = "b_shift", .doc = "shift of b", .bits = 8, .is_signed = true});
    v(s.o_shift,
      base::Field{.name = "o_shift", .doc = "output shift", .bits = 8, .is_signed = true});
  }
  static void imply(Eltwise& e) {
    e.a_px_stride = e.b_px_stride = e.ofm_px_stride = e.ofm_c;
    e.a_row_stride = e.b_row_stride = e.ofm_row_stride = implied_product(e.ofm_w, e.ofm_c);
  }
};

/// ofm[i] = table[ifm[i] + 128] for `count` contiguous bytes. In place is legal.
struct Lut {
  static constexpr Opcode kOpcode = Opcode::kLut;
  static constexpr const char* kName = "LUT";
  static constexpr const char* kDoc = "table look-up of contiguous bytes";
  static constexpr Queue kQueue = Queue::kCompute;
  std::uint32_t ifm_addr = 0, ofm_addr = 0, count = 1, lut_addr = 0;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    v(s.ifm_addr,
      base::Field{
          .name = "ifm_addr", .doc = "first input byte in the SPM", .unit = "bytes", .bits = 26});
    v(s.ofm_addr,
      base::Field{
          .name = "ofm_addr", .doc = "first output byte in the SPM", .unit = "bytes", .bits = 26});
    v(s.count, base::Field{.name = "count", .doc = "bytes", .unit = "bytes", .bits = 26, .min = 1});
    v(s.lut_addr, base::Field{.name = "lut_addr",
                              .doc = "256-byte table in the SPM, indexed by value + 128",
                              .unit = "bytes",
                              .bits = 26});
  }
};

/// Sets `count` contiguous SPM bytes to `value`.
struct Fill {
  static constexpr Opcode kOpcode = Opcode::kFill;
  static constexpr const char* kName = "FILL";
  static constexpr const char* kDoc = "set contiguous SPM bytes to a value";
  static constexpr Queue kQueue = Queue::kCompute;
  std::uint32_t addr = 0, count = 1;
  std::int32_t value = 0;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    v(s.addr,
      base::Field{.name = "addr", .doc = "first byte in the SPM", .unit = "bytes", .bits = 26});
    v(s.count, base::Field{.name = "count", .doc = "bytes", .unit = "bytes", .bits = 26, .min = 1});
    v(s.value, base::Field{.name = "value", .doc = "byte to write", .bits = 8, .is_signed = true});
  }
};

/// Softmax of each row of `length` bytes; the largest value of a row gets exp 1. exp_addr holds 256
/// words: entry d is exp(-d * scale), int32 with 31 fractional bits, or in fp32 rounding a float32.
/// Integer: the exponentials' sum with 19 fractional bits, its reciprocal by three Newton-Raphson
/// steps, and products rounded to 8 bits; fp32: the sum in row order and one division by sum *
/// scale (arch/softmax.h). The output's scale is 1/256 and its zero point the lowest value.
struct Softmax {
  static constexpr Opcode kOpcode = Opcode::kSoftmax;
  static constexpr const char* kName = "SOFTMAX";
  static constexpr const char* kDoc = "softmax of each row of bytes";
  static constexpr Queue kQueue = Queue::kCompute;
  std::uint32_t ifm_addr = 0, ifm_row_stride = 0, ofm_addr = 0, ofm_row_stride = 0, rows = 1,
                length = 1;
  std::uint32_t exp_addr = 0, rounding = 0, u8 = 0;
  std::int32_t scale = 0;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    v(s.ifm_addr,
      base::Field{
          .name = "ifm_addr", .doc = "first input byte in the SPM", .unit = "bytes", .bits = 26});
    v(s.ifm_row_stride, base::Field{.name = "ifm_row_stride",
                                    .doc = "from row to row",
                                    .unit = "bytes",
                                    .bits = 26,
                                    .implied = true});
    v(s.ofm_addr,
      base::Field{
          .name = "ofm_addr", .doc = "first output byte in the SPM", .unit = "bytes", .bits = 26});
    v(s.ofm_row_stride, base::Field{.name = "ofm_row_stride",
                                    .doc = "from row to row",
                                    .unit = "bytes",
                                    .bits = 26,
                                    .implied = true});
    v(s.rows, base::Field{.name = "rows", .doc = "rows", .bits = 16, .min = 1});
    v(s.length,
      base::Field{
          .name = "length", .doc = "bytes of a row", .unit = "bytes", .bits = 24, .min = 1});
    v(s.exp_addr, base::Field{.name = "exp_addr",
                              .doc = "1024-byte table of exponentials in the SPM",
                              .unit = "bytes",
                              .bits = 26});
    v(s.rounding,
      base::Field{
          .name = "rounding", .doc = "0 tflite, 1 single (as 0), 2 fp32", .bits = 2, .max = 2});
    v(s.u8, base::Field{.name = "u8", .doc = "1: the bytes of both maps are unsigned", .bits = 1});
    v(s.scale, base::Field{.name = "scale",
                           .doc = "bits of the output's float32 scale (fp32)",
                           .bits = 32,
                           .is_signed = true});
  }
  static void imply(Softmax& m) { m.ifm_row_stride = m.ofm_row_stride = m.length; }
};
inline constexpr int kExpTableBytes = 1024;

using Operation =
    std::variant<End, Load, LoadWeights, Store, Conv, Depthwise, Pool, Eltwise, Lut, Fill, Softmax>;

/// Calls f(T{}) for every instruction type, in opcode order.
template <class F>
void for_each_instruction(F&& f) {
  [&]<class... T>(std::type_identity<std::variant<T...>>) {
    (f(T{}), ...);
  }(std::type_identity<Operation>{});
}

/// The most words that an encoded T takes.
template <class T>
int most_words() {
  int fields = 3, bytes = 3 * 4;  // the waits
  T value{};
  T::fields(value, [&](auto&, const base::Field& f) {
    ++fields, bytes += field_bytes(FieldSize::kFull, f.bits);
  });
  return 1 + ((fields + 3) / 4 + bytes + 3) / 4;
}

/// A decoded instruction. header.opcode and header.words are filled by encode() and checked by
/// decode().
struct Instruction {
  Header header;
  Operation op;
  Queue queue() const {
    return std::visit([](const auto& o) { return o.kQueue; }, op);
  }
};

/// Appends the instruction's words; CHECKs that every field is in range (the compiler's duty).
void encode(const Instruction& instruction, std::vector<std::uint32_t>& out);

/// What the command processor makes of a bad stream (STATUS.error, ERR_INFO).
enum class DecodeFault : std::uint8_t {
  kNone = 0,
  kTruncated = 1,
  kUnknownOpcode = 2,
  kBadLength = 3,
  kBadField = 4
};

struct Decoded {
  DecodeFault fault = DecodeFault::kNone;
  const char* field = nullptr;  ///< for kBadField
  Instruction instruction;
};
/// Decodes the instruction at the front of `words`. Never reads past the span.
Decoded decode(std::span<const std::uint32_t> words);

/// One line of text, "CONV tag=3 wait=2/1/0 ifm_addr=0x0 ...".
std::string disassemble(const Instruction& instruction);

std::string_view opcode_name(std::uint8_t opcode);  ///< "?" when unknown

}  // namespace deputy::arch
