// Shared memory that frees itself.
#pragma once

#include <algorithm>
#include <utility>

#include "base/result.h"
#include "deputy/hw_port.h"

namespace deputy::host_runtime {

class SharedBuffer {
 public:
  SharedBuffer() = default;
  SharedBuffer(SharedBuffer&& other) noexcept { *this = std::move(other); }
  SharedBuffer& operator=(SharedBuffer&& other) noexcept {
    std::swap(port_, other.port_);
    std::swap(memory_, other.memory_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~SharedBuffer() {
    if (port_) port_->free(memory_);
  }

  /// `port` must outlive the buffer. No bytes: no memory, and address 0. `page`: the buffer has
  /// whole pages of that many bytes to itself; 0: any place.
  static base::Result<SharedBuffer> make(HwPort& port, MemoryKind kind, std::uint64_t bytes,
                                         std::uint64_t align, std::uint64_t page = 0) {
    SharedBuffer buffer;
    if (bytes == 0) return buffer;
    const std::uint64_t room = page == 0 ? bytes : (bytes + page - 1) / page * page;
    DEPUTY_ASSIGN(buffer.memory_, port.alloc(kind, room, std::max(align, page)));
    buffer.port_ = &port;
    buffer.bytes_ = bytes;
    return buffer;
  }

  std::uint64_t address() const { return memory_.address; }
  std::uint64_t bytes() const { return bytes_; }  ///< as asked for; the port may have rounded up
  std::uint8_t* host() const { return memory_.host; }

 private:
  HwPort* port_ = nullptr;
  SharedMemory memory_;
  std::uint64_t bytes_ = 0;
};

}  // namespace deputy::host_runtime
