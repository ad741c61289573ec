// What the engines can reach for one context: pages of shared memory, mapped at their bus
// addresses. Users may share a page; it goes when the last of them does. Without an IOMMU in use
// everything can be reached.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "host_runtime/hal/iommu_driver.h"

namespace deputy::host_runtime {

class AddressSpace {
 public:
  /// `context` 0: everything can be reached. Else opened by the caller; closed here. `iommu` must
  /// outlive this.
  AddressSpace(IommuDriver* iommu, std::uint32_t context) : iommu_(iommu), context_(context) {}
  ~AddressSpace();
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;

  bool isolated() const { return context_ != 0; }
  std::uint32_t context() const { return context_; }
  /// The pages of [address, address + bytes). A page that is mapped read-only stays so until its
  /// last user goes: mapping it writable then is kUsage. Fails when there is no memory for tables;
  /// nothing is mapped then.
  base::Status map(std::uint64_t address, std::uint64_t bytes, bool writable);
  /// After every job that uses them.
  void unmap(std::uint64_t address, std::uint64_t bytes);

 private:
  struct Page {
    int users = 0;
    bool writable = false;
  };
  IommuDriver* iommu_;
  std::uint32_t context_;
  std::map<std::uint64_t, Page> pages_;  ///< by address
};

/// A mapping that undoes itself.
class Mapping {
 public:
  Mapping() = default;
  Mapping(Mapping&& other) noexcept { *this = std::move(other); }
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(space_, other.space_);
    std::swap(address_, other.address_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Mapping() {
    if (space_) space_->unmap(address_, bytes_);
  }
  static base::Result<Mapping> make(std::shared_ptr<AddressSpace> space, std::uint64_t address,
                                    std::uint64_t bytes, bool writable) {
    Mapping out;
    if (!space || !space->isolated() || bytes == 0) return out;
    DEPUTY_TRY(space->map(address, bytes, writable));
    out.space_ = std::move(space), out.address_ = address, out.bytes_ = bytes;
    return out;
  }

 private:
  std::shared_ptr<AddressSpace> space_;
  std::uint64_t address_ = 0, bytes_ = 0;
};

}  // namespace deputy::host_runtime
