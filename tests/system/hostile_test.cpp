// A hostile neighbour: another context whose jobs write where they may not, run long, and whose
// ring is flooded with doorbells. The other context's outputs are the CPU's bytes, and its latency
// is what the queue's turns allow.
#include <catch2/catch.hpp>

#include "arch/isa.h"
#include "arch/memory_map.h"
#include "arch/registers.h"
#include "host_runtime/runtime/session.h"
#include "tests/system/deputy_process.h"
#include "tools/cli/common.h"
#include "workloads/networks.h"
#include "workloads/random.h"

using namespace deputy;
using namespace deputy::host_runtime;

namespace {

using Bytes = std::vector<std::uint8_t>;
constexpr std::uint64_t kUs = 1'000'000;
constexpr std::uint32_t kPage = arch::kPageBytes;

struct Victim {
  tools::SimulateOptions options;
  Bytes file, input, output;
};

Victim victim() {
  Victim v;
  tools::CommonOptions common;
  common.soc = test::project_file("configs/soc/wearable.yaml");
  v.options = *tools::simulate_options(common);
  const auto graph = workloads::build_network("ecg_tcn");
  REQUIRE(graph.ok());
  v.input = workloads::seeded_input(graph->tensor(graph->inputs[0]).desc, 1);
  v.options.engine = delegate::EnginePolicy::kCpu;
  const auto cpu = tools::simulate(*graph, v.options, {v.input});
  REQUIRE(cpu.ok());
  v.output = cpu->outputs[0];
  v.options.engine = delegate::EnginePolicy::kNpu;
  const auto executable = tools::compile_graph(*graph, v.options, nullptr, nullptr);
  REQUIRE(executable.ok());
  v.file = arch::write_executable(*executable);
  return v;
}

DeviceOptions isolated(const Victim& v) {
  DeviceOptions out;
  out.isolation = true;
  out.board = tools::board_times(v.options.soc, true);
  return out;
}

soc::RunRecord on_board(const Victim& v, const std::function<base::Status(HwPort&)>& program,
                        const sim::FaultPlan& faults = {}) {
  soc::Platform platform(v.options.soc, {.timing_only = false, .seed = 1, .faults = faults});
  auto record = platform.run(program);
  if (!record.ok()) FAIL(record.error().text());
  for (const auto& line : record->imbalances) UNSCOPED_INFO(line);
  CHECK(record->imbalances.empty());
  return *record;
}

/// A command stream in memory that its context can read, and how it is pushed.
struct Raw {
  Buffer stream;
  Mapping mapping;
  arch::QueueEntry entry;
};

base::Result<Raw> raw(Device& device, const std::shared_ptr<Context>& context,
                      const std::vector<arch::Operation>& ops) {
  std::vector<std::uint32_t> words;
  std::uint32_t loads = 0, stores = 0;
  for (const arch::Operation& op : ops) {
    arch::Instruction i;
    i.header.wait_load = loads, i.header.wait_store = stores;
    loads += std::holds_alternative<arch::Load>(op),
        stores += std::holds_alternative<arch::Store>(op);
    i.op = op;
    arch::encode(i, words);
  }
  Raw out;
  DEPUTY_ASSIGN(out.stream, Buffer::make(device.space(), MemoryKind::kDram, words.size() * 4, 64));
  DEPUTY_TRY(
      out.stream.write({reinterpret_cast<const std::uint8_t*>(words.data()), words.size() * 4}));
  out.stream.before_engine();
  DEPUTY_ASSIGN(out.mapping,
                Mapping::make(context->space(), out.stream.address(), out.stream.bytes(), false));
  out.entry.kind = static_cast<std::uint8_t>(arch::EntryKind::kJob);
  out.entry.address = out.stream.address(),
  out.entry.bytes = static_cast<std::uint32_t>(words.size() * 4);
  return out;
}

arch::Load load(std::uint32_t bytes) {
  arch::Load out;
  out.region = 1, out.row_bytes = bytes;
  return out;
}
arch::Store store(std::uint32_t bytes) {
  arch::Store out;
  out.region = 1, out.row_bytes = bytes;
  return out;
}

constexpr JobLimits kLimits = {1'000'000'000'000, 100'000'000'000, true};

}  // namespace

TEST_CASE("a hostile context changes no byte of its neighbour's, and takes its turns only") {
  const Victim v = victim();
  for (const std::uint32_t priority : {1u, 3u}) {
    std::uint64_t alone = 0, foreign = 0, beside = 0, jobs = 0;
    for (const bool attacked : {false, true}) {
      on_board(v, [&](HwPort& port) -> base::Status {
        Device device(port, isolated(v));
        DEPUTY_ASSIGN(auto good, device.create_context({.priority = priority}));
        DEPUTY_ASSIGN(auto bad, device.create_context({.priority = 1}));
        DEPUTY_ASSIGN(auto session,
                      Session::load(device, v.file, "m", {.context = good, .frames = 1}));
        Session::Frame& frame = session->frame(0);
        jobs = session->executable().programs.size();

        // What the neighbour does: long jobs in its own memory, and stores into the other's input.
        DEPUTY_ASSIGN(Buffer own, Buffer::make(device.space(), MemoryKind::kDram, kPage, kPage));
        DEPUTY_ASSIGN(const Mapping mapped,
                      Mapping::make(bad->space(), own.address(), own.bytes(), true));
        std::vector<arch::Operation> work(200, load(kPage));
        work.push_back(arch::End{});
        DEPUTY_ASSIGN(Raw busy, raw(device, bad, work));
        busy.entry.region_base[1] = own.address(), busy.entry.region_bytes[1] = kPage;
        DEPUTY_ASSIGN(Raw thief, raw(device, bad, {store(64), arch::End{}}));
        thief.entry.region_base[1] = frame.input(0).address(), thief.entry.region_bytes[1] = 64;
        thief.entry.fail_fast = 1;

        if (!attacked) {  // how long one of its jobs takes, then the victim by itself
          const std::uint64_t start = port.now_ps();
          DEPUTY_ASSIGN(const auto job, device.push(EngineId::kNpu, *bad, busy.entry, kLimits));
          DEPUTY_TRY(device.wait_until([&] { return job->state != Job::State::kQueued; },
                                       start + 100'000 * kUs));
          foreign = port.now_ps() - start;
        }
        DEPUTY_TRY(frame.input(0).write(v.input));
        std::vector<std::shared_ptr<Job>> flood;
        if (attacked)
          for (int i = 0;; ++i) {
            auto job =
                device.push(EngineId::kNpu, *bad, i % 3 == 1 ? thief.entry : busy.entry, kLimits);
            if (!job.ok()) break;  // its ring is full; the victim's is not
            flood.push_back(*job);
          }
        const std::uint64_t start = port.now_ps();
        DEPUTY_ASSIGN(const Fence fence, frame.submit({}));
        if (attacked) {
          // Doorbells that say nothing new, from a host thread that has nothing better to do.
          const std::uint64_t tail =
              arch::kNpuQueueBase + arch::queue_reg::kRing0Tail + bad->ring() * arch::kRingStride;
          for (int i = 0; i < 20; ++i) port.write32(tail, port.read32(tail));
        }
        DEPUTY_TRY(device.wait(fence, start + device.bound_ps()));
        (attacked ? beside : alone) = port.now_ps() - start;
        DEPUTY_ASSIGN(const Bytes output, frame.output(0).read());
        CHECK(output == v.output);
        if (!attacked) return {};
        // It wrote nothing, and its ring still works for it.
        DEPUTY_TRY(device.wait_until([&] { return flood.back()->state != Job::State::kQueued; },
                                     port.now_ps() + 1'000'000 * kUs));
        CHECK(flood[0]->state == Job::State::kFinished);
        // A doorbell beyond the ring halts that ring alone.
        DEPUTY_TRY(frame.input(0).write(v.input));
        port.write32(
            arch::kNpuQueueBase + arch::queue_reg::kRing0Tail + bad->ring() * arch::kRingStride,
            0x7FFFFFFF);
        DEPUTY_ASSIGN(const Fence again, frame.submit({}));
        DEPUTY_TRY(device.wait(again, port.now_ps() + device.bound_ps()));
        DEPUTY_ASSIGN(const Bytes second, frame.output(0).read());
        CHECK(second == v.output);
        return {};
      });
    }
    // Equal priority takes turns, and the higher waits for a job that runs already: one foreign job
    // before each of its own at most. Before each of those, the scratchpad is cleared and
    // translations may have to be walked again.
    const auto& npu = v.options.soc.npu;
    const auto scrub =
        static_cast<std::uint64_t>(npu.spm.bytes / npu.spm.bytes_per_cycle * (1e6 / npu.clock_mhz));
    const std::uint64_t share = alone + jobs * (foreign + scrub) + alone / 10 + 20 * kUs;
    INFO("priority " << priority << ": alone " << alone / kUs << " us, " << jobs
                     << " jobs, foreign job " << foreign / kUs << " us, beside it " << beside / kUs
                     << " us, share " << share / kUs << " us");
    CHECK(beside > alone);
    CHECK(beside <= share);
  }
}

TEST_CASE("a neighbour's job that hangs costs the time in which a hang is found, once") {
  const Victim v = victim();
  constexpr JobLimits kHangs = {100'000'000'000, 5'000'000'000, true};
  sim::Fault hang;
  hang.kind = "engine_hang", hang.target = "npu", hang.nth = 3;
  std::uint64_t took[2] = {};
  for (const bool attacked : {false, true}) {
    on_board(
        v,
        [&](HwPort& port) -> base::Status {
          Device device(port, isolated(v));
          DEPUTY_ASSIGN(auto good, device.create_context({}));
          DEPUTY_ASSIGN(auto bad, device.create_context({}));
          DEPUTY_ASSIGN(auto session,
                        Session::load(device, v.file, "m", {.context = good, .frames = 1}));
          DEPUTY_ASSIGN(Buffer own, Buffer::make(device.space(), MemoryKind::kDram, kPage, kPage));
          DEPUTY_ASSIGN(const Mapping mapped,
                        Mapping::make(bad->space(), own.address(), own.bytes(), true));
          DEPUTY_ASSIGN(Raw job, raw(device, bad, {load(64), load(64), load(64), arch::End{}}));
          job.entry.region_base[1] = own.address(), job.entry.region_bytes[1] = kPage;
          std::shared_ptr<Job> pushed;
          DEPUTY_TRY(session->frame(0).input(0).write(v.input));
          if (attacked) {
            DEPUTY_ASSIGN(pushed, device.push(EngineId::kNpu, *bad, job.entry, kHangs));
          }
          const std::uint64_t start = port.now_ps();
          DEPUTY_ASSIGN(const Fence fence, session->frame(0).submit({}));
          DEPUTY_TRY(device.wait(
              fence, start + device.bound_ps() + attempt_bound_ps(device.options(), kHangs)));
          took[attacked] = port.now_ps() - start;
          DEPUTY_ASSIGN(const Bytes output, session->frame(0).output(0).read());
          CHECK(output == v.output);
          if (attacked) CHECK(pushed->state == Job::State::kFailed);
          return {};
        },
        attacked ? sim::FaultPlan{{hang}} : sim::FaultPlan{});
  }
  // The first look sees the job, a later one that it has not moved for its limit.
  const std::uint64_t found = kHangs.progress_ps + 2 * DeviceOptions{}.watchdog_ps;
  CHECK(took[1] > took[0] + kHangs.progress_ps);
  CHECK(took[1] <= took[0] + found + took[0] / 10 + 20 * kUs);
}

TEST_CASE("what one isolated context leaves in the scratchpad another cannot read") {
  const Victim v = victim();
  constexpr std::uint32_t kBytes = 256;
  for (const bool isolation : {true, false}) {
    const auto record = on_board(v, [&](HwPort& port) -> base::Status {
      DeviceOptions options = isolated(v);
      options.isolation = isolation;
      Device device(port, options);
      std::vector<std::shared_ptr<Context>> contexts;
      std::vector<Buffer> memory;
      std::vector<Mapping> mapped;
      for (int c = 0; c < 2; ++c) {
        DEPUTY_ASSIGN(contexts.emplace_back(), device.create_context({}));
        DEPUTY_ASSIGN(memory.emplace_back(),
                      Buffer::make(device.space(), MemoryKind::kDram, kPage, kPage));
        DEPUTY_ASSIGN(mapped.emplace_back(),
                      Mapping::make(contexts[c]->space(), memory[c].address(), kPage, true));
      }
      const Bytes secret(kPage, 0xA5), none(kPage, 0x11);
      DEPUTY_TRY(memory[0].write(secret));
      const auto run = [&](std::size_t c, const arch::Operation& op) -> base::Status {
        DEPUTY_ASSIGN(Raw job, raw(device, contexts[c], {op, arch::End{}}));
        job.entry.region_base[1] = memory[c].address(), job.entry.region_bytes[1] = kBytes;
        memory[c].before_engine();
        DEPUTY_ASSIGN(const auto pushed,
                      device.push(EngineId::kNpu, *contexts[c], job.entry, kLimits));
        DEPUTY_TRY(device.wait_until([&] { return pushed->state != Job::State::kQueued; },
                                     port.now_ps() + 100'000 * kUs));
        CHECK(pushed->state == Job::State::kFinished);
        memory[c].after_engine_write();
        return {};
      };
      const auto first = [&](std::size_t c) {
        const auto all = memory[c].read();
        return Bytes(all->begin(), all->begin() + kBytes);
      };
      DEPUTY_TRY(run(0, load(kBytes)));
      DEPUTY_TRY(memory[0].write(none));
      DEPUTY_TRY(run(0, store(kBytes)));  // its own bytes are still there
      CHECK(first(0) == Bytes(kBytes, 0xA5));
      DEPUTY_TRY(memory[1].write(none));
      DEPUTY_TRY(run(1, store(kBytes)));
      CHECK(first(1) == Bytes(kBytes, isolation ? 0 : 0xA5));
      return {};
    });
    CHECK(record.counters.at("npu.scrubs") == (isolation ? 1 : 0));
  }
}
