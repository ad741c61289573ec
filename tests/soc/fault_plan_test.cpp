// Planned faults on a whole board: each happens where the plan says, shows in the registers as
// docs/faults.md says, leaves the other engine alone, and a reset recovers what it can.
#include "sim/fault_plan.h"

#include <catch2/catch.hpp>
#include <cstring>

#include "arch/dma_descriptor.h"
#include "arch/isa.h"
#include "arch/memory_map.h"
#include "arch/progress_bound.h"
#include "arch/queue_entry.h"
#include "arch/registers.h"
#include "soc/platform.h"
#include "soc/progress_bound.h"
#include "tests/support/source_dir.h"

namespace deputy::soc_test {
namespace {

namespace queue = arch::queue_reg;
namespace sync = arch::sync_reg;
namespace ecc = arch::ecc_reg;
using arch::RingCause, arch::RingState;

constexpr std::uint32_t kBytes = 4096, kEntries = 4;
enum { kNpu, kDma };
constexpr std::uint64_t kQueue[2] = {arch::kNpuQueueBase, arch::kDmaQueueBase};
// Offsets in the board's first DRAM allocation.
constexpr std::uint32_t kSource = 0, kTo[2] = {0x10000, 0x20000}, kProgram[2] = {0x30000, 0x31000},
                        kRing[2] = {0x40000, 0x41000};

soc::SocConfig wearable(const std::vector<std::string>& sets = {}) {
  auto config = soc::load_soc_config(tests::source_dir() + "/configs/soc/wearable.yaml", sets);
  if (!config.ok()) FAIL(config.error().text());
  return *config;
}

/// One ring per engine; a job copies kBytes from kSource to kTo[engine] and signals timeline
/// `engine`.
struct Driver {
  HwPort& port;
  SharedMemory dram;
  std::uint32_t tail[2] = {};
  std::uint64_t next[2] = {1, 1};

  explicit Driver(HwPort& p) : port(p), dram(*p.alloc(MemoryKind::kDram, 1 << 20, 4096)) {
    REQUIRE(dram.address == arch::kDramBase);  // plans below aim at addresses
    for (std::uint32_t i = 0; i < kBytes; ++i)
      dram.host[kSource + i] = static_cast<std::uint8_t>(i * 13 + 5);
    port.clean(dram.address, kBytes);
    for (int e : {kNpu, kDma}) enable(e);
  }
  std::uint32_t reg(int e, std::uint32_t offset) { return port.read32(kQueue[e] + offset); }
  void set(int e, std::uint32_t offset, std::uint32_t value) {
    port.write32(kQueue[e] + offset, value);
  }
  void enable(int e) {
    tail[e] = 0;
    set(e, queue::kRing0BaseLo, static_cast<std::uint32_t>(dram.address + kRing[e]));
    set(e, queue::kRing0Entries, kEntries);
    set(e, queue::kRing0Config, 1);
  }
  void place(std::uint32_t at, const std::vector<std::uint32_t>& words) {
    std::memcpy(dram.host + at, words.data(), words.size() * 4);
    port.clean(dram.address + at, words.size() * 4);
  }
  void submit(int e) {
    std::vector<std::uint32_t> words;
    arch::QueueEntry entry;
    entry.kind = 1, entry.address = dram.address + kProgram[e], entry.irq = 1;
    entry.signal[0] = {1, static_cast<std::uint8_t>(e), next[e]};
    if (e == kDma) {
      arch::DmaDescriptor d;
      d.src = dram.address + kSource, d.dst = dram.address + kTo[e], d.row_bytes = kBytes;
      arch::pack(d, words);
    } else {
      const auto transfer = [&](auto t, std::uint32_t offset, std::uint32_t wait) {
        t.mem_offset = offset, t.row_bytes = kBytes;
        arch::Instruction i;
        i.header.tag = 3, i.header.wait_load = wait, i.op = t;
        arch::encode(i, words);
      };
      transfer(arch::Load{}, kSource, 0);
      transfer(arch::Store{}, kTo[e], 1);
      arch::Instruction end;
      end.op = arch::End{};
      arch::encode(end, words);
      entry.bytes = static_cast<std::uint32_t>(words.size() * 4);
      entry.region_base[0] = dram.address, entry.region_bytes[0] = 1 << 20;
    }
    place(kProgram[e], words);
    words.clear();
    arch::pack(entry, words);
    words.resize(arch::kQueueEntryBytes / 4);
    place(kRing[e] + tail[e] % kEntries * arch::kQueueEntryBytes, words);
    set(e, queue::kRing0Tail, ++tail[e]);
  }
  std::uint64_t timeline(int e) {
    return port.read32(arch::kSyncBase + static_cast<std::uint32_t>(e) * arch::kTimelineStride +
                       sync::kTimeline0ValueLo);
  }
  RingState state(int e) { return static_cast<RingState>(reg(e, queue::kRing0Status) & 7); }
  RingCause cause(int e) { return static_cast<RingCause>(reg(e, queue::kRing0Status) >> 8 & 0xFF); }
  void rest(std::uint64_t us) { port.wait_irq(31, port.now_ps() + us * 1'000'000); }
  void wipe(int e) {
    port.announce({dram.address + kTo[e], kBytes,
                   true});  // whole lines, whatever the engine has written there
    std::memset(dram.host + kTo[e], 0xEE, kBytes);
    port.clean(dram.address + kTo[e], kBytes);
  }
  bool copied(int e) {
    port.invalidate(dram.address + kTo[e], kBytes);
    return std::memcmp(dram.host + kSource, dram.host + kTo[e], kBytes) == 0;
  }
  /// Submits a job that must succeed.
  void works(int e) {
    wipe(e);
    submit(e);
    rest(60);
    CHECK(timeline(e) == next[e]);
    CHECK(copied(e));
    next[e] = timeline(e) + 1;
  }
};

soc::RunRecord on_board(const std::vector<sim::Fault>& faults,
                        const std::function<void(Driver&)>& test,
                        const soc::SocConfig& config = wearable()) {
  for (const auto& f : faults)
    if (const auto ok = sim::check_fault(f, "test"); !ok.ok()) FAIL(ok.error().text());
  soc::PlatformOptions options;
  options.faults.faults = faults;
  soc::Platform platform(config, options);
  auto outcome = platform.run_to_end([&](HwPort& port) -> base::Status {
    Driver driver(port);
    test(driver);
    return {};
  });
  if (!outcome.status.ok()) FAIL(outcome.status.error().text());
  CHECK(outcome.record.imbalances.empty());
  return outcome.record;
}

sim::Fault fault(const char* kind, const char* target) {
  sim::Fault f;
  f.kind = kind, f.target = target;
  return f;
}

enum class Seen { kEngineFault, kEntryFault, kHung, kStuckEntry, kNoDoorbell, kNoSignal };
struct Case {
  const char *kind, *target;
  int engine;
  Seen seen;
  int error;  ///< of the engine, or RingCause
};
constexpr int code(auto e) { return static_cast<int>(e); }
constexpr Case kCases[] = {
    {"bus_error", "npu.load", kNpu, Seen::kEngineFault, code(arch::NpuError::kBus)},
    {"bus_error", "npu.store", kNpu, Seen::kEngineFault, code(arch::NpuError::kBus)},
    {"bus_error", "npu.cmd", kNpu, Seen::kEngineFault, code(arch::NpuError::kBus)},
    {"bus_error", "dma.read", kDma, Seen::kEngineFault, code(arch::DmaError::kBus)},
    {"bus_error", "dma.write", kDma, Seen::kEngineFault, code(arch::DmaError::kBus)},
    {"bus_error", "npu.queue", kNpu, Seen::kEntryFault, code(RingCause::kBus)},
    {"bus_error", "dma.queue", kDma, Seen::kEntryFault, code(RingCause::kBus)},
    {"stuck_transaction", "npu.load", kNpu, Seen::kHung, 0},
    {"stuck_transaction", "npu.store", kNpu, Seen::kHung, 0},
    {"stuck_transaction", "npu.cmd", kNpu, Seen::kHung, 0},
    {"stuck_transaction", "dma.read", kDma, Seen::kHung, 0},
    {"stuck_transaction", "dma.write", kDma, Seen::kHung, 0},
    {"stuck_transaction", "npu.queue", kNpu, Seen::kStuckEntry, 0},
    {"stuck_transaction", "dma.queue", kDma, Seen::kStuckEntry, 0},
    {"command_parity", "npu", kNpu, Seen::kEngineFault, code(arch::NpuError::kParity)},
    {"command_parity", "dma", kDma, Seen::kEngineFault, code(arch::DmaError::kParity)},
    {"command_parity", "npu.queue", kNpu, Seen::kEntryFault, code(RingCause::kParity)},
    {"command_parity", "dma.queue", kDma, Seen::kEntryFault, code(RingCause::kParity)},
    {"parse_error", "npu", kNpu, Seen::kEngineFault, code(arch::NpuError::kUnknownOpcode)},
    {"parse_error", "dma", kDma, Seen::kEngineFault, code(arch::DmaError::kBadDescriptor)},
    {"engine_fault", "npu", kNpu, Seen::kEngineFault, code(arch::NpuError::kInternal)},
    {"engine_fault", "dma", kDma, Seen::kEngineFault, code(arch::DmaError::kInternal)},
    {"engine_hang", "npu", kNpu, Seen::kHung, 0},
    {"engine_hang", "dma", kDma, Seen::kHung, 0},
    {"lost_doorbell", "npu.queue", kNpu, Seen::kNoDoorbell, 0},
    {"lost_doorbell", "dma.queue", kDma, Seen::kNoDoorbell, 0},
    {"lost_signal", "npu.queue", kNpu, Seen::kNoSignal, 0},
    {"lost_signal", "dma.queue", kDma, Seen::kNoSignal, 0},
};

void check_seen(Driver& d, const Case& c) {
  const int e = c.engine;
  switch (c.seen) {
    case Seen::kEngineFault:
      CHECK(d.state(e) == RingState::kHalted);
      CHECK(d.cause(e) == RingCause::kEngineFault);
      CHECK(static_cast<int>(d.reg(e, queue::kRing0ErrInfo) >> 24) == c.error);
      break;
    case Seen::kEntryFault:
      CHECK(d.state(e) == RingState::kHalted);
      CHECK(code(d.cause(e)) == c.error);
      CHECK(d.reg(e, queue::kRing0ErrAddrLo) == d.dram.address + kRing[e] + arch::kQueueEntryBytes);
      break;
    case Seen::kHung:
    case Seen::kStuckEntry: {
      CHECK(d.state(e) == (c.seen == Seen::kHung ? RingState::kRunning : RingState::kWaiting));
      const std::uint32_t progress = d.reg(e, queue::kProgress);
      d.rest(200);
      CHECK(d.reg(e, queue::kProgress) == progress);
      break;
    }
    case Seen::kNoDoorbell:
      CHECK(d.reg(e, queue::kRing0Tail) == 1);
      CHECK(d.state(e) == RingState::kIdle);
      break;
    case Seen::kNoSignal:
      CHECK(d.reg(e, queue::kRing0Head) == 2);
      CHECK(d.copied(e));
      break;
  }
}

}  // namespace

TEST_CASE(
    "every fault happens where it is planned, shows in the registers, spares the other engine, and "
    "a reset recovers") {
  for (const Case& c : kCases) {
    INFO(c.kind << " at " << c.target);
    sim::Fault f = fault(c.kind, c.target);
    f.at_ns = 100'000;  // the second job; the first runs before
    const auto record = on_board({f}, [&](Driver& d) {
      const int e = c.engine, other = 1 - e;
      d.works(e);
      d.works(other);
      d.rest(100);
      const std::uint64_t before = d.timeline(e);
      d.wipe(e);
      d.submit(e);
      d.rest(60);
      CHECK(d.timeline(e) == before);  // never looks successful
      check_seen(d, c);
      d.works(other);
      const std::uint64_t of_other = d.timeline(other);
      d.set(e, queue::kReset, 1);
      CHECK(d.timeline(e) == before);
      CHECK(d.timeline(other) == of_other);
      d.enable(e);
      d.works(e);
      d.works(other);
    });
    REQUIRE(record.faults.size() == 1);
    CHECK(record.faults[0].fired == 1);
    CHECK(record.counters.at("faults.injected") == 1);
    REQUIRE(record.fault_events.size() == 1);
    CHECK(record.fault_events[0].kind == c.kind);
    CHECK(record.fault_events[0].target == c.target);
    CHECK(record.fault_events[0].time_ps >= 100'000'000);
  }
}

TEST_CASE("a permanent fault survives resets") {
  for (const char* kind : {"engine_hang", "engine_fault"})
    for (const int e : {kNpu, kDma}) {
      sim::Fault f = fault(kind, e == kNpu ? "npu" : "dma");
      f.repeat = 0;
      const auto record = on_board({f}, [&](Driver& d) {
        for (int attempt = 0; attempt < 3; ++attempt) {
          d.submit(e);
          d.rest(60);
          CHECK(d.timeline(e) == 0);
          d.set(e, queue::kReset, 1);
          d.enable(e);
        }
        d.works(1 - e);
      });
      CHECK(record.faults[0].fired == 3);
    }
}

TEST_CASE("faults that never come change nothing, and are listed as such") {
  const auto program = [](Driver& d) {
    d.works(kNpu);
    d.works(kDma);
  };
  const auto clean = on_board({}, program);
  std::vector<sim::Fault> faults;
  for (const auto& kind : sim::fault_kinds())
    for (const char* target : kind.targets) {
      sim::Fault f = fault(kind.name, target);
      if (kind.kind == sim::FaultKind::kThrottle)
        f.at_ns = 1'000'000'000'000;
      else
        f.nth = 1'000'000;
      if (kind.kind == sim::FaultKind::kLateInterrupt || kind.kind == sim::FaultKind::kLateSignal)
        f.delay_ns = 1;
      faults.push_back(f);
    }
  const auto armed = on_board(faults, program);
  CHECK(armed.end_ps == clean.end_ps);
  CHECK(armed.kernel_events == clean.kernel_events);
  CHECK(armed.counters == clean.counters);
  CHECK(armed.energy_nj == clean.energy_nj);
  REQUIRE(armed.faults.size() == faults.size());
  for (const auto& f : armed.faults) CHECK(f.fired == 0);
}

TEST_CASE("slow, throttled and late are late but right, and PROGRESS moves") {
  const auto clean = on_board({}, [](Driver& d) { d.works(kNpu); });
  for (const char* kind : {"engine_slow", "throttle"}) {
    INFO(kind);
    sim::Fault f = fault(kind, "npu");
    f.factor = 1000;
    const auto record = on_board({f}, [&](Driver& d) {
      d.submit(kNpu);
      std::uint32_t last = d.reg(kNpu, queue::kProgress), moves = 0;
      for (int i = 0; i < 40 && d.timeline(kNpu) == 0; ++i) {
        d.rest(10);
        const std::uint32_t now = d.reg(kNpu, queue::kProgress);
        moves += now != last, last = now;
      }
      CHECK(moves >= 2);
      CHECK(d.timeline(kNpu) == 1);
      CHECK(d.copied(kNpu));
    });
    REQUIRE(record.npu_jobs.size() == 1);
    const auto& job = record.npu_jobs[0];
    CHECK(job.end_ps - job.start_ps > 10 * (clean.npu_jobs[0].end_ps - clean.npu_jobs[0].start_ps));
    CHECK(job.cycles <= clean.npu_jobs[0].cycles);  // clock edges, not time
    CHECK(record.energy_nj.at("npu.ctrl") <= clean.energy_nj.at("npu.ctrl"));
    if (f.kind == "throttle")  // throttled from start to end: an edge every 1000 * 5 ns
      CHECK(static_cast<double>(job.cycles) ==
            Approx(static_cast<double>(job.end_ps - job.start_ps) / 5e6).margin(1));
  }
  sim::Fault slow = fault("engine_slow", "dma");
  slow.factor = 50;
  on_board({slow}, [](Driver& d) {
    d.submit(kDma);
    d.rest(20);
    CHECK(d.timeline(kDma) == 0);
    d.rest(1000);
    CHECK(d.timeline(kDma) == 1);
    CHECK(d.copied(kDma));
  });
  sim::Fault late = fault("late_signal", "dma.queue");
  late.delay_ns = 300'000;
  on_board({late}, [](Driver& d) {
    d.submit(kDma);
    d.rest(200);
    CHECK(d.timeline(kDma) == 0);
    CHECK(d.copied(kDma));
    d.rest(150);
    CHECK(d.timeline(kDma) == 1);
  });
}

TEST_CASE("lost and late interrupts: the device has it, the host does not") {
  const auto program = [](Driver& d, bool lost, std::uint64_t at_least_us) {
    const auto line = static_cast<std::uint32_t>(arch::IrqLine::kDmaQueue);
    d.port.write32(arch::kIntcBase + arch::intc_reg::kEnableSet, 1u << line);
    d.set(kDma, queue::kIrqEnable, 1);
    const std::uint64_t start = d.port.now_ps();
    d.submit(kDma);
    CHECK(d.port.wait_irq(line, start + 1'000'000'000) == !lost);
    CHECK(d.port.now_ps() - start >= at_least_us * 1'000'000);
    CHECK((d.reg(kDma, queue::kIrqStatus) & 1) == 1);
    CHECK((d.port.read32(arch::kIntcBase + arch::intc_reg::kRaw) >> line & 1) == 1);
    CHECK(d.timeline(kDma) == 1);
    d.set(kDma, queue::kIrqStatus, 1);
    d.port.write32(arch::kIntcBase + arch::intc_reg::kPending, 1u << line);
    d.next[kDma] = 2;
    d.submit(kDma);  // the next edge is seen again
    CHECK(d.port.wait_irq(line, d.port.now_ps() + 1'000'000'000));
  };
  sim::Fault late = fault("late_interrupt", "dma.queue");
  late.delay_ns = 400'000;
  CHECK(on_board({fault("lost_interrupt", "dma.queue")}, [&](Driver& d) { program(d, true, 1000); })
            .faults[0]
            .fired == 1);
  CHECK(on_board({late}, [&](Driver& d) { program(d, false, 400); }).faults[0].fired == 1);
}

TEST_CASE(
    "ECC: one wrong bit is corrected and counted, two are a bus error with its address and an "
    "interrupt") {
  const auto config = wearable({std::string("dram.model=") + GENERATE("simple", "full")});
  sim::Fault one = fault("ecc_single", "dram"), two = fault("ecc_double", "dram");
  for (auto* f : {&one, &two}) f->address = arch::kDramBase + kSource, f->bytes = kBytes;
  one.nth = 2, one.delay_ns = 100;
  const auto bank1 = arch::kEccBase + arch::kEccBankStride;
  auto record = on_board(
      {one},
      [&](Driver& d) {
        d.works(kDma);
        CHECK(d.port.read32(bank1 + ecc::kBank0Corrected) == 1);
        CHECK(d.port.read32(bank1 + ecc::kBank0CorrectedAddr) ==
              arch::kDramBase + 512);  // the second chunk
        CHECK(d.port.read32(bank1 + ecc::kBank0Uncorrected) == 0);
        CHECK(d.port.read32(arch::kEccBase + ecc::kIrqStatus) == 0x200);
        d.port.write32(arch::kEccBase + ecc::kClear, 2);
        CHECK(d.port.read32(bank1 + ecc::kBank0Corrected) == 0);
      },
      config);
  CHECK(record.counters.at("ecc.corrected") == 1);
  record = on_board(
      {two},
      [&](Driver& d) {
        const auto line = static_cast<std::uint32_t>(arch::IrqLine::kEcc);
        d.port.write32(arch::kIntcBase + arch::intc_reg::kEnableSet, 1u << line);
        d.port.write32(arch::kEccBase + ecc::kIrqEnable, 3);
        d.submit(kNpu);
        CHECK(d.port.wait_irq(line, d.port.now_ps() + 100'000'000));
        d.rest(20);
        CHECK(d.cause(kNpu) == RingCause::kEngineFault);
        CHECK(d.reg(kNpu, queue::kRing0ErrInfo) >> 24 ==
              static_cast<std::uint32_t>(arch::NpuError::kBus));
        CHECK(d.reg(kNpu, queue::kRing0ErrAddrLo) == arch::kDramBase + kSource);
        CHECK(d.port.read32(bank1 + ecc::kBank0UncorrectedAddr) == arch::kDramBase + kSource);
        d.set(kNpu, queue::kRing0Ctrl, 1);  // a retry is enough
        d.rest(60);
        CHECK(d.timeline(kNpu) == 1);
        CHECK(d.copied(kNpu));
      },
      config);
  CHECK(record.counters.at("ecc.uncorrected") == 1);
}

TEST_CASE(
    "what a reset engine had on the bus writes nothing afterwards, whenever the reset comes") {
  on_board(
      {},
      [](Driver& d) {
        int before_the_end = 0;
        for (std::uint64_t ns = 0; ns < 20'000; ns += 173)
          for (const int e : {kNpu, kDma}) {
            d.submit(1 - e);  // competes for the memory
            d.submit(e);
            d.port.wait_irq(31, d.port.now_ps() + ns * 1000);
            before_the_end += d.state(e) == RingState::kRunning;
            d.set(e, queue::kReset, 1);
            std::memset(d.dram.host + kTo[e], 0x5A, kBytes);  // the memory is somebody else's now
            d.rest(60);
            d.next[1 - e] = d.timeline(1 - e) + 1;
            d.next[e] = d.timeline(e) + 1;
            for (std::uint32_t i = 0; i < kBytes; ++i)
              if (d.dram.host[kTo[e] + i] != 0x5A)
                FAIL("engine " << e << " wrote byte " << i << " after a reset at " << ns << " ns");
            d.enable(e);
          }
        CHECK(before_the_end > 20);
        d.works(kNpu);
        d.works(kDma);
        // Coherent: a clean would take time, in which a late write could hide.
      },
      wearable({"host.coherent=true"}));
}

TEST_CASE("PROGRESS never stands still longer than the bound while an engine works") {
  const auto config = wearable({std::string("dram.model=") + GENERATE("simple", "full")});
  const std::uint64_t chunk = *soc::longest_chunk_ps(config);
  const std::uint64_t bound[2] = {
      arch::npu_progress_gap_ps(config.npu, 0, chunk, 1),
      arch::dma_progress_gap_ps(config.dma.clock_mhz, config.dma.descriptor_cycles, chunk)};
  on_board(
      {},
      [&](Driver& d) {
        std::uint64_t longest[2] = {};
        for (int round = 0; round < 4; ++round) {
          std::uint32_t last[2];
          std::uint64_t changed[2];
          for (int e : {kNpu, kDma}) {
            d.submit(e);
            last[e] = d.reg(e, queue::kProgress), changed[e] = d.port.now_ps();
          }
          const std::uint64_t deadline = d.port.now_ps() + 1'000'000'000;
          while ((d.timeline(kNpu) < d.next[kNpu] || d.timeline(kDma) < d.next[kDma]) &&
                 d.port.now_ps() < deadline)
            for (int e : {kNpu, kDma}) {
              if (d.timeline(e) >= d.next[e]) continue;
              const std::uint32_t now = d.reg(e, queue::kProgress);
              if (now == last[e]) continue;
              longest[e] = std::max(longest[e], d.port.now_ps() - changed[e]);
              last[e] = now, changed[e] = d.port.now_ps();
            }
          for (int e : {kNpu, kDma}) CHECK(d.timeline(e) == d.next[e]++);
        }
        for (int e : {kNpu, kDma}) {
          CHECK(longest[e] > 0);
          CHECK(longest[e] < bound[e]);
        }
      },
      config);
}

TEST_CASE("a plan is read from YAML; what makes no sense is refused with its place") {
  const auto parse = [](const char* text) {
    auto config = base::Config::from_text(text, "plan.yaml");
    REQUIRE(config.ok());
    return sim::parse_fault_plan(std::move(*config));
  };
  const auto plan =
      parse("faults:\n  - kind: ecc_single\n    target: dram\n    nth: 3\n    delay_ns: 50\n");
  REQUIRE(plan.ok());
  REQUIRE(plan->faults.size() == 1);
  CHECK(plan->faults[0].nth == 3);
  CHECK(plan->faults[0].delay_ns == 50);
  const auto refused = [&](const char* text, const char* what) {
    const auto bad = parse(text);
    REQUIRE_FALSE(bad.ok());
    CHECK(bad.error().kind == base::ErrorKind::kConfig);
    CHECK_THAT(bad.error().text(), Catch::Contains("plan.yaml:") && Catch::Contains(what));
  };
  refused("faults:\n  - kind: engine_hang\n    target: npu\n    nht: 3\n", "nht");
  refused("faults:\n  - kind: gremlins\n    target: npu\n", "gremlins");
  refused("faults:\n  - kind: ecc_single\n    target: npu\n", "sram, dram");
  refused("faults:\n  - kind: engine_hang\n    target: npu\n    factor: 3\n", "factor");
  refused("faults:\n  - kind: engine_hang\n    target: npu\n    nth: 0\n", "out of range");
  for (const char* file : {"transient", "npu_dead"})
    CHECK(sim::load_fault_plan(tests::source_dir() + "/configs/faults/" + file + ".yaml").ok());
}

}  // namespace deputy::soc_test
