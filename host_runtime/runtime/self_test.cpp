#include "host_runtime/runtime/self_test.h"

#include "arch/dma_descriptor.h"
#include "arch/dsp_job.h"
#include "arch/dsp_packet.h"
#include "arch/isa.h"

namespace deputy::host_runtime {
using base::Error;
using base::ErrorKind;

namespace {

constexpr std::uint32_t kBytes = 256;
// Copying 256 bytes takes microseconds on any engine and memory that work.
constexpr std::uint64_t kBudgetPs = 10'000'000'000;

// From region 1 to region 2 by way of the scratchpad.
std::vector<std::uint32_t> npu_copy() {
  std::vector<std::uint32_t> words;
  arch::Instruction i;
  arch::Load load;
  load.region = 1, load.row_bytes = kBytes;
  i.op = load;
  arch::encode(i, words);
  arch::Store store;
  store.region = 2, store.row_bytes = kBytes;
  i.header.wait_load = 1;
  i.op = store;
  arch::encode(i, words);
  i.op = arch::End{};
  arch::encode(i, words);
  return words;
}

// The same by way of the DSP's data memory, with a program that does nothing. Region 1 to region 2;
// the program is at the end of the list, which is region 0.
std::vector<std::uint32_t> dsp_copy() {
  std::vector<std::uint32_t> words;
  constexpr std::uint32_t kCommands = 4;
  const auto command = [&](arch::DspCommandKind kind, std::uint8_t region, std::uint32_t offset,
                           std::uint32_t bytes) {
    arch::DspCommand c;
    c.kind = static_cast<std::uint8_t>(kind), c.region = region, c.offset = offset,
    c.row_bytes = bytes;
    arch::pack(c, words);
  };
  command(arch::DspCommandKind::kProgram, 0, kCommands * arch::kDspCommandBytes, 4);
  command(arch::DspCommandKind::kLoad, 1, 0, kBytes);
  command(arch::DspCommandKind::kRun, 0, 0, 0);
  command(arch::DspCommandKind::kStore, 2, 0, kBytes);
  arch::DspOp halt = arch::make_dsp_op(arch::DspOpcode::kSHalt);
  halt.last = 1;
  words.push_back(arch::encode_dsp_op(halt));
  return words;
}

}  // namespace

JobLimits self_test_limits() { return {kBudgetPs, kBudgetPs, true}; }

base::Status self_test(Device& device, EngineId engine) {
  // Whose ring does not matter, and there may be none left for the device itself.
  DEPUTY_ASSIGN(const auto context, device.any_context());
  DEPUTY_ASSIGN(Buffer from, Buffer::make(device.space(), MemoryKind::kDram, kBytes, kCacheLine));
  DEPUTY_ASSIGN(Buffer to, Buffer::make(device.space(), MemoryKind::kDram, kBytes, kCacheLine));
  std::vector<std::uint8_t> pattern(kBytes);
  for (std::uint32_t i = 0; i < kBytes; ++i) pattern[i] = static_cast<std::uint8_t>(i * 167 + 13);
  DEPUTY_TRY(from.write(pattern));

  std::vector<std::uint32_t> words;
  arch::QueueEntry entry;
  entry.kind = static_cast<std::uint8_t>(arch::EntryKind::kJob);
  if (engine == EngineId::kNpu) {
    words = npu_copy();
    entry.bytes = static_cast<std::uint32_t>(words.size() * 4);
    entry.region_base[1] = from.address(), entry.region_base[2] = to.address();
    entry.region_bytes[1] = entry.region_bytes[2] = kBytes;
  } else if (engine == EngineId::kDsp) {
    words = dsp_copy();
    entry.bytes = static_cast<std::uint32_t>(words.size() * 4 - 4);
    entry.region_base[1] = from.address(), entry.region_base[2] = to.address();
    entry.region_bytes[1] = entry.region_bytes[2] = kBytes;
  } else {
    arch::DmaDescriptor d;
    d.src = from.address(), d.dst = to.address(), d.row_bytes = kBytes;
    arch::pack(d, words);
  }
  DEPUTY_ASSIGN(Buffer commands,
                Buffer::make(device.space(), MemoryKind::kDram, words.size() * 4, kCacheLine));
  DEPUTY_TRY(
      commands.write({reinterpret_cast<const std::uint8_t*>(words.data()), words.size() * 4}));
  entry.address = commands.address();
  if (engine == EngineId::kDsp)
    entry.region_base[0] = commands.address(),
    entry.region_bytes[0] = static_cast<std::uint32_t>(commands.bytes());
  std::vector<Mapping> mapped;
  for (const Buffer* buffer : {&from, &to, &commands}) {
    DEPUTY_ASSIGN(mapped.emplace_back(),
                  Mapping::make(context->space(), buffer->address(), buffer->bytes(), true));
    buffer->before_engine();
  }
  DEPUTY_ASSIGN(const auto job, device.push(engine, *context, entry, self_test_limits()));
  const auto over = [&] { return job->state != Job::State::kQueued; };
  const std::uint64_t bound = device.queued_bound_ps();
  const base::Status waited = device.wait_until(over, device.port().now_ps() + bound);
  if (!waited.ok()) device.abandon(*job);
  DEPUTY_TRY(waited);
  to.after_engine_write();
  if (job->state != Job::State::kFinished)
    return job->error ? *job->error
                      : Error{ErrorKind::kHardwareFault, engine_name(engine),
                              "the self-test did not run", ""};
  DEPUTY_ASSIGN(const auto copied, to.read());
  if (device.port().functional() && copied != pattern)
    return Error{ErrorKind::kHardwareFault, engine_name(engine), "the self-test's bytes are wrong",
                 ""};
  return {};
}

}  // namespace deputy::host_runtime
