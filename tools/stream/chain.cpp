#include "tools/stream/chain.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/stream/ecg_chain.h"
#include "tools/stream/image_chain.h"
#include "tools/stream/keyword_chain.h"
#include "tools/stream/window_chain.h"

namespace deputy::tools {

using host_runtime::Buffer;
using host_runtime::Fence;

base::Result<const ChainInfo*> find_chain(const std::string& name) {
  static const ChainInfo* const kChains[] = {&ecg_chain(),     &ppg_chain(),     &eeg_chain(),
                                             &keyword_chain(), &capsule_chain(), &camera_chain()};
  std::string names;
  for (const ChainInfo* chain : kChains) {
    if (name == chain->name) return chain;
    names += (names.empty() ? "" : ", ") + std::string(chain->name);
  }
  return base::Error{base::ErrorKind::kConfig, "chain", fmt::format("there is no chain '{}'", name),
                     "use one of " + names};
}

base::Status settle(host_runtime::Device& device, const Fence& fence) {
  return device.wait(fence, device.port().now_ps() + device.bound_ps());
}

arch::DspCommand transfer_rows(arch::DspCommandKind kind, std::uint8_t region, const RowsAt& memory,
                               const RowsAt& tcm, std::uint32_t row_bytes, std::uint32_t rows) {
  arch::DspCommand c;
  c.kind = static_cast<std::uint8_t>(kind), c.region = region, c.offset = memory.at,
  c.memory_stride = memory.stride;
  c.tcm = tcm.at, c.tcm_stride = tcm.stride, c.row_bytes = row_bytes, c.rows = rows;
  return c;
}

base::Status Chain::decide(std::int64_t sample, std::uint64_t ready_ps) {
  DEPUTY_ASSIGN(const auto scores, p_.session->frame(0).output(0).read());
  StreamDecision d;
  d.sample = sample;
  d.scores.assign(reinterpret_cast<const std::int8_t*>(scores.data()),
                  reinterpret_cast<const std::int8_t*>(scores.data()) + scores.size());
  d.kind = static_cast<int>(std::max_element(d.scores.begin(), d.scores.end()) - d.scores.begin());
  conclude(d);
  p_.device->port().charge(CpuKernel::kElementwise, scores.size(), {});
  d.needed_ps = ready_ps, d.decided_ps = p_.device->port().now_ps();
  decisions_.push_back(std::move(d));
  return {};
}

base::Status Chain::make(Buffer& buffer, std::uint64_t bytes, MemoryKind kind) {
  DEPUTY_ASSIGN(buffer, Buffer::make(p_.device->space(), kind, bytes, host_runtime::kCacheLine));
  return {};
}

base::Status FrameChain::prepare(const ChainParts& parts) {
  p_ = parts;
  DEPUTY_TRY(set_up());
  if (p_.session->frame(0).input(0).bytes() != input_bytes())
    return base::Error{
        base::ErrorKind::kConfig, p_.scenario->model,
        fmt::format("its input has {} bytes, a window of chain '{}' has {}",
                    p_.session->frame(0).input(0).bytes(), p_.scenario->chain, input_bytes()),
        "use another model or chain"};
  return restart();
}

base::Status FrameChain::frame(const Buffer& raw, std::int64_t sample, std::uint64_t ready_ps) {
  const bool in_place = p_.scenario->zero_copy;
  const Buffer* in = &raw;
  if (!in_place) {
    if (!copied_.valid()) DEPUTY_TRY(make(copied_, raw.bytes(), p_.frames_in));
    DEPUTY_TRY(copied_.copy_from(raw));
    in = &copied_;
  }
  DEPUTY_ASSIGN(const Fence moved, p_.device->run_dsp(p_.context, task(*in), {}));
  const Buffer* window = take();
  if (!window || !in_place || !p_.scenario->chained) DEPUTY_TRY(settle(*p_.device, moved));
  if (!window) return {};
  auto& frame = p_.session->frame(0);
  host_runtime::SubmitOptions submit;
  if (in_place) {
    DEPUTY_TRY(frame.bind_input(0, *window));
    submit.waits = {moved};
  } else {
    DEPUTY_TRY(frame.input(0).copy_from(*window));
  }
  DEPUTY_ASSIGN(const Fence named, frame.submit(submit));
  if (const base::Status done = settle(*p_.device, named); !done.ok()) return ++given_up_, done;
  return decide(sample + p_.samples_per_frame - 1, ready_ps);
}

}  // namespace deputy::tools
