#include "api/model.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/input_shapes.h"
#include "arch/memory_map.h"
#include "arch/registers.h"

namespace deputy::api {
namespace {

using ProgramPtr = std::shared_ptr<const ShapedProgram>;
using SessionPtr = std::unique_ptr<host_runtime::Session>;

std::string shapes_text(const std::vector<Shape>& shapes) {
  std::string out;
  for (const Shape& shape : shapes) out += (out.empty() ? "" : ", ") + shape_text(shape);
  return out;
}

// What the CONFIG registers say over what only the configuration knows (clocks, widths).
arch::NpuConfig present_npu(HwPort& port, arch::NpuConfig npu) {
  const auto read = [&](std::uint32_t offset) { return port.read32(arch::kNpuBase + offset); };
  const std::uint32_t config0 = read(arch::npu_reg::kConfig0);
  npu.mac.oc_lanes = static_cast<std::int32_t>(config0 & 0xFF) + 1;
  npu.mac.ic_lanes = static_cast<std::int32_t>(config0 >> 8 & 0xFF) + 1;
  npu.mac.pixels = static_cast<std::int32_t>(config0 >> 16 & 0xFF) + 1;
  npu.mac.dw_taps = static_cast<std::int32_t>(config0 >> 24);
  npu.spm.bytes = static_cast<std::int32_t>(read(arch::npu_reg::kConfig1));
  npu.mac.accumulators = static_cast<std::int32_t>(read(arch::npu_reg::kConfig2));
  return npu;
}

}  // namespace

base::Result<ProgramPtr> Model::make(const std::vector<Shape>& shapes, bool on_cpu,
                                     std::string note) {
  auto out = std::make_shared<ShapedProgram>();
  out->shapes = shapes, out->on_cpu = on_cpu, out->note = std::move(note);
  DEPUTY_ASSIGN(out->graph, with_input_shapes(graph_, shapes));
  delegate::CompileOptions compile = options_.compile;
  if (on_cpu) compile.engine = delegate::EnginePolicy::kCpu, compile.placement = {};
  ++compiles_;
  if (options_.compiler) {
    DEPUTY_ASSIGN(out->file, options_.compiler(out->graph, compile));
  } else {
    DEPUTY_ASSIGN(const auto executable, delegate::compile(out->graph, compile));
    out->file = arch::write_executable(executable);
  }
  programs_.push_front(out);
  if (programs_.size() > options_.programs + 1) {
    // The model's own program stays.
    const auto own = input_shapes(graph_);
    auto last = std::prev(programs_.end());
    if ((*last)->shapes == own) --last;
    programs_.erase(last);
  }
  return ProgramPtr(out);
}

base::Result<ProgramPtr> Model::program(const std::vector<Shape>& shapes) {
  const auto it = std::find_if(programs_.begin(), programs_.end(),
                               [&](const ProgramPtr& p) { return p->shapes == shapes; });
  if (it != programs_.end()) {
    programs_.splice(programs_.begin(), programs_, it);
    return programs_.front();
  }
  const auto own = input_shapes(graph_);
  if (shapes == own) return make(shapes, false, "");
  if (options_.policy == ShapePolicy::kRefuse)
    return base::Error{
        base::ErrorKind::kInput, graph_.name,
        fmt::format("inputs of {}, but the model is for {}", shapes_text(shapes), shapes_text(own)),
        "reshape the inputs, or choose the shape policy cpu or recompile"};
  const bool cpu = options_.policy == ShapePolicy::kCpu;
  return make(shapes, cpu,
              fmt::format("inputs of {} instead of {}: {}", shapes_text(shapes), shapes_text(own),
                          cpu ? "all of it runs on the CPU" : "compiled for them"));
}

base::Result<SessionPtr> Model::load(host_runtime::Device& device, const std::vector<Shape>& shapes,
                                     std::string* note) {
  DEPUTY_ASSIGN(auto made, program(shapes));
  if (note) *note = made->note;
  auto session = host_runtime::Session::load(device, made->file, graph_.name);
  // kConfig is the loader's word for an NPU that is not the program's.
  if (session.ok() || session.error().kind != base::ErrorKind::kConfig ||
      options_.policy == ShapePolicy::kRefuse)
    return session;
  const bool cpu = options_.policy == ShapePolicy::kCpu;
  const std::string why =
      fmt::format("{}; {}", session.error().message,
                  cpu ? "all of it runs on the CPU" : "compiled for the NPU that is there");
  if (!cpu) {
    options_.compile.npu = present_npu(device.port(), options_.compile.npu);
    programs_.clear();  // all were for the other NPU
  } else {
    std::erase_if(programs_, [&](const ProgramPtr& p) { return p->shapes == shapes; });
  }
  DEPUTY_ASSIGN(made, make(shapes, cpu, why));
  if (note) *note = why;
  return host_runtime::Session::load(device, made->file, graph_.name);
}

}  // namespace deputy::api
