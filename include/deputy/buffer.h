// Memory that host and engines share, by reference: a copy of a Buffer is the same memory, freed
// with the last one. Three ways to move data through it:
//
//   copy       write() and read(): the CPU copies, and Device::copied_bytes() counts it
//   map        map() ... unmap(): the CPU works in place; only cache lines are maintained
//   zero copy  an engine or a device writes and an engine reads: the CPU touches nothing
//
// Caches are the runtime's business: it cleans and invalidates what each side needs.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "deputy/hw_port.h"

namespace deputy {

namespace api {
struct BufferImpl;
}

class Device;

/// What a tensor asks of a buffer that is bound to it.
struct BufferRequirements {
  std::uint64_t bytes = 0;              ///< at least
  std::uint64_t alignment = 1;          ///< of its bus address
  MemoryKind kind = MemoryKind::kDram;  ///< what the program was compiled for; other memory works,
                                        ///< at another speed
  /// Bytes from one row to the next: rows follow each other without gaps. A row is the tensor's
  /// last dimension, or the last two when it has more (of an image: its pixels and channels). 0:
  /// there is one row only.
  std::uint64_t stride = 0;
  bool cached = false;  ///< the CPU computes with it, or may have to: uncached memory is refused
};

/// What whoever owns imported memory says of it.
struct MemoryTraits {
  std::uint64_t stride =
      0;  ///< bytes from one row to the next; 0: the memory has no rows of its own
  /// The CPU's mapping goes past its cache: the runtime maintains nothing there. The simulated SoC
  /// has only cached mappings: of its memory this is true as long as the CPU stays away.
  bool uncached = false;
};

enum class Access : std::uint8_t { kRead, kWrite, kReadWrite };

class Buffer {
 public:
  /// No memory; what takes a buffer refuses it with kInput.
  Buffer() = default;
  /// Zeroed memory. `alignment`: a power of two. kInput: it is none, or no bytes; kConfig: the
  /// memory is full.
  static base::Result<Buffer> create(const Device& device, MemoryKind kind, std::uint64_t bytes,
                                     std::uint64_t alignment = 64);
  /// Memory that fits the requirements.
  static base::Result<Buffer> create(const Device& device, const BufferRequirements& requirements);
  /// Memory that somebody else owns, a sensor's ring say, and keeps until the last copy of this
  /// buffer is gone. kInput: there is none, or it is uncached and not made of whole cache lines (64
  /// bytes).
  static base::Result<Buffer> import(const Device& device, const SharedMemory& memory,
                                     const MemoryTraits& traits = {});
  /// For import elsewhere; valid as long as this buffer. All zero for no memory.
  SharedMemory exported() const;

  bool valid() const { return impl_ != nullptr; }
  std::uint64_t bytes() const;
  MemoryTraits traits() const;  ///< as imported
  /// Whether it can be bound where this is required; kInput says what is wrong. The kind of memory
  /// is no condition.
  base::Status fits(const BufferRequirements& wanted) const;
  /// A part of the same memory. kInput when it is not inside.
  base::Result<Buffer> view(std::uint64_t offset, std::uint64_t bytes) const;

  /// Copies `data`, the program's own memory, to `offset`. Takes time, waits for nothing.
  base::Status write(std::span<const std::uint8_t> data, std::uint64_t offset = 0) const;
  /// Copies everything out. kInput while the contents are undefined: the work that should have
  /// written them failed.
  base::Result<std::vector<std::uint8_t>> read() const;

  /// The CPU's view until unmap(); valid as long as the buffer. kInput as for read(). Nobody else
  /// may use the memory meanwhile. What the CPU computes there is the program's to charge
  /// (HwPort::charge).
  base::Result<std::span<std::uint8_t>> map(Access access) const;
  void unmap() const;

  /// The contents are no result: the work that should have written them failed.
  bool undefined() const;

  explicit Buffer(std::shared_ptr<api::BufferImpl> impl)
      : impl_(std::move(impl)) {}                                         ///< the runtime's
  const std::shared_ptr<api::BufferImpl>& impl() const { return impl_; }  ///< the runtime's

 private:
  std::shared_ptr<api::BufferImpl> impl_;
};

}  // namespace deputy
