#include "arch/registers.h"

namespace deputy::arch {
namespace {
#define DEPUTY_REGISTER_ROW(constant, name, offset, access, reset, mask, doc) \
  {name, offset, Access::access, reset, mask, doc},
constexpr RegisterInfo kNpu[] = {DEPUTY_NPU_REGISTERS(DEPUTY_REGISTER_ROW)};
constexpr RegisterInfo kDma[] = {DEPUTY_DMA_REGISTERS(DEPUTY_REGISTER_ROW)};
constexpr RegisterInfo kIntc[] = {DEPUTY_INTC_REGISTERS(DEPUTY_REGISTER_ROW)};
constexpr RegisterInfo kQueue[] = {DEPUTY_QUEUE_REGISTERS(DEPUTY_REGISTER_ROW)};
constexpr RegisterInfo kSync[] = {DEPUTY_SYNC_REGISTERS(DEPUTY_REGISTER_ROW)};
constexpr RegisterInfo kIommu[] = {DEPUTY_IOMMU_REGISTERS(DEPUTY_REGISTER_ROW)};
constexpr RegisterInfo kEcc[] = {DEPUTY_ECC_REGISTERS(DEPUTY_REGISTER_ROW)};
#undef DEPUTY_REGISTER_ROW
}  // namespace

std::span<const RegisterInfo> npu_registers() { return kNpu; }
std::span<const RegisterInfo> dma_registers() { return kDma; }
std::span<const RegisterInfo> intc_registers() { return kIntc; }
std::span<const RegisterInfo> queue_registers() { return kQueue; }
std::span<const RegisterInfo> sync_registers() { return kSync; }
std::span<const RegisterInfo> iommu_registers() { return kIommu; }
std::span<const RegisterInfo> ecc_registers() { return kEcc; }

std::string_view access_name(Access access) {
  constexpr std::string_view kNames[] = {"RO", "RW", "WO", "W1C", "W1S"};
  return kNames[static_cast<int>(access)];
}

std::span<const PmuEventInfo> pmu_events() {
#define DEPUTY_PMU_EVENT(constant, name, number, doc) {name, PmuEvent::constant, doc},
  static constexpr PmuEventInfo kEvents[] = {DEPUTY_PMU_EVENTS(DEPUTY_PMU_EVENT)};
#undef DEPUTY_PMU_EVENT
  return kEvents;
}

std::string_view npu_error_text(NpuError error) {
  switch (error) {
    case NpuError::kNone:
      return "no error";
    case NpuError::kTruncated:
      return "the command stream ends inside an instruction or without END";
    case NpuError::kUnknownOpcode:
      return "unknown opcode";
    case NpuError::kBadLength:
      return "instruction length does not fit its opcode";
    case NpuError::kBadField:
      return "instruction field out of range";
    case NpuError::kBadWait:
      return "wait on an instruction that is not earlier in the stream";
    case NpuError::kSpmBounds:
      return "scratchpad address out of bounds";
    case NpuError::kRegionBounds:
      return "transfer leaves its region";
    case NpuError::kBus:
      return "bus error";
    case NpuError::kAccumulators:
      return "more sums than accumulators";
    case NpuError::kUnsupported:
      return "combination of fields that the datapath does not support";
    case NpuError::kCompression:
      return "malformed code table or compressed stream";
    case NpuError::kParity:
      return "parity error in the command stream";
    case NpuError::kInternal:
      return "the engine's own checks failed";
  }
  return "unknown error";
}

std::string_view dma_error_text(DmaError error) {
  switch (error) {
    case DmaError::kNone:
      return "no error";
    case DmaError::kBadDescriptor:
      return "malformed descriptor";
    case DmaError::kBus:
      return "bus error";
    case DmaError::kParity:
      return "parity error in a descriptor";
    case DmaError::kInternal:
      return "the engine's own checks failed";
  }
  return "unknown error";
}

std::string_view iommu_initiator_text(IommuInitiator initiator) {
  switch (initiator) {
    case IommuInitiator::kNpuCommand:
      return "npu.cmd";
    case IommuInitiator::kNpuLoad:
      return "npu.load";
    case IommuInitiator::kNpuStore:
      return "npu.store";
    case IommuInitiator::kDmaRead:
      return "dma.read";
    case IommuInitiator::kDmaWrite:
      return "dma.write";
    case IommuInitiator::kDsp:
      return "dsp.dma";
  }
  return "unknown initiator";
}

std::string_view ring_cause_text(RingCause cause) {
  switch (cause) {
    case RingCause::kNone:
      return "no halt";
    case RingCause::kEngineFault:
      return "the engine ended the job with a fault";
    case RingCause::kAborted:
      return "the driver aborted the job";
    case RingCause::kBadEntry:
      return "malformed ring entry";
    case RingCause::kBus:
      return "the ring entry could not be read";
    case RingCause::kBusy:
      return "the engine works on a job started through its own registers";
    case RingCause::kParity:
      return "parity error in the ring entry";
    case RingCause::kOverflow:
      return "the doorbell names more entries than the ring has";
  }
  return "unknown cause";
}

std::string_view sync_failure_text(SyncFailure failure) {
  switch (failure) {
    case SyncFailure::kNone:
      return "no failure";
    case SyncFailure::kJobFailed:
      return "the job that should have signalled failed";
    case SyncFailure::kUpstream:
      return "a timeline that the job waited for failed";
    case SyncFailure::kNotIncreasing:
      return "a signal did not exceed the timeline's value";
    case SyncFailure::kCancelled:
      return "the host cancelled it";
    case SyncFailure::kDeadline:
      return "its deadline passed";
  }
  return "unknown failure";
}
}  // namespace deputy::arch
