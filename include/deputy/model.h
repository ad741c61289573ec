// A network, compiled for a SoC. Compiling needs no device, takes no simulated time and is
// deterministic: the same bytes, target and options give the same program.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/types.h"

namespace deputy {

namespace api {
struct ModelImpl;
struct TargetImpl;
}  // namespace api

/// What the compiler needs to know of a SoC: engines, memories, clocks, versions. The simulator
/// gives one (deputy/simulate.h).
class Target {
 public:
  /// Of no SoC; Model::compile() refuses it.
  Target() = default;
  std::string name() const;  ///< of the SoC

  explicit Target(std::shared_ptr<const api::TargetImpl> impl)
      : impl_(std::move(impl)) {}                                               ///< the runtime's
  const std::shared_ptr<const api::TargetImpl>& impl() const { return impl_; }  ///< the runtime's

 private:
  std::shared_ptr<const api::TargetImpl> impl_;
};

enum class EnginePolicy : std::uint8_t {
  kAuto,  ///< each operator where it is cheapest by estimate
  kNpu,   ///< all that the NPU can take
  kCpu,   ///< none
};

/// Where inputs and outputs lie. Only external ones can be bound to buffers (Frame::bind_input).
enum class IoPlacement : std::uint8_t {
  kArena,  ///< in the session's own memory, which is shared with everything else
  kSram,   ///< external, costed as SRAM
  kDram,   ///< external, costed as DRAM
};

/// What becomes of inputs of a shape that the model was not compiled for.
enum class ShapePolicy : std::uint8_t {
  kRefuse,     ///< an error
  kCpu,        ///< all of it runs on the CPU
  kRecompile,  ///< a program for what is asked
};

struct ModelOptions {
  EnginePolicy engine = EnginePolicy::kAuto;
  Numerics numerics = Numerics::kTflite;
  IoPlacement io = IoPlacement::kArena;
  bool fallback = false;  ///< with every NPU program one for the CPU that gives the same bytes
                          ///< (RecoveryOptions)
  ShapePolicy shapes = ShapePolicy::kRefuse;
  std::string cache_folder;  ///< of compiled programs; empty: none (docs/compiled_cache.md)
  std::vector<std::string> quirk_files;  ///< known faults of the hardware (docs/quirks.md)
};

struct TensorInfo {
  std::string name;
  DType type = DType::kInt8;
  Shape shape;
  Quantisation quantisation;
  std::uint64_t bytes = 0;
};

/// Where an operator of the model runs.
struct OperatorInfo {
  std::string name, kind;
  bool on_npu = false;
  std::string reason;  ///< why it is on the CPU
};

class Model {
 public:
  /// Compiles the bytes of a TFLite or ONNX file, told apart by how they begin; they are not needed
  /// afterwards. `name` is what messages call it (bytes that begin like neither count as ONNX when
  /// it ends in .onnx). An ONNX file must be whole, without external data, and have fixed shapes.
  /// kModel: the file is malformed; kUnsupported: nobody takes an operator (named); kConfig, kIo: a
  /// quirk file; kInput: no target, or open dimensions. A defect of the cache is a note.
  static base::Result<Model> compile(const Target& target, std::span<const std::uint8_t> file,
                                     const std::string& name, const ModelOptions& options = {});
  /// A program that was compiled earlier, as executable() or `deputy compile` gave it. kModel: it
  /// is not whole.
  static base::Result<Model> from_executable(std::span<const std::uint8_t> file,
                                             const std::string& name);

  std::string name() const;
  std::vector<TensorInfo> inputs()
      const;  ///< as the model has them; a session may have other shapes
  std::vector<TensorInfo> outputs() const;
  std::vector<OperatorInfo> operators() const;
  /// The program as a file; valid as long as the model.
  std::span<const std::uint8_t> executable() const;
  /// What the program's makers wish to be known: a cache entry that was not believed, quirks that
  /// applied.
  std::vector<std::string> notes() const;

  explicit Model(std::shared_ptr<api::ModelImpl> impl)
      : impl_(std::move(impl)) {}                                        ///< the runtime's
  const std::shared_ptr<api::ModelImpl>& impl() const { return impl_; }  ///< the runtime's

 private:
  std::shared_ptr<api::ModelImpl> impl_;
};

}  // namespace deputy
