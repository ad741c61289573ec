#include "deputy/buffer.h"

#include <fmt/format.h>

#include <bit>

#include "api/handles.h"

namespace deputy {

Buffer api::make_buffer(const DevicePtr& device, std::shared_ptr<SessionImpl> session,
                        host_runtime::Buffer buffer) {
  return Buffer(
      std::make_shared<BufferImpl>(BufferImpl{device, std::move(session), std::move(buffer)}));
}

namespace {
base::Error no_memory() {
  return api::bad_argument("buffer", "it is of no memory", "create it first");
}
}  // namespace

base::Result<Buffer> Buffer::create(const Device& device, MemoryKind kind, std::uint64_t bytes,
                                    std::uint64_t alignment) {
  if (bytes == 0) return api::bad_argument("buffer", "no bytes");
  if (!std::has_single_bit(alignment) || alignment > 1 << 20)
    return api::bad_argument("buffer", fmt::format("an alignment of {}", alignment),
                             "use a power of two up to 1 MiB");
  DEPUTY_ASSIGN(auto buffer,
                host_runtime::Buffer::make(device.impl()->device.space(), kind, bytes, alignment));
  return api::make_buffer(device.impl(), nullptr, std::move(buffer));
}

base::Result<Buffer> Buffer::create(const Device& device, const BufferRequirements& requirements) {
  return create(device, requirements.kind, requirements.bytes, requirements.alignment);
}

base::Result<Buffer> Buffer::import(const Device& device, const SharedMemory& memory,
                                    const MemoryTraits& traits) {
  if (memory.bytes == 0 || memory.host == nullptr)
    return api::bad_argument("buffer", "an import of no memory");
  if (traits.uncached && (memory.address % host_runtime::kCacheLine != 0 ||
                          memory.bytes % host_runtime::kCacheLine != 0))
    return api::bad_argument("buffer", "uncached memory that is not made of whole cache lines",
                             fmt::format("align it to {} bytes", host_runtime::kCacheLine));
  auto buffer = host_runtime::Buffer::import(device.impl()->device.space(), memory,
                                             {traits.stride, traits.uncached});
  return api::make_buffer(device.impl(), nullptr, std::move(buffer));
}

SharedMemory Buffer::exported() const { return impl_ ? impl_->buffer.exported() : SharedMemory{}; }
std::uint64_t Buffer::bytes() const { return impl_ ? impl_->buffer.bytes() : 0; }

MemoryTraits Buffer::traits() const {
  if (!impl_) return {};
  const host_runtime::MemoryTraits& is = impl_->buffer.traits();
  return {is.stride, is.uncached};
}

base::Status Buffer::fits(const BufferRequirements& wanted) const {
  if (!impl_) return no_memory();
  if (wanted.alignment == 0) return api::bad_argument("buffer", "an alignment of 0");
  return impl_->buffer.fits(
      {wanted.bytes, wanted.alignment, wanted.kind, wanted.stride, wanted.cached}, "buffer");
}

base::Result<Buffer> Buffer::view(std::uint64_t offset, std::uint64_t bytes) const {
  if (!impl_) return no_memory();
  DEPUTY_ASSIGN(auto part, impl_->buffer.view(offset, bytes));
  return api::make_buffer(impl_->device, impl_->session, std::move(part));
}

base::Status Buffer::write(std::span<const std::uint8_t> data, std::uint64_t offset) const {
  return impl_ ? impl_->buffer.write(data, offset) : no_memory();
}

base::Result<std::vector<std::uint8_t>> Buffer::read() const {
  if (!impl_) return no_memory();
  return impl_->buffer.read();
}

base::Result<std::span<std::uint8_t>> Buffer::map(Access access) const {
  if (!impl_) return no_memory();
  switch (access) {
    case Access::kRead:
      return impl_->buffer.map(host_runtime::Access::kRead);
    case Access::kWrite:
      return impl_->buffer.map(host_runtime::Access::kWrite);
    case Access::kReadWrite:
      return impl_->buffer.map(host_runtime::Access::kReadWrite);
  }
  return api::bad_argument("buffer", "no such access");
}

void Buffer::unmap() const {
  if (impl_) impl_->buffer.unmap();
}

bool Buffer::undefined() const { return impl_ && impl_->buffer.undefined(); }

}  // namespace deputy
