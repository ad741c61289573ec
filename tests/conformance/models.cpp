#include "tests/conformance/models.h"

namespace deputy::conformance {

Bytes model(const Affine& f, bool with_relu) {
  using arch::Region;
  const auto tensor = [](const char* name, Region region) {
    arch::PlacedTensor t;
    t.desc = {name, DType::kInt8, {kJobBytes / kRowBytes, kRowBytes}, {{1.0f}, {0}, 0}};
    t.placement = arch::Placement::kRegion, t.region = region;
    return t;
  };
  arch::Executable e;
  e.model_name = "m";
  e.target = npu_config();
  e.constants = lut_table(f);
  e.tensors = {tensor("in", Region::kExternal0), tensor("mid", Region::kFastArena),
               tensor("out", Region::kExternal1)};
  e.inputs = {0}, e.outputs = {2};
  e.fast_arena_bytes = kJobBytes;
  e.externals = {{0, kJobBytes, false, 64, arch::ExternalMemory::kDram},
                 {2, kJobBytes, true, 64, arch::ExternalMemory::kDram}};
  e.ops.resize(2);
  e.ops[0] = {"mid", arch::OpKind::RELU, 0, false, false, "kept on the CPU", 0};
  e.ops[1] = {"out", arch::OpKind::CONV_2D, 1, true, false, "", 0};
  if (with_relu) {
    arch::Step host;
    host.inputs = {0}, host.outputs = {1};
    e.steps = {host};
  }
  arch::Program program;
  program.source_ops = {1};
  const Region from = with_relu ? Region::kFastArena : Region::kExternal0;
  program.words = map_stream(0, 0, static_cast<std::uint8_t>(from), 0,
                             static_cast<std::uint8_t>(Region::kExternal1), 0, 1);
  e.programs = {program};
  arch::Step npu;
  npu.kind = arch::StepKind::kNpu;
  npu.inputs = {with_relu ? 1u : 0u}, npu.outputs = {2};
  e.steps.push_back(npu);
  return arch::write_executable(e);
}

Bytes relu(Bytes bytes) {
  for (auto& b : bytes) b = b >= 0x80 ? 0 : b;
  return bytes;
}

}  // namespace deputy::conformance
