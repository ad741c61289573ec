// Memory that host and engines share, by reference. A copy of a Buffer is the same memory; it is
// freed with the last one. Three ways to move data through it, with their costs:
//
//   copy      write() and read(): the CPU copies, and the bytes are counted
//   map       map() ... unmap(): the CPU works in place, and only cache lines are maintained
//   zero copy an engine or a device writes, an engine reads: the CPU touches nothing
//
// Cache maintenance is the runtime's: it knows who wrote each line last (coherence.h) and does what
// is needed before the other side touches it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "deputy/hw_port.h"
#include "host_runtime/runtime/coherence.h"
#include "host_runtime/runtime/lock.h"
#include "host_runtime/runtime/shared_buffer.h"

namespace deputy::host_runtime {

/// What a tensor asks of a buffer that is bound to it.
struct BufferRequirements {
  std::uint64_t bytes = 0;              ///< at least
  std::uint64_t alignment = 1;          ///< of its bus address
  MemoryKind kind = MemoryKind::kDram;  ///< the memory the program was compiled for; others work,
                                        ///< at another speed
  std::uint64_t stride = 0;             ///< from one row to the next; 0: it has one row only
  bool cached = false;                  ///< the CPU computes with it
};

/// What whoever owns imported memory knows of it.
struct MemoryTraits {
  std::uint64_t stride = 0;  ///< bytes from one row to the next; 0: it has no rows of its own
  bool uncached =
      false;  ///< the CPU's mapping goes past its cache: whole lines, and nothing to maintain
};

/// What buffers of one device share. It must outlive them, and so must its port.
struct BufferSpace {
  explicit BufferSpace(HwPort& p) : port(p), lock(p), coherence(p) {}
  HwPort& port;
  RuntimeLock lock;
  Coherence coherence;
  std::uint64_t copied_bytes = 0;  ///< by the CPU, in and out
  std::uint64_t page = 0;  ///< buffers have whole pages of this many bytes to themselves; 0:
                           ///< engines are not isolated
};

enum class Access : std::uint8_t { kRead, kWrite, kReadWrite };

class Buffer {
 public:
  Buffer() = default;
  /// Fails with kConfig when the memory is full. `align`: a power of two.
  static base::Result<Buffer> make(BufferSpace& space, MemoryKind kind, std::uint64_t bytes,
                                   std::uint64_t align);
  /// Memory that somebody else owns and keeps until the last copy of this buffer is gone: a
  /// sensor's ring, say. Uncached memory must be whole cache lines.
  static Buffer import(BufferSpace& space, const SharedMemory& memory,
                       const MemoryTraits& traits = {});

  bool valid() const { return storage_ != nullptr; }
  std::uint64_t address() const { return storage_->memory.address + offset_; }
  std::uint64_t bytes() const { return bytes_; }
  std::uint8_t* host() const { return storage_->memory.host + offset_; }
  /// A part of the same memory. kInput when it is not inside.
  base::Result<Buffer> view(std::uint64_t offset, std::uint64_t bytes) const;
  /// For import elsewhere; valid as long as this buffer.
  SharedMemory exported() const { return {address(), bytes_, host()}; }

  const MemoryTraits& traits() const { return storage_->traits; }
  /// kInput, about `where`, says what a tensor requires and the buffer has not got.
  base::Status fits(const BufferRequirements& wanted, const std::string& where) const;

  /// Copies into the buffer; the source is the program's own memory. Takes time.
  base::Status write(std::span<const std::uint8_t> data, std::uint64_t offset = 0);
  /// The CPU copies all of `from`, of the same size, each byte XORed with `flip`: 0x80 turns offset
  /// binary into two's complement on the way. Fails with kInput when sizes differ or the source is
  /// undefined. Takes time.
  base::Status copy_from(const Buffer& from, std::uint8_t flip = 0);
  /// Copies out. Fails with kInput while the contents are undefined. Takes time.
  base::Result<std::vector<std::uint8_t>> read() const;

  /// The CPU's view for reading, writing or both, until unmap(). Reading fails with kInput while
  /// the contents are undefined. Takes the time of the maintenance; what the CPU does there the
  /// caller charges.
  base::Result<std::span<std::uint8_t>> map(Access access);
  /// What was written is published before an engine needs it; nothing else is to be done.
  void unmap() {}

  /// Before a job of an engine that reads or writes these bytes, and after one that wrote them.
  void before_engine() const { space_->coherence.before_engine(address(), bytes_); }
  void after_engine_write() const { space_->coherence.after_engine_write(address(), bytes_); }

  /// A job that should have written the buffer failed: nobody may take its bytes for a result.
  void set_undefined(bool undefined) { storage_->undefined = undefined; }
  bool undefined() const { return storage_ && storage_->undefined; }

 private:
  struct Storage {
    explicit Storage(BufferSpace& s) : space(s) {}
    ~Storage() {
      if (traits.uncached) space.coherence.take_uncached(memory.address, memory.bytes);
    }
    BufferSpace& space;
    SharedBuffer owned;
    SharedMemory memory;
    MemoryTraits traits;
    bool undefined = false;
  };
  base::Status inside(std::uint64_t offset, std::uint64_t bytes) const;

  BufferSpace* space_ = nullptr;
  std::shared_ptr<Storage> storage_;
  std::uint64_t offset_ = 0, bytes_ = 0;
};

/// For whoever cannot work on an input whose contents are undefined.
inline base::Error undefined_input(const std::string& where) {
  return {base::ErrorKind::kInput, where,
          "an input's contents are undefined: the job that should have written it failed", ""};
}

}  // namespace deputy::host_runtime
