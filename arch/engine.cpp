#include "arch/engine.h"

#include "arch/executable.h"

namespace deputy::arch {

Engine engine_of(const Executable& executable, std::size_t op) {
  if (executable.ops[op].on_npu) return Engine::kNpu;
  return executable.on_dsp(op) ? Engine::kDsp : Engine::kCpu;
}

Engine engine_of(const Step& step) {
  if (step.kind == StepKind::kNpu) return Engine::kNpu;
  return step.dsp_job != kNoDspJob ? Engine::kDsp : Engine::kCpu;
}

}  // namespace deputy::arch
