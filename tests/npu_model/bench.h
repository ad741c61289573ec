// A test bench for the NPU: three ports into one simple memory, and a host program that drives
// registers.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <functional>
#include <systemc>
#include <vector>

#include "arch/isa.h"
#include "npu_model/npu.h"

namespace deputy::npu_test {

inline constexpr std::uint64_t kMemoryBase = 0x80000000, kMemoryBytes = 1 << 20;

/// One shared data path of 8 bytes a cycle and a latency of 20 cycles after it; requests queue in
/// order of arrival. Reports time as delay, or waits itself when `blocking`.
class TestMemory : public sc_core::sc_module {
 public:
  TestMemory(sc_core::sc_module_name name, sc_core::sc_time cycle, bool blocking);

  tlm_utils::simple_target_socket<TestMemory> load, load_constants, store, command;
  std::vector<std::uint8_t> bytes;
  std::uint64_t bad_address = ~std::uint64_t{0};  ///< a transaction that touches this byte fails
  std::uint64_t transactions = 0, null_transactions = 0, moved_bytes = 0;

 private:
  void transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  sc_core::sc_time cycle_, busy_until_;
  bool blocking_;
};

class Bench : public sc_core::sc_module {
 public:
  /// The configuration that the tests' cycle counts were worked out for.
  static arch::NpuConfig hand_worked_config() {
    arch::NpuConfig config;
    config.vec.ew_lanes = 4;
    config.vec.out_lanes = 4;
    config.ctrl.start_cycles = 8;
    return config;
  }
  struct Options {
    arch::NpuConfig config = hand_worked_config();
    bool timing_only = false, blocking_memory = false;
  };
  Bench(sc_core::sc_module_name name, const Options& options, std::function<void(Bench&)> host);

  // For the host program, which runs as a SystemC thread.
  std::uint32_t read(std::uint32_t offset);
  void write(std::uint32_t offset, std::uint32_t value);
  tlm::tlm_response_status access(tlm::tlm_command command, std::uint64_t offset,
                                  std::uint32_t& value, unsigned bytes);
  void wait_cycles(std::uint64_t n) { wait(cycle * static_cast<double>(n)); }
  void wait_interrupt(std::uint64_t at_most) {
    wait(cycle * static_cast<double>(at_most), interrupt_event);
  }
  /// Writes the stream at kMemoryBase, region 0 = the whole memory, enables both interrupts,
  /// starts.
  void start(const std::vector<arch::Instruction>& program);
  /// Starts and waits for the interrupt (at most a million cycles); returns STATUS.
  std::uint32_t run(const std::vector<arch::Instruction>& program);
  void write_stream(const std::vector<std::uint32_t>& words);

  sc_core::sc_time cycle;
  TestMemory memory;
  npu_model::NpuEngine npu;
  bool interrupt = false;
  sc_core::sc_event interrupt_event;

 private:
  void host_thread();
  std::function<void(Bench&)> host_;
  tlm_utils::simple_initiator_socket<Bench> registers_;
};

/// Elaborates a bench, runs the host program to its end, and clears the SystemC kernel for the next
/// one.
void simulate(const Bench::Options& options, const std::function<void(Bench&)>& host);

/// An instruction with its tag and the counts it waits for.
arch::Instruction make(const arch::Operation& op, std::uint32_t wait_load = 0,
                       std::uint32_t wait_compute = 0, std::uint32_t wait_store = 0,
                       std::uint16_t tag = 0);
arch::Load load(std::uint32_t spm, std::uint64_t offset, std::uint32_t bytes);
arch::Store store(std::uint32_t spm, std::uint64_t offset, std::uint32_t bytes);

}  // namespace deputy::npu_test
