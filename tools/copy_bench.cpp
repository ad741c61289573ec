#include "tools/copy_bench.h"

#include "host_runtime/runtime/device.h"
#include "soc/books.h"
#include "soc/platform.h"
#include "tools/simulate.h"

namespace deputy::tools {
namespace {

using host_runtime::Access;
using host_runtime::Buffer;
using host_runtime::Device;

constexpr std::uint64_t kForever = ~std::uint64_t{0};

base::Result<CopyRow> measure(Device& device, std::uint64_t bytes) {
  HwPort& port = device.port();
  CopyRow row;
  row.bytes = bytes;
  DEPUTY_ASSIGN(const auto context, device.default_context());
  DEPUTY_ASSIGN(Buffer from,
                Buffer::make(device.space(), MemoryKind::kDram, bytes, host_runtime::kCacheLine));
  DEPUTY_ASSIGN(Buffer to,
                Buffer::make(device.space(), MemoryKind::kDram, bytes, host_runtime::kCacheLine));
  const auto timed = [&](std::uint64_t& ps, const auto& work) -> base::Status {
    const std::uint64_t start = port.now_ps();
    DEPUTY_TRY(work());
    ps = port.now_ps() - start;
    return {};
  };
  const auto clean = [](const Buffer& buffer) -> base::Status {
    buffer.before_engine();
    return {};
  };
  from.after_engine_write();
  DEPUTY_TRY(timed(row.invalidate_ps, [&]() -> base::Status {
    DEPUTY_TRY(from.map(Access::kReadWrite));
    return {};
  }));
  DEPUTY_TRY(timed(row.clean_ps, [&] { return clean(from); }));
  from.after_engine_write();
  DEPUTY_TRY(timed(row.copy_ps, [&]() -> base::Status {
    DEPUTY_TRY(to.copy_from(from));
    return clean(to);
  }));
  DEPUTY_TRY(timed(row.dma_ps, [&]() -> base::Status {
    DEPUTY_ASSIGN(const auto fence, device.copy(context, to, from, {}));
    return device.wait(fence, kForever);
  }));
  return row;
}

}  // namespace

base::Result<std::vector<CopyRow>> measure_copies(const soc::SocConfig& soc,
                                                  const std::vector<std::uint64_t>& sizes) {
  std::vector<CopyRow> out;
  soc::Platform platform(soc, {.timing_only = true});
  DEPUTY_ASSIGN(const auto record, platform.run([&](HwPort& port) -> base::Status {
    Device device(port, {.board = board_times(soc, false)});
    DEPUTY_TRY(
        measure(device, host_runtime::kCacheLine));  // the first of all brings the drivers up
    for (const std::uint64_t bytes : sizes) {
      DEPUTY_ASSIGN(out.emplace_back(), measure(device, bytes));
    }
    return {};
  }));
  DEPUTY_TRY(soc::balanced(soc.name, record.imbalances));
  return out;
}

base::Result<std::uint64_t> dma_pays_from(const soc::SocConfig& soc, std::uint64_t limit) {
  std::uint64_t low = 0,
                high = limit / host_runtime::kCacheLine;  // lines; it does not pay at `low`
  const auto pays = [&](std::uint64_t lines) -> base::Result<bool> {
    DEPUTY_ASSIGN(const auto rows, measure_copies(soc, {lines * host_runtime::kCacheLine}));
    return rows[0].dma_ps < rows[0].copy_ps;
  };
  DEPUTY_ASSIGN(const bool ever, pays(high));
  if (!ever) return std::uint64_t{0};
  while (high - low > 1) {
    const std::uint64_t middle = (low + high) / 2;
    DEPUTY_ASSIGN(const bool here, pays(middle));
    (here ? high : low) = middle;
  }
  return high * host_runtime::kCacheLine;
}

}  // namespace deputy::tools
