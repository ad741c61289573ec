#include "npu_model/core/executor.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/check.h"
#include "npu_model/core/state.h"

namespace deputy::npu_model {
namespace {

void run(const arch::Conv& c, ExecutorState& s) { run_conv(c, s); }
void run(const arch::Depthwise& d, ExecutorState& s) { run_depthwise(d, s); }
void run(const arch::Pool& p, ExecutorState& s) { run_pool(p, s); }
void run(const arch::Eltwise& e, ExecutorState& s) { run_eltwise(e, s); }
void run(const arch::Lut& l, ExecutorState& s) {
  std::memmove(s.spm.data() + l.ofm_addr, s.spm.data() + l.ifm_addr, l.count);
  map_bytes(s.signed_spm(l.ofm_addr), l.count, s.spm.data() + l.lut_addr);
}
void run(const arch::Fill& f, ExecutorState& s) {
  std::memset(s.spm.data() + f.addr, f.value, f.count);
}
void run(const arch::Softmax& m, ExecutorState& s) { run_softmax(m, s); }
template <class T>
void run(const T&, ExecutorState&) {
  DEPUTY_CHECK(false, "only compute instructions can be executed");
}

}  // namespace

void ExecutorState::read_params(std::uint64_t addr, std::uint32_t channels) {
  const std::size_t padded = round_up(channels, kBlock);
  for (auto* v : {&bias, &multiplier, &shift}) v->assign(padded, 0);
  const std::uint8_t* p = spm.data() + addr;
  for (std::uint32_t c = 0; c < channels; ++c, p += arch::kChannelParamBytes) {
    std::int32_t record[3];
    std::memcpy(record, p, sizeof record);
    bias[c] = record[0];
    multiplier[c] = record[1];
    shift[c] = std::clamp(record[2], -31, 30);
  }
}

Executor::Executor(const arch::NpuConfig& config, Isa isa)
    : state_(std::make_unique<ExecutorState>()) {
  static_assert(std::endian::native == std::endian::little,
                "the scratchpad holds little-endian words");
  state_->config = config;
  state_->kernels = kernels_for(isa);
  DEPUTY_CHECK(state_->kernels != nullptr, "this host has no such instruction-set extension");
  state_->spm.resize(config.spm.bytes + kSlackBytes);
  state_->accumulators.resize(config.mac.accumulators);
}
Executor::~Executor() = default;

std::span<std::uint8_t> Executor::spm() {
  return std::span(state_->spm).first(state_->config.spm.bytes);
}

arch::CodeFault Executor::load_weights(const arch::LoadWeights& op,
                                       std::span<const std::uint8_t> stream) {
  const arch::CodeLengths code =
      op.fixed_code
          ? arch::fixed_code()
          : arch::unpack_table(spm().subspan(op.table_addr).first<arch::kCodeTableBytes>());
  if (const arch::CodeFault fault = state_->decoder.set_code(code); fault != arch::CodeFault::kNone)
    return fault;
  const auto out = spm().subspan(op.spm_addr, op.bytes);
  if (op.planes == 1) return state_->decoder.decode(stream, out);
  state_->decoded.resize(op.bytes);
  const arch::CodeFault fault = state_->decoder.decode(stream, state_->decoded);
  arch::interleave_planes(state_->decoded, static_cast<int>(op.planes), out);
  return fault;
}

std::optional<std::uint64_t> Executor::execute(const arch::Operation& op) {
  std::visit([&](const auto& o) { run(o, *state_); }, op);
  return std::nullopt;
}

void Executor::reset() {
  std::ranges::fill(state_->spm, 0);
  std::ranges::fill(state_->accumulators, 0);
}

}  // namespace deputy::npu_model
