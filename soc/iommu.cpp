#include "soc/iommu.h"

#include <algorithm>
#include <cstring>

#include "arch/memory_map.h"
#include "arch/queue_entry.h"
#include "sim/bus_context.h"
#include "sim/process.h"
#include "sim/register_access.h"

namespace deputy::soc {
namespace reg = arch::iommu_reg;

namespace {
constexpr std::uint32_t kOffsetMask = arch::kPageBytes - 1;
constexpr std::uint32_t kFaultValid = 1u << 31, kFaultWrite = 1u << 4;
}  // namespace

Iommu::Iommu(sc_core::sc_module_name name, const IommuConfig& config, const sim::Clock& clock,
             std::function<void(bool)> irq)
    : sc_module(name),
      registers("registers"),
      walker("iommu", 1),
      config_(config),
      clock_(clock),
      irq_(std::move(irq)),
      file_(arch::iommu_registers()) {
  registers.register_b_transport(this, &Iommu::b_transport);
}

Iommu::Stream& Iommu::add_stream(arch::IommuInitiator master) {
  streams_.push_back(std::make_unique<Stream>(master));
  Stream& stream = *streams_.back();
  stream.in.register_b_transport(this, &Iommu::translate, static_cast<int>(streams_.size()) - 1);
  return stream;
}

bool Iommu::enabled(std::uint32_t context) const {
  return context != 0 && context < arch::kContexts &&
         (file_.get(reg::kTable0 + 4 * context) & 1) != 0;
}
bool Iommu::passes(std::uint32_t context) const {
  return context == 0 || (!enabled(context) && (file_.get(reg::kControl) & 1) != 0);
}

void Iommu::translate(int id, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  Stream& stream = *streams_[static_cast<std::size_t>(id)];
  const sim::BusContext* extension = nullptr;
  payload.get_extension(extension);
  const std::uint32_t context = extension ? extension->context : 0;
  if (passes(context)) return stream.out->b_transport(payload, delay);

  const std::uint64_t address = payload.get_address();
  const std::uint64_t offset = address & kOffsetMask;
  // Two pages may lie anywhere: a burst is in one. The masters cut theirs at 4 KiB (AXI asks for
  // it).
  if (payload.get_data_length() > arch::kPageBytes - offset)
    return payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
  std::optional<Page> page;
  if (enabled(context) && address >> 32 == 0)
    page = look_up(context, static_cast<std::uint32_t>(address) / arch::kPageBytes);
  if (!page || (payload.is_write() && !page->writable)) {
    record_fault(stream.master, context, address, payload.is_write());
    return payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  }
  payload.set_address(page->frame |
                      offset);  // stays so: the master's books count where the bytes went
  stream.out->b_transport(payload, delay);
}

std::optional<Iommu::Page> Iommu::cached(const Key& key) {
  const auto it = iotlb_.find(key);
  if (it == iotlb_.end()) return std::nullopt;
  ++hits_;
  it->second.used = ++uses_;
  return it->second;
}

std::optional<Iommu::Page> Iommu::look_up(std::uint32_t context, std::uint32_t page) {
  const Key key{context, page};
  if (config_.hit_cycles > 0)
    sim::wait_for(clock_.cycles(static_cast<std::uint64_t>(config_.hit_cycles)));
  if (const auto hit = cached(key)) return hit;
  while (walking_) sim::wait_on(walked_);
  if (const auto hit = cached(key)) return hit;  // another master's walk has brought it meanwhile
  // A thread may be killed in the middle of its walk (end of simulation): the walker is free again
  // all the same.
  struct Turn {
    Iommu& iommu;
    explicit Turn(Iommu& i) : iommu(i) { iommu.walking_ = true; }
    ~Turn() {
      iommu.walking_ = false;
      iommu.walked_.notify(sc_core::SC_ZERO_TIME);
    }
  } turn(*this);
  for (;;) {
    if (!enabled(context)) return std::nullopt;
    const std::uint64_t generation = generation_[context];
    ++walks_;
    auto found = walk(key);
    if (generation != generation_[context])
      continue;  // what it read may be older than the INVALIDATE
    if (!found) return std::nullopt;
    if (iotlb_.size() >= static_cast<std::size_t>(config_.entries))
      iotlb_.erase(std::min_element(iotlb_.begin(), iotlb_.end(), [](const auto& a, const auto& b) {
        return a.second.used < b.second.used;
      }));
    found->used = ++uses_;
    iotlb_[key] = *found;
    return found;
  }
}

std::optional<Iommu::Page> Iommu::walk(const Key& key) {
  const auto& [context, page] = key;
  const std::uint32_t root = file_.get(reg::kTable0 + 4 * context) & ~kOffsetMask;
  const auto first = read_entry(root, page / arch::kPageTableEntries);
  if (!first || !(*first & arch::kPageValid)) return std::nullopt;
  const auto second = read_entry(*first & ~kOffsetMask, page % arch::kPageTableEntries);
  if (!second || !(*second & arch::kPageValid)) return std::nullopt;
  return Page{*second & ~kOffsetMask, (*second & arch::kPageWritable) != 0};
}

// nullopt when no memory is there. Registers are never read for a table: some reads have effects.
std::optional<std::uint32_t> Iommu::read_entry(std::uint32_t table, std::uint32_t index) {
  const auto inside = [&](const arch::MemoryRange& r) {
    return table >= r.base && table - r.base < r.size;
  };
  if (!inside(arch::kSramRange) && !inside(arch::kDramRange)) return std::nullopt;
  std::uint32_t value = 0;
  if (!walker.issue(table + std::uint64_t{4} * index, reinterpret_cast<std::uint8_t*>(&value), 4,
                    false))
    return std::nullopt;
  walker.drain();
  return value;
}

void Iommu::record_fault(arch::IommuInitiator master, std::uint32_t context, std::uint64_t address,
                         bool write) {
  ++faults_;
  if (file_.get(reg::kFault) & kFaultValid) return;
  file_.set(reg::kFault, kFaultValid | static_cast<std::uint32_t>(master) << 8 |
                             (write ? kFaultWrite : 0) | context);
  file_.set(reg::kFaultAddr, static_cast<std::uint32_t>(address));
  file_.set(reg::kIrqStatus, 1);
  update_irq();
}

void Iommu::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  sim::register_access(
      payload, delay, [&](std::uint32_t offset) { return file_.find(offset) != nullptr; },
      [&](std::uint32_t offset) { return file_.bus_read(offset); },
      [&](std::uint32_t offset, std::uint32_t value) { write_register(offset, value); });
}

void Iommu::write_register(std::uint32_t offset, std::uint32_t value) {
  file_.bus_write(offset, value);
  if (offset == reg::kInvalidate)
    for (std::uint32_t context = 0; context < arch::kContexts; ++context)
      if (value >> context & 1) invalidate(context);
  if (offset == reg::kFaultClear && (value & 1))
    file_.set(reg::kFault, 0), file_.set(reg::kFaultAddr, 0);
  update_irq();
}

void Iommu::invalidate(std::uint32_t context) {
  ++generation_[context];
  std::erase_if(iotlb_, [&](const auto& entry) { return entry.first.first == context; });
}

void Iommu::update_irq() { irq_((file_.get(reg::kIrqStatus) & file_.get(reg::kIrqEnable)) != 0); }

}  // namespace deputy::soc
