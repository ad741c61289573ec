// The IOMMU on a whole board: what a job in a context can touch, what it cannot, and what the host
// learns of it. The oracle is a table of pages kept here; the page tables are written here by hand.
#include <catch2/catch.hpp>
#include <cstring>
#include <map>
#include <optional>
#include <random>

#include "soc/platform.h"
#include "tests/soc/queue_host.h"
#include "tests/support/source_dir.h"

namespace deputy::soc_test {
namespace {

namespace iommu = arch::iommu_reg;
using arch::IommuInitiator;
constexpr std::uint32_t kPage = arch::kPageBytes;

struct Fault {
  std::uint32_t address = 0;
  IommuInitiator initiator{};
  bool write = false;
  std::uint32_t context = 0;
  bool operator==(const Fault&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Fault& f) {
  return out << std::hex << f.address << (f.write ? " written by " : " read by ")
             << arch::iommu_initiator_text(f.initiator) << " in context " << f.context;
}

// A context's address space as the test means it, and its tables in memory.
struct Space {
  Host& h;
  std::uint32_t context;
  SharedMemory tables;  // the first level, then second levels as they are needed
  std::uint32_t second_levels = 0;
  struct Target {
    std::uint32_t frame;
    bool writable;
  };
  std::map<std::uint32_t, Target> pages;  // by page number

  Space(Host& host, std::uint32_t c)
      : h(host), context(c), tables(*h.port.alloc(MemoryKind::kDram, 8 * kPage, kPage)) {
    h.port.write32(arch::kIommuBase + iommu::kTable0 + 4 * c,
                   static_cast<std::uint32_t>(tables.address) | 1);
  }
  std::uint32_t& entry(std::uint64_t table_offset, std::uint32_t index) {
    return reinterpret_cast<std::uint32_t*>(tables.host + table_offset)[index];
  }
  std::uint32_t& leaf(std::uint32_t iova) {
    std::uint32_t& first = entry(0, iova >> 22);
    if (!(first & 1)) {
      REQUIRE(++second_levels < 8);
      first = (static_cast<std::uint32_t>(tables.address) + second_levels * kPage) | 1;
    }
    return entry((first & ~(kPage - 1)) - tables.address, iova >> 12 & 1023);
  }
  void map(std::uint32_t iova, std::uint64_t physical, bool writable) {
    leaf(iova) = static_cast<std::uint32_t>(physical) | (writable ? 3 : 1);
    pages[iova / kPage] = {static_cast<std::uint32_t>(physical), writable};
    h.port.clean(tables.address, tables.bytes);
  }
  void map_range(std::uint32_t iova, std::uint64_t physical, std::uint32_t bytes, bool writable) {
    for (std::uint32_t at = 0; at < bytes; at += kPage) map(iova + at, physical + at, writable);
  }
  void unmap(std::uint32_t iova) {
    leaf(iova) = 0;
    pages.erase(iova / kPage);
    h.port.clean(tables.address, tables.bytes);
  }
  void invalidate() { h.port.write32(arch::kIommuBase + iommu::kInvalidate, 1u << context); }

  // The plain walk: the first byte of [iova, iova + bytes) that may not be touched.
  std::optional<std::uint32_t> first_refused(std::uint32_t iova, std::uint32_t bytes,
                                             bool write) const {
    for (std::uint32_t at = iova; at < iova + bytes; ++at) {
      const auto it = pages.find(at / kPage);
      if (it == pages.end() || (write && !it->second.writable)) return at;
    }
    return std::nullopt;
  }
  std::uint32_t physical(std::uint32_t iova) const {
    return pages.at(iova / kPage).frame + iova % kPage;
  }
};

// Names of a job's two sides by engine.
constexpr IommuInitiator kReads[] = {IommuInitiator::kNpuLoad, IommuInitiator::kDmaRead};
constexpr IommuInitiator kWrites[] = {IommuInitiator::kNpuStore, IommuInitiator::kDmaWrite};

std::optional<Fault> take_fault(Host& h) {
  const std::uint32_t fault = h.port.read32(arch::kIommuBase + iommu::kFault);
  if (!(fault >> 31)) return std::nullopt;
  const Fault out{h.port.read32(arch::kIommuBase + iommu::kFaultAddr),
                  static_cast<IommuInitiator>(fault >> 8 & 0xFF), (fault >> 4 & 1) != 0,
                  fault & 0xF};
  h.port.write32(arch::kIommuBase + iommu::kFaultClear, 1);
  h.port.write32(arch::kIommuBase + iommu::kIrqStatus, 1);
  return out;
}

// A copy job in Host's dram whose engine sees everything at `view` instead of the bus address.
arch::QueueEntry copy_job(Host& h, int engine, std::uint32_t at, std::uint32_t view,
                          std::uint32_t from, std::uint32_t to, std::uint32_t bytes) {
  std::vector<std::uint32_t> words;
  arch::QueueEntry e;
  e.kind = 1;
  if (engine == Host::kDma) {
    arch::DmaDescriptor d;
    d.src = from, d.dst = to, d.row_bytes = bytes;
    arch::pack(d, words);
  } else {
    arch::Load load;
    arch::Store store;
    load.mem_offset = from, store.mem_offset = to, load.row_bytes = store.row_bytes = bytes;
    arch::Instruction i;
    i.header.tag = 3, i.op = load;
    arch::encode(i, words);
    i.header.wait_load = 1, i.op = store;
    arch::encode(i, words);
    i.header.wait_load = 0, i.op = arch::End{};
    arch::encode(i, words);
    e.bytes = static_cast<std::uint32_t>(words.size() * 4);
    e.region_base[0] = 0,
    e.region_bytes[0] = 0xFFFFFFFF;  // the engine's own bounds hold nothing back
  }
  std::memcpy(h.dram.host + at, words.data(), words.size() * 4);
  h.port.clean(h.dram.address + at, words.size() * 4);
  e.address = view + at;
  return e;
}

soc::RunRecord on_board(const std::vector<std::string>& sets, bool timing_only,
                        const std::function<void(Host&)>& test) {
  auto config = soc::load_soc_config(tests::source_dir() + "/configs/soc/wearable.yaml", sets);
  REQUIRE(config.ok());
  soc::Platform platform(*config, {.timing_only = timing_only});
  const auto record = platform.run([&](HwPort& port) -> base::Status {
    Host host(port);
    test(host);
    return {};
  });
  if (!record.ok()) FAIL(record.error().text());
  CHECK(record->imbalances == std::vector<std::string>{});
  return *record;
}

void fill(Host& h, std::uint32_t seed) {
  std::mt19937 random(seed);
  for (std::uint32_t i = 0; i < h.dram.bytes; i += 4) {
    const std::uint32_t word = static_cast<std::uint32_t>(random());
    std::memcpy(h.dram.host + i, &word, 4);
  }
  h.port.clean(h.dram.address, h.dram.bytes);
}

// Until ring `ring` of `engine` is idle or halted.
void settle(Host& h, int engine, std::uint32_t ring) {
  for (int i = 0; i < 200; ++i) {
    const RingState state = h.state(engine, ring);
    if (state == RingState::kIdle || state == RingState::kHalted) return;
    h.rest(5);
  }
  FAIL("the ring does not settle");
}

constexpr std::uint32_t kCommands =
    0x00400000;  // where a context sees the page of its command streams

}  // namespace

TEST_CASE(
    "random copies between scattered pages move exactly the bytes a plain walk says, or fault "
    "where it says") {
  const auto record = on_board({"iommu.entries=4"}, false, [](Host& h) {
    constexpr std::uint32_t kFrames = 32;  // physical pages 0..31 of dram, commands at 0x80000
    std::mt19937 random(11);
    const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
    fill(h, 5);
    Space space(h, 3);
    h.enable(Host::kNpu, 2, 0, 3), h.enable(Host::kDma, 1, 0, 3);
    space.map(kCommands, h.dram.address + 0x80000, false);
    int faults = 0, whole = 0;
    for (int round = 0; round < 120; ++round) {
      const int engine = round % 2;
      const std::uint32_t ring = engine == Host::kNpu ? 2 : 1;
      // Eight pages on either side of a boundary of second-level tables, most of them somewhere.
      constexpr std::uint32_t kWindow = 0x30000000 + (4 << 20) - 4 * kPage;
      for (std::uint32_t page = 0; page < 8; ++page) {
        const std::uint32_t iova = kWindow + page * kPage;
        if (below(6) == 0)
          space.unmap(iova);
        else
          space.map(iova, h.dram.address + below(kFrames) * kPage, below(6) != 0);
      }
      space.invalidate();
      const std::uint32_t bytes = 1 + below(2 * kPage);
      const std::uint32_t from = kWindow + below(8 * kPage - bytes),
                          to = kWindow + below(8 * kPage - bytes);
      const auto read_fault = space.first_refused(from, bytes, false),
                 write_fault = space.first_refused(to, bytes, true);
      // Two physical pages under one address space may coincide: a DMA copy's result would then
      // depend on timing.
      bool overlap = false;
      if (!read_fault && !write_fault)
        for (std::uint32_t a = from / kPage; a <= (from + bytes - 1) / kPage; ++a)
          for (std::uint32_t b = to / kPage; b <= (to + bytes - 1) / kPage; ++b)
            overlap = overlap || space.pages.at(a).frame == space.pages.at(b).frame;
      if (overlap || (read_fault && write_fault && engine == Host::kDma)) continue;
      if ((read_fault || write_fault) && engine == Host::kDma) {
        bool shared = false;  // the part that is copied before the fault must not overlap either
        for (const auto& [page, a] : space.pages)
          for (const auto& [other, b] : space.pages)
            shared = shared || (page != other && a.frame == b.frame);
        if (shared) continue;
      }

      const arch::QueueEntry job =
          copy_job(h, engine, 0x80000, kCommands - 0x80000, from, to, bytes);
      std::vector<std::uint8_t> expected(h.dram.host, h.dram.host + h.dram.bytes);
      std::uint32_t done = bytes;
      if (read_fault)
        done = engine == Host::kNpu ? 0 : *read_fault - from;
      else if (write_fault)
        done = *write_fault - to;
      std::vector<std::uint8_t> moved(done);
      for (std::uint32_t i = 0; i < done; ++i)
        moved[i] = expected[space.physical(from + i) - static_cast<std::uint32_t>(h.dram.address)];
      for (std::uint32_t i = 0; i < done; ++i)
        expected[space.physical(to + i) - static_cast<std::uint32_t>(h.dram.address)] = moved[i];

      INFO("round " << round << ": " << bytes << " bytes, " << std::hex << from << " to " << to);
      h.submit(engine, ring, job);
      settle(h, engine, ring);
      std::optional<Fault> predicted;
      if (read_fault)
        predicted = Fault{*read_fault, kReads[engine], false, 3};
      else if (write_fault)
        predicted = Fault{*write_fault, kWrites[engine], true, 3};
      const auto fault = take_fault(h);
      REQUIRE(fault.has_value() == predicted.has_value());
      if (fault) {
        CHECK(*fault == *predicted);
        CHECK(h.cause(engine, ring) == RingCause::kEngineFault);
        CHECK(h.reg(engine, queue::kRing0ErrAddrLo, ring) == predicted->address);
        h.set(engine, queue::kRing0Ctrl, ring, 2);
        settle(h, engine, ring);
      }
      ++(fault ? faults : whole);
      h.port.invalidate(h.dram.address, h.dram.bytes);
      REQUIRE(std::memcmp(h.dram.host, expected.data(), expected.size()) == 0);
    }
    CHECK(faults > 15);
    CHECK(whole > 15);
  });
  CHECK(record.counters.at("iommu.walks") > 100);
  CHECK(record.counters.at("iommu.hits") > 100);
  CHECK(record.noc_traffic.at("iommu").at("dram").read_bytes <=
        8 * record.counters.at("iommu.walks"));
}

TEST_CASE(
    "a hostile job faults in every port and changes nothing outside; the other context's ring goes "
    "on") {
  // Context 1 owns pages 0 to 3 of dram (3 read only) and its commands, context 2 pages 16 to 19
  // and its own.
  struct Attack {
    const char* name;
    int engine;
    std::uint32_t from, to, bytes;
    std::uint64_t commands;  // where the job is said to begin; 0: where it does
    Fault fault;
  };
  const std::uint32_t base = 0x10000000;
  const auto dram = static_cast<std::uint32_t>(arch::kDramBase);
  const std::vector<Attack> attacks = {
      {"NPU load of the bus address",
       Host::kNpu,
       dram + 16 * kPage,
       base,
       64,
       0,
       {dram + 16 * kPage, IommuInitiator::kNpuLoad, false, 1}},
      {"NPU store to the bus address",
       Host::kNpu,
       base,
       dram + 16 * kPage,
       64,
       0,
       {dram + 16 * kPage, IommuInitiator::kNpuStore, true, 1}},
      {"NPU load over the last page's edge",
       Host::kNpu,
       base + 4 * kPage - 8,
       base,
       16,
       0,
       {base + 4 * kPage, IommuInitiator::kNpuLoad, false, 1}},
      {"NPU store over the writable pages' edge",
       Host::kNpu,
       base,
       base + 3 * kPage - 1,
       2,
       0,
       {base + 3 * kPage, IommuInitiator::kNpuStore, true, 1}},
      {"NPU load before the first page",
       Host::kNpu,
       base - 1,
       base,
       1,
       0,
       {base - 1, IommuInitiator::kNpuLoad, false, 1}},
      {"NPU store to the IOMMU's registers",
       Host::kNpu,
       base,
       0x40060044,
       4,
       0,
       {0x40060044, IommuInitiator::kNpuStore, true, 1}},
      {"NPU commands from nowhere",
       Host::kNpu,
       base,
       base,
       4,
       0x50000000,
       {0x50000000, IommuInitiator::kNpuCommand, false, 1}},
      {"NPU commands beyond 32 bits",
       Host::kNpu,
       base,
       base,
       4,
       0x100000000 + kCommands,
       {kCommands, IommuInitiator::kNpuCommand, false, 1}},
      {"DMA read of the other's page",
       Host::kDma,
       dram + 17 * kPage,
       base,
       64,
       0,
       {dram + 17 * kPage, IommuInitiator::kDmaRead, false, 1}},
      {"DMA write to the other's page",
       Host::kDma,
       base,
       dram + 17 * kPage,
       64,
       0,
       {dram + 17 * kPage, IommuInitiator::kDmaWrite, true, 1}},
      {"DMA write to a read-only page",
       Host::kDma,
       base,
       base + 3 * kPage + 40,
       16,
       0,
       {base + 3 * kPage + 40, IommuInitiator::kDmaWrite, true, 1}},
      {"DMA descriptor from nowhere",
       Host::kDma,
       base,
       base,
       4,
       0x7FFFF000,
       {0x7FFFF000, IommuInitiator::kDmaRead, false, 1}},
      {"DMA write to its own ring's registers",
       Host::kDma,
       base,
       0x40040050,
       4,
       0,
       {0x40040050, IommuInitiator::kDmaWrite, true, 1}},
  };
  for (const bool timing_only : {false, true})
    on_board({}, timing_only, [&](Host& h) {
      fill(h, 9);
      REQUIRE(h.dram.address == dram);
      Space one(h, 1), two(h, 2);
      const std::uint32_t frames[4] = {2, 0, 3, 1};  // scattered
      for (std::uint32_t i = 0; i < 4; ++i) {
        one.map(base + i * kPage, dram + frames[i] * kPage, i != 3);
        two.map(base + i * kPage, dram + (16 + frames[i]) * kPage, true);
      }
      one.map(kCommands, dram + 0x80000, false);
      two.map(kCommands, dram + 0x81000, false);
      for (const int engine : {Host::kNpu, Host::kDma})
        h.enable(engine, 0, 3, 1), h.enable(engine, 1, 0, 2);
      std::uint64_t value = 0;
      for (const Attack& attack : attacks) {
        INFO(attack.name);
        arch::QueueEntry evil = copy_job(h, attack.engine, 0x80000, kCommands - 0x80000,
                                         attack.from, attack.to, attack.bytes);
        if (attack.commands) evil.address = attack.commands;
        evil.signal[0] = point(1, ++value);
        arch::QueueEntry good = copy_job(h, attack.engine, 0x81000, kCommands - 0x81000, base + 100,
                                         base + 2 * kPage + 7, kPage);
        good.signal[0] = point(2, value);
        std::vector<std::uint8_t> expected(h.dram.host, h.dram.host + h.dram.bytes);
        std::vector<std::uint8_t> moved(kPage);
        for (std::uint32_t i = 0; i < kPage; ++i)
          moved[i] = expected[two.physical(base + 100 + i) - dram];
        for (std::uint32_t i = 0; i < kPage && !timing_only; ++i)
          expected[two.physical(base + 2 * kPage + 7 + i) - dram] = moved[i];
        // What lies before the edge is the hostile context's own: one byte of its page may change.
        if (std::string_view(attack.name).find("writable pages' edge") != std::string_view::npos &&
            !timing_only)
          expected[one.physical(base + 3 * kPage - 1) - dram] = expected[one.physical(base) - dram];

        h.submit(attack.engine, 0, evil);
        h.submit(attack.engine, 1, good);
        REQUIRE(h.wait(2, value));
        CHECK(h.failure(2) == SyncFailure::kNone);
        CHECK(h.value(2) == value);
        CHECK(h.state(attack.engine, 0) == RingState::kHalted);
        CHECK(h.cause(attack.engine, 0) == RingCause::kEngineFault);
        const auto fault = take_fault(h);
        REQUIRE(fault.has_value());
        CHECK(*fault == attack.fault);
        CHECK(h.failure(1) == SyncFailure::kNone);
        h.set(attack.engine, queue::kRing0Ctrl, 0, 2);
        settle(h, attack.engine, 0);
        CHECK(h.failure(1) == SyncFailure::kJobFailed);
        h.port.write32(arch::kSyncBase + sync::kClear, 2);
        h.port.invalidate(dram, h.dram.bytes);
        CHECK(std::memcmp(h.dram.host, expected.data(), expected.size()) == 0);
      }
    });
}

TEST_CASE(
    "tables that cannot be walked fault: none, outside memory, at registers, invalid levels") {
  on_board({}, false, [](Host& h) {
    fill(h, 1);
    Space space(h, 4);
    h.enable(Host::kDma, 0, 0, 4);
    const std::uint32_t iova = 0x20001000;
    space.map(kCommands, h.dram.address + 0x80000, false);
    space.map(iova, h.dram.address, true);
    const arch::QueueEntry job =
        copy_job(h, Host::kDma, 0x80000, kCommands - 0x80000, iova, iova + 2048, 512);
    const std::uint64_t table = arch::kIommuBase + iommu::kTable0 + 16;
    const std::uint32_t root = h.port.read32(table);
    const auto run = [&](bool fails, std::uint32_t address) {
      space.invalidate();
      h.port.clean(space.tables.address, space.tables.bytes);
      h.submit(Host::kDma, 0, job);
      settle(h, Host::kDma, 0);
      const auto fault = take_fault(h);
      CHECK(fault.has_value() == fails);
      if (!fails) return;
      if (fault) CHECK(*fault == Fault{address, IommuInitiator::kDmaRead, false, 4});
      CHECK(h.state(Host::kDma, 0) == RingState::kHalted);
      h.set(Host::kDma, queue::kRing0Ctrl, 0, 2);
      settle(h, Host::kDma, 0);
    };
    run(false, 0);
    for (const std::uint32_t bad : {0x70000001u, 0xFFFFF001u, 0x40050001u, 0x00000001u}) {
      h.port.write32(table, bad);
      run(true, kCommands);
    }
    h.port.write32(table, root);
    std::uint32_t& first = space.entry(0, iova >> 22);
    const std::uint32_t good = first;
    for (const std::uint32_t bad : {good & ~1u, 0xFFFFF001u, 0x40000001u}) {
      first = bad;
      run(true, iova);
    }
    first = good;
    space.leaf(iova) &= ~1u;
    run(true, iova);
    space.leaf(iova) |= 1;
    // Without a table: untranslated while BYPASS is set, refused otherwise.
    h.port.write32(table, 0);
    arch::QueueEntry plain =
        copy_job(h, Host::kDma, 0x80000, static_cast<std::uint32_t>(h.dram.address),
                 static_cast<std::uint32_t>(h.dram.address),
                 static_cast<std::uint32_t>(h.dram.address) + 0x9000, 512);
    h.submit(Host::kDma, 0, plain);
    settle(h, Host::kDma, 0);
    CHECK_FALSE(take_fault(h).has_value());
    h.port.invalidate(h.dram.address + 0x9000, 512);
    CHECK(std::memcmp(h.dram.host, h.dram.host + 0x9000, 512) == 0);
    h.port.write32(arch::kIommuBase + iommu::kControl, 0);
    h.submit(Host::kDma, 0, plain);
    settle(h, Host::kDma, 0);
    CHECK(take_fault(h) ==
          Fault{static_cast<std::uint32_t>(plain.address), IommuInitiator::kDmaRead, false, 4});
    h.enable(Host::kDma, 1, 0, 0);  // context 0 passes even so
    h.submit(Host::kDma, 1, plain);
    settle(h, Host::kDma, 1);
    CHECK_FALSE(take_fault(h).has_value());
    h.enable(Host::kDma, 2, 0, 12);  // contexts that do not exist have no table
    h.submit(Host::kDma, 2, plain);
    settle(h, Host::kDma, 2);
    CHECK(take_fault(h) ==
          Fault{static_cast<std::uint32_t>(plain.address), IommuInitiator::kDmaRead, false, 12});
  });
}

TEST_CASE("a translation stays until INVALIDATE, of its context alone") {
  on_board({}, false, [](Host& h) {
    Space one(h, 1), two(h, 2);
    const std::uint32_t iova = 0x30000000;
    for (Space* space : {&one, &two}) {
      space->map(kCommands, h.dram.address + 0x80000, false);
      space->map(iova, h.dram.address, false);
      space->map(iova + kPage, h.dram.address + (space == &one ? 8 : 9) * kPage, true);
    }
    h.enable(Host::kDma, 1, 0, 1), h.enable(Host::kDma, 2, 0, 2);
    const arch::QueueEntry job =
        copy_job(h, Host::kDma, 0x80000, kCommands - 0x80000, iova, iova + kPage, 256);
    const auto run = [&](std::uint32_t ring, std::uint8_t byte) {
      std::memset(h.dram.host, byte, kPage);
      h.port.clean(h.dram.address, kPage);
      h.submit(Host::kDma, ring, job);
      settle(h, Host::kDma, ring);
      h.port.invalidate(h.dram.address, h.dram.bytes);
    };
    const auto at = [&](std::uint32_t page) { return h.dram.host[page * kPage + 255]; };
    run(1, 10), run(2, 20);
    CHECK(at(8) == 10);
    CHECK(at(9) == 20);
    one.map(iova + kPage, h.dram.address + 10 * kPage, true);
    two.unmap(iova + kPage);
    run(1, 11), run(2, 21);  // both still go where they went
    CHECK(at(8) == 11);
    CHECK(at(9) == 21);
    CHECK(at(10) == 0);
    one.invalidate();
    run(1, 12), run(2, 22);
    CHECK(at(8) == 11);
    CHECK(at(10) == 12);
    CHECK(at(9) == 22);
    CHECK_FALSE(take_fault(h).has_value());
    two.invalidate();
    run(2, 23);
    CHECK(at(9) == 22);
    CHECK(take_fault(h) == Fault{iova + kPage, IommuInitiator::kDmaWrite, true, 2});
    two.map(iova + kPage, h.dram.address + 9 * kPage, true);  // a fault is not remembered
    h.set(Host::kDma, queue::kRing0Ctrl, 2, 1);
    settle(h, Host::kDma, 2);
    h.port.invalidate(h.dram.address, h.dram.bytes);
    CHECK(at(9) == 23);
  });
}

TEST_CASE("the first fault is kept until it is cleared, and raises the interrupt") {
  on_board({}, false, [](Host& h) {
    Space space(h, 1);
    space.map(kCommands, h.dram.address + 0x80000, false);
    h.enable(Host::kDma, 0, 0, 1);
    const auto line = static_cast<std::uint32_t>(arch::IrqLine::kIommu);
    h.port.write32(arch::kIntcBase + arch::intc_reg::kEnableSet, 1u << line);
    h.port.write32(arch::kIommuBase + iommu::kIrqEnable, 1);
    const auto attack = [&](std::uint32_t address) {
      h.submit(Host::kDma, 0,
               copy_job(h, Host::kDma, 0x80000, kCommands - 0x80000, address, address, 4));
      settle(h, Host::kDma, 0);
      h.set(Host::kDma, queue::kRing0Ctrl, 0, 2);
      settle(h, Host::kDma, 0);
    };
    CHECK_FALSE(h.port.wait_irq(line, h.port.now_ps() + 1'000'000));
    attack(0x11111110);
    CHECK(h.port.wait_irq(line, h.port.now_ps() + 1'000'000));
    attack(0x22222220);
    CHECK(take_fault(h) == Fault{0x11111110, IommuInitiator::kDmaRead, false, 1});
    h.port.write32(arch::kIntcBase + arch::intc_reg::kPending, 1u << line);
    CHECK_FALSE(take_fault(h).has_value());
    attack(0x33333330);
    CHECK(h.port.wait_irq(line, h.port.now_ps() + 1'000'000));
    CHECK(take_fault(h) == Fault{0x33333330, IommuInitiator::kDmaRead, false, 1});
    CHECK(h.port.read32(arch::kIommuBase + iommu::kFaultAddr) == 0);
  });
}

TEST_CASE("translation costs what its parameters say; without a context it costs nothing") {
  // A copy of 16 pages by DMA, in chunks of 512 bytes: 128 each way and the descriptor.
  const auto run = [](std::vector<std::string> sets, bool timing_only, std::uint32_t context,
                      bool table) {
    return on_board(sets, timing_only, [&](Host& h) {
      const auto base = static_cast<std::uint32_t>(h.dram.address);
      std::optional<Space> space;
      if (table) {
        space.emplace(h, context);
        space->map_range(base, base, h.dram.bytes, true);
      } else {
        h.port.write32(arch::kIommuBase + iommu::kTable0 + 4, 0);
      }
      h.enable(Host::kDma, 0, 0, context);
      arch::QueueEntry job =
          copy_job(h, Host::kDma, 0x80000, base, base, base + 32 * kPage, 16 * kPage);
      job.signal[0] = point(0, 1);
      h.submit(Host::kDma, 0, job);
      REQUIRE(h.wait(0, 1));
      CHECK(h.state(Host::kDma, 0) == RingState::kIdle);
    });
  };
  const auto events = [](const soc::RunRecord& r, const char* name) {
    return r.counters.at(std::string("iommu.") + name);
  };
  const auto off = run({}, false, 0, false), bypass = run({}, false, 1, false);
  CHECK(events(off, "hits") + events(off, "walks") == 0);
  CHECK(bypass.kernel_events == off.kernel_events);
  CHECK(bypass.end_ps == off.end_ps);
  CHECK(bypass.noc_traffic.count("iommu") == 0);

  const auto on = run({"iommu.entries=64"}, false, 1, true);
  CHECK(on.end_ps > off.end_ps);
  CHECK(events(on, "walks") == 33);  // 16 pages read, 16 written, the descriptor's
  CHECK(events(on, "hits") == 2 * 128 + 1 - 33);
  CHECK(on.noc_traffic.at("iommu").at("dram").read_bytes == 33 * 8);
  CHECK(on.noc_traffic.at("iommu").at("dram").transactions == 33 * 2);
  const auto small = run({"iommu.entries=1"}, false, 1, true);
  CHECK(events(small, "walks") + events(small, "hits") == 2 * 128 + 1);
  CHECK(events(small, "walks") > 33);
  CHECK(small.end_ps > on.end_ps);
  const auto timing = run({"iommu.entries=1"}, true, 1, true);
  CHECK(events(timing, "walks") == events(small, "walks"));
  CHECK(timing.end_ps == small.end_ps);
  CHECK(timing.kernel_events == small.kernel_events);
}

}  // namespace deputy::soc_test
