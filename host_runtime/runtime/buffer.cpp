#include "host_runtime/runtime/buffer.h"

#include <fmt/format.h>

#include <cstring>

namespace deputy::host_runtime {
using base::Error;
using base::ErrorKind;

namespace {
Error undefined_contents() {
  return {ErrorKind::kInput, "buffer",
          "its contents are undefined: the job that should have written it failed",
          "look at the job's fence before its results"};
}
}  // namespace

base::Result<Buffer> Buffer::make(BufferSpace& space, MemoryKind kind, std::uint64_t bytes,
                                  std::uint64_t align) {
  Buffer out;
  out.space_ = &space;
  out.storage_ = std::make_shared<Storage>(space);
  DEPUTY_ASSIGN(out.storage_->owned,
                SharedBuffer::make(space.port, kind, bytes, align, space.page));
  const SharedBuffer& owned = out.storage_->owned;
  out.storage_->memory = {owned.address(), bytes, owned.host()};
  out.bytes_ = bytes;
  return out;
}

Buffer Buffer::import(BufferSpace& space, const SharedMemory& memory, const MemoryTraits& traits) {
  Buffer out;
  out.space_ = &space;
  out.storage_ = std::make_shared<Storage>(space);
  out.storage_->memory = memory;
  out.bytes_ = memory.bytes;
  const RuntimeGuard guard(space.lock);
  if (traits.uncached) space.coherence.add_uncached(memory.address, memory.bytes);
  out.storage_->traits = traits;
  return out;
}

base::Status Buffer::fits(const BufferRequirements& wanted, const std::string& where) const {
  const auto refuse = [&](std::string what, std::string remedy) {
    return Error{ErrorKind::kInput, where, std::move(what), std::move(remedy)};
  };
  const std::uint64_t has = valid() ? bytes_ : 0;
  if (!valid() || has < wanted.bytes)
    return refuse(fmt::format("{} bytes are required, the buffer has {}", wanted.bytes, has), "");
  if (address() % wanted.alignment != 0)
    return refuse(fmt::format("address {:#x} is not a multiple of {}", address(), wanted.alignment),
                  "ask for the tensor's requirements before allocating");
  const MemoryTraits& is = traits();
  if (is.stride != 0 && wanted.stride != 0 && is.stride != wanted.stride)
    return refuse(fmt::format("the buffer's rows lie {} bytes apart, the tensor's {}", is.stride,
                              wanted.stride),
                  "have the rows written without gaps, or copy them together");
  if (is.uncached && wanted.cached)
    return refuse("the buffer is uncached, and the CPU computes with the tensor",
                  "import it through a cached mapping, or place the operators on the NPU");
  return {};
}

base::Status Buffer::inside(std::uint64_t offset, std::uint64_t bytes) const {
  if (offset <= bytes_ && bytes <= bytes_ - offset) return {};
  return Error{ErrorKind::kInput, "buffer",
               fmt::format("{} bytes at {} are not inside its {} bytes", bytes, offset, bytes_),
               ""};
}

base::Result<Buffer> Buffer::view(std::uint64_t offset, std::uint64_t bytes) const {
  DEPUTY_TRY(inside(offset, bytes));
  Buffer out = *this;
  out.offset_ += offset, out.bytes_ = bytes;
  return out;
}

base::Status Buffer::write(std::span<const std::uint8_t> data, std::uint64_t offset) {
  const RuntimeGuard guard(space_->lock);
  DEPUTY_TRY(inside(offset, data.size()));
  if (data.empty()) return {};
  const MemoryTouch touch{address() + offset, data.size(), true};
  space_->coherence.before_cpu_write(touch.address, touch.bytes);
  if (space_->port.functional()) std::memcpy(host() + offset, data.data(), data.size());
  space_->port.charge(CpuKernel::kCopy, touch.bytes, std::span(&touch, 1));
  space_->copied_bytes += touch.bytes;
  if (touch.bytes == storage_->memory.bytes) storage_->undefined = false;
  return {};
}

base::Status Buffer::copy_from(const Buffer& from, std::uint8_t flip) {
  const RuntimeGuard guard(space_->lock);
  if (from.bytes_ != bytes_)
    return Error{ErrorKind::kInput, "buffer",
                 fmt::format("{} bytes do not fill its {} bytes", from.bytes_, bytes_), ""};
  if (from.undefined()) return undefined_contents();
  if (bytes_ == 0) return {};
  const MemoryTouch touches[] = {{from.address(), bytes_, false}, {address(), bytes_, true}};
  space_->coherence.before_cpu_read(from.address(), bytes_);
  space_->coherence.before_cpu_write(address(), bytes_);
  if (space_->port.functional())
    for (std::uint64_t i = 0; i < bytes_; ++i)
      host()[i] = static_cast<std::uint8_t>(from.host()[i] ^ flip);
  space_->port.charge(CpuKernel::kCopy, bytes_, touches);
  space_->copied_bytes += bytes_;
  if (bytes_ == storage_->memory.bytes) storage_->undefined = false;
  return {};
}

base::Result<std::vector<std::uint8_t>> Buffer::read() const {
  const RuntimeGuard guard(space_->lock);
  if (undefined()) return undefined_contents();
  std::vector<std::uint8_t> out(bytes_);
  if (bytes_ == 0) return out;
  const MemoryTouch touch{address(), bytes_, false};
  space_->coherence.before_cpu_read(touch.address, touch.bytes);
  if (space_->port.functional()) std::memcpy(out.data(), host(), bytes_);
  space_->port.charge(CpuKernel::kCopy, touch.bytes, std::span(&touch, 1));
  space_->copied_bytes += touch.bytes;
  return out;
}

base::Result<std::span<std::uint8_t>> Buffer::map(Access access) {
  const RuntimeGuard guard(space_->lock);
  if (access != Access::kWrite) {
    if (undefined()) return undefined_contents();
    space_->coherence.before_cpu_read(address(), bytes_);
  }
  if (access != Access::kRead) {
    space_->coherence.before_cpu_write(address(), bytes_);
    storage_->undefined = false;
  }
  return std::span(host(), bytes_);
}

}  // namespace deputy::host_runtime
