// The IOMMU's driver against a register file and plain memory: the tables it leaves are walked here
// as hardware would.
#include "host_runtime/hal/iommu_driver.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <map>
#include <random>

#include "host_runtime/ports/fake_port.h"

using namespace deputy;
using namespace deputy::host_runtime;
namespace reg = deputy::arch::iommu_reg;

namespace {
constexpr std::uint64_t kPage = arch::kPageBytes, kMiB = 1 << 20;

// FakePort with the IOMMU's registers; remembers what was written and which bytes are still in the
// CPU's cache.
class Port : public FakePort {
 public:
  arch::RegisterFile iommu{arch::iommu_registers()};
  std::vector<std::uint32_t> invalidated;

  std::uint32_t read32(std::uint64_t address) override {
    return ours(address) ? iommu.bus_read(offset(address)) : FakePort::read32(address);
  }
  void write32(std::uint64_t address, std::uint32_t value) override {
    if (!ours(address)) return FakePort::write32(address, value);
    iommu.bus_write(offset(address), value);
    if (offset(address) == reg::kInvalidate) invalidated.push_back(value);
    if (offset(address) == reg::kFaultClear && (value & 1)) iommu.set(reg::kFault, 0);
  }
  void clean(std::uint64_t address, std::uint64_t bytes) override {
    FakePort::clean(address, bytes);
    for (std::uint64_t i = 0; i < bytes; ++i) memory_[address + i] = *at(address + i);
  }
  // What the device sees: only what has been cleaned.
  std::uint32_t word(std::uint64_t address) {
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i) {
      // Never cleaned: hardware would read what lay there before.
      if (memory_.count(address + i) != 1)
        FAIL("an entry at " << std::hex << address << " that only the cache has");
      value |= std::uint32_t{memory_[address + i]} << 8 * i;
    }
    return value;
  }
  // address | writable bit 1 | valid bit 0; 0: no translation.
  std::uint32_t walk(std::uint32_t context, std::uint64_t iova) {
    const std::uint32_t root = iommu.get(reg::kTable0 + 4 * context);
    if (!(root & 1)) return 0;
    const std::uint32_t first = word((root & 0xFFFFF000) + (iova >> 22) * 4);
    if (!(first & 1)) return 0;
    const std::uint32_t second = word((first & 0xFFFFF000) + (iova >> 12 & 1023) * 4);
    return second & 1 ? second : 0;
  }

 private:
  static bool ours(std::uint64_t address) {
    return address >= arch::kIommuBase && address - arch::kIommuBase < kPage;
  }
  static std::uint32_t offset(std::uint64_t address) {
    return static_cast<std::uint32_t>(address - arch::kIommuBase);
  }
  std::map<std::uint64_t, std::uint8_t> memory_;
};

struct Rig {
  Port port;
  IntcDriver intc{port};
  IommuDriver iommu{port, intc};
  Rig() { REQUIRE(iommu.probe().ok()); }
};

std::string refusal(const base::Status& status) {
  return status.ok() ? "" : status.error().message;
}

}  // namespace

TEST_CASE("random maps and unmaps leave tables that walk to what was asked for") {
  Rig rig;
  REQUIRE(rig.iommu.open(1).ok());
  REQUIRE(rig.iommu.open(7).ok());
  std::map<std::uint64_t, std::uint32_t> pages[8];  // what should be, by page address
  std::mt19937 random(3);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  int mapped = 0, refused = 0, unmapped = 0;
  for (int round = 0; round < 300; ++round) {
    const std::uint32_t context = below(2) ? 1 : 7;
    // Around three boundaries: of second levels, and the end of the address space.
    const std::uint64_t middle[] = {4 * kMiB, 0xC0000000ull, 0xFFFF0000ull};
    const std::uint64_t iova = middle[below(3)] - 16 * kPage + below(32) * kPage,
                        bytes = (1 + below(20)) * kPage;
    const std::uint32_t physical = arch::kDramBase + below(1000) * kPage;
    bool all = true, none = true;
    for (std::uint64_t at = iova; at < iova + bytes; at += kPage)
      pages[context].count(at) ? none = false : all = false;
    const bool beyond = iova + bytes > std::uint64_t{1} << 32;
    if (below(3) != 0) {
      const bool writable = below(2);
      const base::Status status = rig.iommu.map(context, iova, physical, bytes, writable);
      CHECK(status.ok() == (none && !beyond));
      for (std::uint64_t at = 0; status.ok() && at < bytes; at += kPage)
        pages[context][iova + at] =
            (physical + static_cast<std::uint32_t>(at)) | (writable ? 3 : 1);
      ++(status.ok() ? mapped : refused);
    } else {
      rig.port.invalidated.clear();
      const base::Status status = rig.iommu.unmap(context, iova, bytes);
      CHECK(status.ok() == (all && !beyond));
      CHECK(rig.port.invalidated == (status.ok() ? std::vector<std::uint32_t>{1u << context}
                                                 : std::vector<std::uint32_t>{}));
      for (std::uint64_t at = 0; status.ok() && at < bytes; at += kPage)
        pages[context].erase(iova + at);
      unmapped += status.ok();
    }
    for (const std::uint32_t c : {1u, 7u})
      for (const std::uint64_t m : middle)
        for (std::uint64_t at = m - 17 * kPage; at < m + 40 * kPage && at >> 32 == 0; at += kPage) {
          const auto it = pages[c].find(at);
          const std::uint32_t want = it == pages[c].end() ? 0 : it->second;
          if (rig.port.walk(c, at) != want)
            FAIL(std::hex << "page " << at << " of context " << c << ": " << rig.port.walk(c, at)
                          << ", not " << want);
        }
  }
  CHECK(mapped > 20);
  CHECK(refused > 20);
  CHECK(unmapped > 5);
  rig.iommu.close(7);
  CHECK(rig.port.walk(7, 4 * kMiB) == 0);
  CHECK(rig.port.iommu.get(reg::kTable7) == 0);
}

TEST_CASE("what the IOMMU cannot express is refused with a reason, and changes nothing") {
  Rig rig;
  CHECK(rig.port.iommu.get(reg::kControl) == 0);  // no context passes by default any more
  CHECK_THAT(refusal(rig.iommu.map(1, 0, arch::kDramBase, kPage, true)),
             Catch::Contains("context 1 is not open"));
  CHECK_THAT(refusal(rig.iommu.open(0)), Catch::Contains("no context 0"));
  CHECK_THAT(refusal(rig.iommu.open(8)), Catch::Contains("no context 8"));
  REQUIRE(rig.iommu.open(1).ok());
  CHECK_THAT(refusal(rig.iommu.open(1)), Catch::Contains("open already"));
  const std::size_t tables = rig.port.allocations();
  CHECK_THAT(refusal(rig.iommu.map(1, 0x1001, arch::kDramBase, kPage, true)),
             Catch::Contains("at 0x1001 is not made of whole pages"));
  CHECK_THAT(refusal(rig.iommu.map(1, 0x1000, arch::kDramBase + 64, kPage, true)),
             Catch::Contains("at 0x80000040 is not made of whole pages"));
  CHECK_THAT(refusal(rig.iommu.map(1, 0x1000, arch::kDramBase, 100, true)),
             Catch::Contains("range of 100 bytes"));
  CHECK_THAT(refusal(rig.iommu.map(1, 0x1000, arch::kDramBase, 0, true)),
             Catch::Contains("range of 0 bytes"));
  CHECK_THAT(refusal(rig.iommu.map(1, 0xFFFFF000, arch::kDramBase, 2 * kPage, true)),
             Catch::Contains("below 4 GiB"));
  CHECK_THAT(refusal(rig.iommu.map(1, 0x1000, 0xFFFFF000, 2 * kPage, true)),
             Catch::Contains("below 4 GiB"));
  CHECK_THAT(refusal(rig.iommu.map(1, ~std::uint64_t{kPage - 1}, arch::kDramBase, kPage, true)),
             Catch::Contains("below 4 GiB"));
  CHECK_THAT(refusal(rig.iommu.unmap(1, 0x1000, kPage)), Catch::Contains("0x1000 is not mapped"));
  CHECK(rig.port.allocations() == tables);

  // Two second levels are needed, and there is room for one.
  rig.port.limit_memory(MemoryKind::kDram, (tables + 1) * kPage);
  const base::Status full = rig.iommu.map(1, 4 * kMiB - kPage, arch::kDramBase, 2 * kPage, true);
  CHECK_FALSE(full.ok());
  CHECK(rig.port.allocations() == tables);
  CHECK(rig.port.walk(1, 4 * kMiB - kPage) == 0);
  rig.port.limit_memory(MemoryKind::kDram, kMiB);
  CHECK(rig.iommu.map(1, 4 * kMiB - kPage, arch::kDramBase, 2 * kPage, true).ok());
}

TEST_CASE("a shared block maps at its own address, and a driver gives every table back") {
  Port port;
  IntcDriver intc(port);
  {
    IommuDriver iommu(port, intc);
    REQUIRE(iommu.probe().ok());
    const SharedMemory block{arch::kSramBase + 8 * kPage, 3 * kPage, nullptr};
    REQUIRE(iommu.open(2).ok());
    REQUIRE(iommu.map(2, block, false).ok());
    for (std::uint64_t at = 0; at < block.bytes; at += kPage)
      CHECK(port.walk(2, block.address + at) == ((block.address + at) | 1));
    CHECK(port.walk(2, block.address + block.bytes) == 0);
    CHECK(port.walk(2, block.address - 1) == 0);
    const SharedMemory odd{arch::kSramBase, 100, nullptr};
    CHECK_FALSE(iommu.map(2, odd, true).ok());
    CHECK(port.allocations() == 2);
    CHECK(iommu.probe().ok());  // a second one begins anew
    CHECK(port.allocations() == 0);
    REQUIRE(iommu.open(2).ok());
  }
  CHECK(port.allocations() == 0);
  CHECK(port.iommu.get(reg::kTable2) == 0);
}

TEST_CASE("a fault is told once and cleared") {
  Rig rig;
  CHECK_FALSE(rig.iommu.take_fault().has_value());
  rig.port.iommu.set(reg::kFault, 1u << 31 | 2u << 8 | 1u << 4 | 5);
  rig.port.iommu.set(reg::kFaultAddr, 0x12345678);
  rig.port.iommu.set(reg::kIrqStatus, 1);
  const auto fault = rig.iommu.take_fault();
  REQUIRE(fault.has_value());
  CHECK(fault->address == 0x12345678);
  CHECK(fault->initiator == arch::IommuInitiator::kNpuStore);
  CHECK(fault->context == 5);
  CHECK(fault->write);
  CHECK(rig.port.iommu.get(reg::kIrqStatus) == 0);
  CHECK_FALSE(rig.iommu.take_fault().has_value());
}

TEST_CASE("another device at the IOMMU's address is not driven") {
  FakePort port;  // nobody there
  IntcDriver intc(port);
  IommuDriver iommu(port, intc);
  CHECK_THAT(iommu.probe().error().message, Catch::Contains("0xffffffff instead of 0x44504d01"));
}
