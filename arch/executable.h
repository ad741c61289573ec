// The executable file: what the compiler writes and the runtime loads. Little-endian, versioned, a
// table of sections, a 64-bit content hash over everything after the header.
// docs/reference/executable.md is generated from this.
//
//   header   magic "DPTYEXE\0", u32 version, u32 section count, u64 content hash
//   sections { u32 id, u32 zero, u64 offset, u64 bytes } then the sections, each 64-byte aligned
//
// Sections are those of SectionId, each once, in that order, without gaps other than zero padding
// to the alignment; the last one ends the file. Records inside them are written field by field
// (byte_io.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "arch/memory_map.h"
#include "arch/npu_config.h"
#include "arch/ops.h"
#include "base/fields.h"
#include "base/result.h"
#include "base/types.h"

namespace deputy::arch {

inline constexpr std::uint32_t kExecutableVersion = 5;
inline constexpr std::uint32_t kNoTensor = 0xFFFFFFFF;  ///< an absent optional operand
inline constexpr int kConstantAlign =
    128;  ///< no smaller than a memory's burst, which is moved whole
inline constexpr int kMaxTensorRank = 8;

enum class SectionId : std::uint32_t {
  kGeneral = 1,    ///< model name, numerics, target, inputs, outputs, arena sizes
  kTensors = 2,    ///< PlacedTensor records after a u32 count; likewise the next three
  kOps = 3,        ///< SourceOp records
  kSteps = 4,      ///< Step records
  kPrograms = 5,   ///< Program records
  kExternals = 6,  ///< ExternalRegion records after a u32 count
  kFallbacks =
      7,  ///< Executable::fallbacks: u32 count, then each u32 bytes and a complete executable file
  kDspJobs = 8,    ///< DspJob records after a u32 count
  kConstants = 9,  ///< the bytes of Region::kConstants
};
inline constexpr int kSectionCount = 9;

enum class Placement : std::uint8_t {
  kRegion = 0,  ///< at `region` + `offset`
  kNone = 1,    ///< no dense storage: lived inside the NPU, or as a strided part of another tensor
};

/// A tensor with its place. Aliases (RESHAPE) are tensors with the same place.
struct PlacedTensor {
  TensorDesc desc;
  Placement placement = Placement::kNone;
  Region region = Region::kFastArena;
  std::uint64_t offset = 0;        ///< bytes from the region's base
  std::int32_t source_index = -1;  ///< index in the model file (TFLite tensor index)
  bool constant = false;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.desc, Field{.name = "desc"});
    v(s.placement, Field{.name = "placement"});
    v(s.region, Field{.name = "region"});
    v(s.offset, Field{.name = "offset"});
    v(s.source_index, Field{.name = "source_index", .min = -1});
    v(s.constant, Field{.name = "constant"});
  }
};

/// A source operator: where it went, why, and what it has to compute.
struct SourceOp {
  std::string name;  ///< the name of its first output tensor
  OpKind kind = OpKind::CONV_2D;
  std::int32_t source_index = -1;  ///< index in the model file
  bool on_npu = false;
  bool aliased = false;  ///< no work: its output is its input's storage (on_npu is then true)
  std::string reason;    ///< why it is on the CPU; empty on the NPU
  std::uint64_t macs =
      0;  ///< multiply-accumulates of CONV/DEPTHWISE/FC/TRANSPOSE_CONV/BATCH_MATMUL
  std::int32_t fused_into =
      -1;  ///< the operator (index into ops) whose kernel does this one's work; -1: none
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.name, Field{.name = "name"});
    v(s.kind, Field{.name = "kind"});
    v(s.source_index, Field{.name = "source_index", .min = -1});
    v(s.on_npu, Field{.name = "on_npu"});
    v(s.aliased, Field{.name = "aliased"});
    v(s.reason, Field{.name = "reason"});
    v(s.macs, Field{.name = "macs"});
    v(s.fused_into, Field{.name = "fused_into", .min = -1});
  }
};

enum class StepKind : std::uint8_t { kHost = 0, kNpu = 1 };

inline constexpr std::uint32_t kNoDspJob = 0xFFFFFFFF;

/// One step of the schedule; steps run in order.
struct Step {
  StepKind kind = StepKind::kHost;
  std::uint32_t source_op = 0;        ///< kHost: index into ops
  OpAttrs attrs;                      ///< kHost
  std::uint32_t program = 0;          ///< kNpu: index into programs
  std::uint32_t dsp_job = kNoDspJob;  ///< kHost: index into dsp_jobs; where there is a DSP it does
                                      ///< the operator, to the same bytes
  std::vector<std::uint32_t>
      inputs;  ///< tensors read (kHost: operands in order, kNoTensor if absent)
  std::vector<std::uint32_t> outputs;  ///< tensors written
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.kind, Field{.name = "kind"});
    v(s.source_op, Field{.name = "source_op"});
    v(s.attrs, Field{.name = "attrs"});
    v(s.program, Field{.name = "program"});
    v(s.dsp_job, Field{.name = "dsp_job"});
    v(s.inputs, Field{.name = "inputs"});
    v(s.outputs, Field{.name = "outputs"});
  }
};

/// A command stream for the NPU. Instruction tags are source-op indices.
struct Program {
  std::vector<std::uint32_t> words;
  std::vector<std::uint32_t> source_ops;  ///< indices into Executable::ops, in execution order
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.words, Field{.name = "words"});
    v(s.source_ops, Field{.name = "source_ops"});
  }
};

/// A job of the DSP (dsp_job.h) for one host step: its regions are the executable's, its program
/// lies in the constants. It does not overwrite what it reads.
struct DspJob {
  std::vector<std::uint32_t> words;  ///< the command list
  std::uint64_t cycles = 0;          ///< that the compiler expects
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.words, Field{.name = "words"});
    v(s.cycles, Field{.name = "cycles"});
  }
};

/// Which memory the programs were tiled for.
enum class ExternalMemory : std::uint8_t { kSram = 0, kDram = 1 };

/// A graph input or output that lies in neither arena: whoever runs the executable binds memory for
/// it, its own or a caller's. The record says what that memory must be. Record i is region
/// external_region(i); the tensor fills it from offset 0, and other tensors (its aliases, parts of
/// it, operands it is written over) may lie inside.
struct ExternalRegion {
  std::uint32_t tensor = 0;
  std::uint64_t bytes = 0;
  bool written =
      false;  ///< an output: the programs write it, and may read it. An input: they only read it
  std::uint32_t align = 64;  ///< of its address, bytes, a power of two
  ExternalMemory memory =
      ExternalMemory::kDram;  ///< other memory is legal and changes only the time
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.tensor, Field{.name = "tensor"});
    v(s.bytes, Field{.name = "bytes"});
    v(s.written, Field{.name = "written"});
    v(s.align, Field{.name = "align"});
    v(s.memory, Field{.name = "memory"});
  }
};
inline constexpr std::uint32_t kExternalAlign =
    64;  ///< what the compiler asks for: no line of a cache is shared
inline constexpr std::uint32_t kMaxExternalAlign = 4096;  ///< what a file may ask for

struct Executable {
  std::string model_name;
  Numerics numerics = Numerics::kTflite;
  NpuConfig target;  ///< what the programs were tiled for; the driver compares it with CONFIG*
  std::vector<PlacedTensor> tensors;
  std::vector<std::uint32_t> inputs,
      outputs;                ///< tensors in graph order; a tensor may appear twice in outputs
  std::vector<SourceOp> ops;  ///< in the model's order
  std::vector<Step> steps;
  std::vector<Program> programs;
  std::vector<DspJob> dsp_jobs;
  std::vector<ExternalRegion> externals;  ///< record i: external_region(i)
  /// One for each program, or none at all: an executable file that computes on the CPU alone, in
  /// arenas of its own, what the program computes. Its inputs and outputs are those of the
  /// program's step, one for one, with equal descriptions and all of them placed; it has no
  /// programs, external regions or fallbacks.
  std::vector<std::vector<std::uint8_t>> fallbacks;
  std::vector<std::uint8_t> constants;  ///< Region::kConstants
  std::uint64_t fast_arena_bytes = 0;
  std::uint64_t slow_arena_bytes = 0;

  /// Whether the DSP does an operator.
  bool on_dsp(std::size_t op) const;
  /// What people call an operator: op_word() of its kind and its step.
  std::string_view op_word(std::size_t op) const;
  /// Bytes of a region; 0 for an external one that there is none of.
  std::uint64_t region_bytes(Region region) const;
  /// Whether command streams may write a region.
  bool region_written(Region region) const;
  /// Whether a region was compiled to lie in the SRAM; else it is in DRAM.
  bool region_in_sram(Region region) const;
};

/// The file's bytes; equal executables give equal bytes.
std::vector<std::uint8_t> write_executable(const Executable& executable);

/// Parses and verifies: magic, version, hash, section bounds, every index, every tensor inside its
/// region, operand counts and enum values. Never reads outside `bytes`, whatever they are.
base::Result<Executable> read_executable(std::span<const std::uint8_t> bytes,
                                         const std::string& name);

/// The content hash (FNV-1a, 64 bits) of a file that read_executable accepted.
std::uint64_t content_hash(std::span<const std::uint8_t> bytes);

}  // namespace deputy::arch
