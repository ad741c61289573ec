// The reference device: a fake port whose engines do real work. The NPU's programs run in the plain
// interpreter (npu_interpreter.h), the DMA engine's descriptors in loops written from their
// description, and some of the planned faults of docs/faults.md happen. No caches, no bus, no
// contention: what is left is what the contract says.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "host_runtime/ports/fake_port.h"
#include "sim/fault_plan.h"

namespace deputy::test {

class ReferenceDevice : public host_runtime::FakePort {
 public:
  /// Faults of a kind that faults_it_has() does not name are a failed check.
  explicit ReferenceDevice(const arch::NpuConfig& npu, const sim::FaultPlan& faults = {});
  static std::vector<sim::FaultKind> faults_it_has();

  /// Drops planned doorbells.
  void write32(std::uint64_t address, std::uint32_t value) override;

  /// A job's part that has been done; jobs take a microsecond and one for every KiB that they move.
  static constexpr std::uint64_t kJobPs = 1'000'000, kPsPerByte = 1'000;

 protected:
  /// An engine was given a job. The default ends it when its time has passed.
  virtual void on_start(Device engine);
  /// What will become of the job; before complete().
  void prepare(Device engine);
  /// Does the work of the engine's job in memory now, and ends it.
  void complete(Device engine);
  /// A job that has not ended and will not by itself.
  bool hangs(Device engine) const { return fates_.contains(engine) && fates_.at(engine).hang; }

 private:
  /// What will become of a job, known when it starts: faults count what engines take up.
  struct Fate {
    std::optional<std::size_t> fault_at;  ///< the command or descriptor that fails
    bool hang = false;
    std::uint64_t bytes = 0;  ///< that it moves
    std::uint64_t factor = 1;
  };
  struct Error {
    std::uint32_t code = 0, info = 0;  ///< code 0: none
    std::uint64_t address = 0;
  };
  Fate fate(Device engine);
  Error run_npu(const Fate& fate);
  Error run_dma(const Fate& fate);
  std::vector<std::uint32_t> words_at(std::uint64_t address, std::uint64_t count);
  std::uint64_t reg64(Device device, std::uint32_t low) const {
    return get(device, low) | std::uint64_t{get(device, low + 4)} << 32;
  }
  /// Counts an event of this kind; true when it is planned to go wrong.
  bool hit(sim::FaultKind kind, const std::string& target, const sim::Fault** which = nullptr);

  arch::NpuConfig config_;
  sim::FaultPlan faults_;
  std::vector<std::int64_t> seen_;  ///< events by fault
  std::map<Device, Fate> fates_;
};

}  // namespace deputy::test
