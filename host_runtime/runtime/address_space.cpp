#include "host_runtime/runtime/address_space.h"

#include <fmt/format.h>

namespace deputy::host_runtime {

AddressSpace::~AddressSpace() {
  if (isolated()) iommu_->close(context_);
}

base::Status AddressSpace::map(std::uint64_t address, std::uint64_t bytes, bool writable) {
  const std::uint64_t first = address / arch::kPageBytes * arch::kPageBytes;
  for (std::uint64_t page = first; page < address + bytes; page += arch::kPageBytes) {
    Page& p = pages_[page];
    base::Status status;
    if (p.users == 0) {
      status = iommu_->map(context_, page, page, arch::kPageBytes, writable);
      p.writable = writable;
    } else if (writable && !p.writable) {
      status = base::Error{
          base::ErrorKind::kUsage, "iommu",
          fmt::format("page {:#x} is mapped read-only and cannot become writable", page),
          "keep what engines write on pages of its own"};
    }
    if (!status.ok()) {
      if (p.users == 0) pages_.erase(page);
      if (page > first) unmap(first, page - first);
      return status;
    }
    ++p.users;
  }
  return {};
}

void AddressSpace::unmap(std::uint64_t address, std::uint64_t bytes) {
  for (std::uint64_t page = address / arch::kPageBytes * arch::kPageBytes; page < address + bytes;
       page += arch::kPageBytes) {
    const auto at = pages_.find(page);
    if (at == pages_.end() || --at->second.users != 0) continue;
    pages_.erase(at);
    // The page is mapped: pages_ says so.
    (void)iommu_->unmap(context_, page, arch::kPageBytes);
  }
}

}  // namespace deputy::host_runtime
