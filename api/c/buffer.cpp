// Buffers, fences and timelines.
#include <cstring>

#include "api/c/handles.h"
#include "api/handles.h"

using namespace deputy;
using namespace deputy::api::c;

namespace {

base::Result<MemoryKind> memory_kind(std::int32_t kind) {
  if (kind != DEPUTY_SRAM && kind != DEPUTY_DRAM)
    return api::bad_argument("kind", "there is no such memory");
  return static_cast<MemoryKind>(kind);
}
static_assert(DEPUTY_SRAM == static_cast<int>(MemoryKind::kSram) &&
              DEPUTY_DRAM == static_cast<int>(MemoryKind::kDram));
static_assert(DEPUTY_READ == static_cast<int>(Access::kRead) &&
              DEPUTY_WRITE == static_cast<int>(Access::kWrite) &&
              DEPUTY_READ_WRITE == static_cast<int>(Access::kReadWrite));
static_assert(DEPUTY_PENDING == static_cast<int>(FenceState::kPending) &&
              DEPUTY_REACHED == static_cast<int>(FenceState::kReached) &&
              DEPUTY_FAILED == static_cast<int>(FenceState::kFailed));

}  // namespace

extern "C" {

deputy_status deputy_buffer_create(const deputy_device* device,
                                   const deputy_requirements* requirements,
                                   deputy_buffer** buffer) {
  return guarded([&]() -> base::Status {
    DEPUTY_C_NEED(device);
    DEPUTY_C_NEED(requirements);
    DEPUTY_C_NEED(buffer);
    DEPUTY_ASSIGN(const MemoryKind kind, memory_kind(requirements->kind));
    DEPUTY_ASSIGN(auto made, Buffer::create(device->value, kind, requirements->bytes,
                                            requirements->alignment));
    *buffer = new deputy_buffer{std::move(made)};
    return {};
  });
}

deputy_status deputy_buffer_import(const deputy_device* device, const deputy_memory* memory,
                                   deputy_buffer** buffer) {
  return guarded([&]() -> base::Status {
    DEPUTY_C_NEED(device);
    DEPUTY_C_NEED(memory);
    DEPUTY_C_NEED(buffer);
    const SharedMemory shared{memory->address, memory->bytes,
                              static_cast<std::uint8_t*>(memory->host)};
    DEPUTY_ASSIGN(auto made,
                  Buffer::import(device->value, shared, {memory->stride, memory->uncached != 0}));
    *buffer = new deputy_buffer{std::move(made)};
    return {};
  });
}

deputy_status deputy_buffer_export(const deputy_buffer* buffer, deputy_memory* memory) {
  return guarded([&]() -> base::Status {
    DEPUTY_C_NEED(buffer);
    DEPUTY_C_NEED(memory);
    const SharedMemory out = buffer->value.exported();
    const MemoryTraits traits = buffer->value.traits();
    *memory = {out.address, out.bytes, out.host, traits.stride, traits.uncached};
    return {};
  });
}

deputy_status deputy_buffer_fits(const deputy_buffer* buffer,
                                 const deputy_requirements* requirements) {
  return guarded([&]() -> base::Status {
    DEPUTY_C_NEED(buffer);
    DEPUTY_C_NEED(requirements);
    const deputy_requirements& r = *requirements;
    DEPUTY_ASSIGN(const MemoryKind kind, memory_kind(r.kind));
    return buffer->value.fits({r.bytes, r.alignment, kind, r.stride, r.cached != 0});
  });
}

deputy_status deputy_buffer_view(const deputy_buffer* buffer, uint64_t offset, uint64_t bytes,
                                 deputy_buffer** part) {
  return guarded([&]() -> base::Status {
    DEPUTY_C_NEED(buffer);
    DEPUTY_C_NEED(part);
    DEPUTY_ASSIGN(auto made, buffer->value.view(offset, bytes));
    *part = new deputy_buffer{std::move(made)};
    return {};
  });
}

void deputy_buffer_destroy(deputy_buffer* buffer) { delete buffer; }

deputy_status deputy_buffer_write(const deputy_buffer* buffer, uint64_t offset, const void* data,
                                  uint64_t bytes) {
  return guarded([&]() -> base::Status {
    DEPUTY_C_NEED(buffer);
    DEPUTY_C_NEED(data || bytes == 0);
    return buffer->value.write({static_cast<const std::uint8_t*>(data), bytes}, offset);
  });
}

deputy_status deputy_buffer_read(const deputy_buffer* buffer, void* data, uint64_t bytes) {
  return guarded([&]() -> base::Status {
    DEPUTY_C_NEED(buffer);
    DEPUTY_C_NEED(data);
    if (bytes != buffer->value.bytes())
      return api::bad_argument("buffer", "it has another number of bytes");
    DEPUTY_ASSIGN(const auto read, buffer->value.read());
    std::memcpy(data, read.data(), read.size());
    return {};
  });
}

deputy_status deputy_buffer_map(const deputy_buffer* buffer, int32_t access, void** data,
                                uint64_t* bytes) {
  return guarded([&]() -> base::Status {
    DEPUTY_C_NEED(buffer);
    DEPUTY_C_NEED(data);
    DEPUTY_C_NEED(bytes);
    if (access < DEPUTY_READ || access > DEPUTY_READ_WRITE)
      return api::bad_argument("access", "there is no such access");
    DEPUTY_ASSIGN(const auto mapped, buffer->value.map(static_cast<Access>(access)));
    *data = mapped.data(), *bytes = mapped.size();
    return {};
  });
}

deputy_status deputy_buffer_unmap(const deputy_buffer* buffer) {
  return guarded([&]() -> base::Status {
    DEPUTY_C_NEED(buffer);
    buffer->value.unmap();
    return {};
  });
}

void deputy_fence_destroy(deputy_fence* fence) { delete fence; }

deputy_status deputy_fence_state(const deputy_fence* fence, int32_t* state) {
  return guarded([&]() -> base::Status {
    DEPUTY_C_NEED(fence);
    DEPUTY_C_NEED(state);
    *state = static_cast<int32_t>(fence->value.state());
    return {};
  });
}

deputy_status deputy_fence_wait(const deputy_fence* fence, uint64_t deadline_ps) {
  return guarded([&]() -> base::Status {
    DEPUTY_C_NEED(fence);
    return fence->value.wait(deadline_ps);
  });
}

deputy_status deputy_fence_wait_any(const deputy_fence* const* list, uint32_t count,
                                    uint64_t deadline_ps, uint32_t* index) {
  return guarded([&]() -> base::Status {
    DEPUTY_C_NEED(index);
    DEPUTY_ASSIGN(const auto any, fences(list, count));
    DEPUTY_ASSIGN(const std::size_t over, wait_any(any, deadline_ps));
    *index = static_cast<uint32_t>(over);
    return {};
  });
}

deputy_status deputy_timeline_create(const deputy_device* device, deputy_timeline** timeline) {
  return guarded([&]() -> base::Status {
    DEPUTY_C_NEED(device);
    DEPUTY_C_NEED(timeline);
    DEPUTY_ASSIGN(auto made, Timeline::create(device->value));
    *timeline = new deputy_timeline{std::move(made)};
    return {};
  });
}

void deputy_timeline_destroy(deputy_timeline* timeline) { delete timeline; }

deputy_status deputy_timeline_fence(const deputy_timeline* timeline, uint64_t value,
                                    deputy_fence** fence) {
  return guarded([&]() -> base::Status {
    DEPUTY_C_NEED(timeline);
    DEPUTY_C_NEED(fence);
    *fence = make(timeline->value.at(value));
    return {};
  });
}

deputy_status deputy_timeline_signal(const deputy_timeline* timeline, uint64_t value) {
  return guarded([&]() -> base::Status {
    DEPUTY_C_NEED(timeline);
    return timeline->value.signal(value);
  });
}

deputy_status deputy_timeline_fail(const deputy_timeline* timeline) {
  return guarded([&]() -> base::Status {
    DEPUTY_C_NEED(timeline);
    timeline->value.fail();
    return {};
  });
}

}  // extern "C"
