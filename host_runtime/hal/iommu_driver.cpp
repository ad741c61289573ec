#include "host_runtime/hal/iommu_driver.h"

#include <algorithm>
#include <string>

#include "arch/memory_map.h"
#include "host_runtime/hal/text.h"

namespace deputy::host_runtime {
namespace {
namespace reg = arch::iommu_reg;
using arch::kPageBytes, arch::kPageTableEntries;
using base::Error;

constexpr std::uint64_t kSpanBytes =
    std::uint64_t{kPageBytes} * kPageTableEntries;  ///< of a second-level table
constexpr std::uint32_t kEnabled = 1, kFaultValid = 1u << 31;

Error misuse(std::string message, std::string remedy) {
  return {base::ErrorKind::kUsage, "iommu", std::move(message), std::move(remedy)};
}

// Tables are little-endian words, whatever the host is.
std::uint32_t load(const std::uint8_t* p) {
  return p[0] | std::uint32_t{p[1]} << 8 | std::uint32_t{p[2]} << 16 | std::uint32_t{p[3]} << 24;
}
void store(std::uint8_t* p, std::uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) *p++ = static_cast<std::uint8_t>(value >> shift);
}
}  // namespace

IommuDriver::~IommuDriver() {
  for (std::uint32_t context = 1; context < arch::kContexts; ++context) close(context);
}

base::Status IommuDriver::probe() {
  const std::uint32_t expected = arch::iommu_registers()[0].reset;
  if (const std::uint32_t id = read(reg::kId); id != expected)
    return Error{base::ErrorKind::kHardwareFault, "iommu",
                 "ID reads " + hex(id) + " instead of " + hex(expected),
                 "no IOMMU of this version is at its address"};
  write(reg::kControl, 0);
  for (std::uint32_t context = 1; context < arch::kContexts; ++context) {
    write(reg::kTable0 + 4 * context, 0);
    invalidate(context);
    close(context);
  }
  take_fault();
  write(reg::kIrqEnable, 1);
  intc_.enable(arch::IrqLine::kIommu);
  return {};
}

base::Result<SharedMemory> IommuDriver::new_table() {
  DEPUTY_ASSIGN(SharedMemory table, port_.alloc(MemoryKind::kDram, kPageBytes, kPageBytes));
  port_.clean(table.address, table.bytes);  // the zeros, too, are the CPU's writes
  return table;
}

base::Status IommuDriver::open(std::uint32_t context) {
  if (context == 0 || context >= arch::kContexts)
    return misuse("there is no context " + std::to_string(context) + " to open",
                  "contexts 1 to " + std::to_string(arch::kContexts - 1) + " have page tables");
  Space& space = spaces_[context];
  if (space.root.bytes != 0)
    return misuse("context " + std::to_string(context) + " is open already", "close it first");
  DEPUTY_ASSIGN(space.root, new_table());
  space.second.assign(kPageTableEntries, SharedMemory{});
  invalidate(context);
  write(reg::kTable0 + 4 * context, static_cast<std::uint32_t>(space.root.address) | kEnabled);
  return {};
}

base::Result<IommuDriver::Space*> IommuDriver::space_of(std::uint32_t context) {
  if (context >= arch::kContexts || spaces_[context].root.bytes == 0)
    return misuse("context " + std::to_string(context) + " is not open", "open it first");
  return &spaces_[context];
}

base::Status IommuDriver::check_range(std::uint64_t iova, std::uint64_t bytes) {
  constexpr std::uint64_t kEnd = std::uint64_t{1} << 32;
  if (iova % kPageBytes != 0 || bytes % kPageBytes != 0 || bytes == 0)
    return misuse("the range of " + std::to_string(bytes) + " bytes at " + hex(iova) +
                      " is not made of whole pages",
                  "addresses and lengths are multiples of " + std::to_string(kPageBytes));
  if (iova >= kEnd || bytes > kEnd - iova)
    return misuse("the range of " + std::to_string(bytes) + " bytes at " + hex(iova) +
                      " does not lie below 4 GiB",
                  "an IOMMU address has 32 bits");
  return {};
}

std::uint8_t* IommuDriver::entry(const Space& space, std::uint64_t iova) {
  const SharedMemory& table = space.second[iova / kSpanBytes];
  return table.bytes == 0 ? nullptr : table.host + iova / kPageBytes % kPageTableEntries * 4;
}

base::Status IommuDriver::reserve(Space& space, std::uint64_t iova, std::uint64_t bytes) {
  const std::size_t begin = iova / kSpanBytes, end = (iova + bytes - 1) / kSpanBytes + 1;
  std::vector<std::size_t> added;
  for (std::size_t i = begin; i < end; ++i) {
    if (space.second[i].bytes != 0) continue;
    auto table = new_table();
    if (!table.ok()) {
      for (const std::size_t j : added) port_.free(space.second[j]), space.second[j] = {};
      return table.error();
    }
    space.second[i] = *table;
    added.push_back(i);
  }
  for (const std::size_t i : added) {
    store(space.root.host + i * 4,
          static_cast<std::uint32_t>(space.second[i].address) | arch::kPageValid);
    port_.clean(space.root.address + i * 4, 4);
  }
  return {};
}

void IommuDriver::fill(const Space& space, std::uint64_t iova, std::uint64_t bytes,
                       std::uint32_t first) {
  for (std::uint64_t at = 0; at < bytes; at += kPageBytes)
    store(entry(space, iova + at), first == 0 ? 0 : first + static_cast<std::uint32_t>(at));
  for (std::uint64_t at = iova; at < iova + bytes;) {  // one clean a table
    const std::uint64_t end = std::min(iova + bytes, at / kSpanBytes * kSpanBytes + kSpanBytes);
    const SharedMemory& table = space.second[at / kSpanBytes];
    port_.clean(table.address + at / kPageBytes % kPageTableEntries * 4,
                (end - at) / kPageBytes * 4);
    at = end;
  }
}

base::Status IommuDriver::map(std::uint32_t context, std::uint64_t iova, std::uint64_t physical,
                              std::uint64_t bytes, bool writable) {
  DEPUTY_ASSIGN(Space * space, space_of(context));
  DEPUTY_TRY(check_range(iova, bytes));
  DEPUTY_TRY(check_range(physical, bytes));
  for (std::uint64_t at = iova; at < iova + bytes; at += kPageBytes)
    if (const std::uint8_t* here = entry(*space, at); here && load(here) != 0)
      return misuse(
          "the page at " + hex(at) + " is mapped already in context " + std::to_string(context),
          "unmap it first");
  DEPUTY_TRY(reserve(*space, iova, bytes));
  fill(*space, iova, bytes,
       static_cast<std::uint32_t>(physical) | arch::kPageValid |
           (writable ? arch::kPageWritable : 0));
  return {};
}

base::Status IommuDriver::unmap(std::uint32_t context, std::uint64_t iova, std::uint64_t bytes) {
  DEPUTY_ASSIGN(Space * space, space_of(context));
  DEPUTY_TRY(check_range(iova, bytes));
  for (std::uint64_t at = iova; at < iova + bytes; at += kPageBytes)
    if (const std::uint8_t* here = entry(*space, at); !here || load(here) == 0)
      return misuse(
          "the page at " + hex(at) + " is not mapped in context " + std::to_string(context),
          "unmap what was mapped");
  fill(*space, iova, bytes, 0);
  invalidate(context);
  return {};
}

void IommuDriver::invalidate(std::uint32_t context) { write(reg::kInvalidate, 1u << context); }

void IommuDriver::close(std::uint32_t context) {
  Space& space = spaces_[context];
  if (space.root.bytes == 0) return;
  write(reg::kTable0 + 4 * context, 0);
  invalidate(context);
  for (const SharedMemory& table : space.second)
    if (table.bytes != 0) port_.free(table);
  port_.free(space.root);
  space = {};
}

std::optional<IommuFault> IommuDriver::take_fault() {
  const std::uint32_t fault = read(reg::kFault);
  std::optional<IommuFault> out;
  if (fault & kFaultValid)
    out = IommuFault{read(reg::kFaultAddr), static_cast<arch::IommuInitiator>(fault >> 8 & 0xFF),
                     fault & 0xF, (fault >> 4 & 1) != 0};
  // The fault goes last: until then no other is recorded, so no edge of the line comes between the
  // acknowledgements.
  write(reg::kIrqStatus, 1);
  intc_.acknowledge(arch::IrqLine::kIommu);
  write(reg::kFaultClear, 1);
  return out;
}

}  // namespace deputy::host_runtime
