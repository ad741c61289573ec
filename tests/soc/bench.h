// A mini board for the SoC's parts: a host thread that runs a lambda, spare initiators, the
// interconnect, both memories, the interrupt controller, the DMA engine and its IOMMU; no NPU.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "arch/dma_descriptor.h"
#include "dma/dma_engine.h"
#include "soc/dram.h"
#include "soc/intc.h"
#include "soc/interconnect.h"
#include "soc/iommu.h"
#include "soc/soc_config.h"
#include "soc/sram.h"
#include "soc/tlm_port.h"

namespace deputy::soc_test {

class Board : public sc_core::sc_module {
 public:
  struct Options {
    soc::SocConfig config;
    std::vector<int> priorities = {2, 3, 4};  ///< one spare initiator each
    int outstanding = 4;                      ///< of the spare initiators
    bool functional = true;
  };
  Board(sc_core::sc_module_name name, const Options& options, std::function<void(Board&)> program);

  sim::Clock clock;  ///< of the interconnect and the SRAM
  soc::Interconnect noc;
  soc::Sram sram;
  soc::Dram dram;
  soc::Intc intc;
  dma::DmaEngine dma;
  soc::Iommu iommu;
  sim::BusInitiator host;
  std::vector<std::unique_ptr<sim::BusInitiator>> spare;  ///< "spare0", "spare1", ...
  soc::TlmPort port;

  // For the program, which runs as a SystemC thread.
  std::uint32_t read(std::uint64_t address) { return port.read32(address); }
  void write(std::uint64_t address, std::uint32_t value) { port.write32(address, value); }
  double now_ns() const { return static_cast<double>(sc_core::sc_time_stamp().value()) / 1000; }
  double cycles_since(double start_ns) const {
    return (now_ns() - start_ns) * 1000 / static_cast<double>(clock.period_ps());
  }
  void wait_cycles(std::uint64_t n) { sc_core::wait(clock.cycles(n)); }
  std::uint8_t* at(std::uint64_t address) {
    return address >= dram.base() ? dram.host_pointer(address) : sram.host_pointer(address);
  }
  /// Fills memory with bytes that depend on the address and `seed`.
  void fill(std::uint64_t address, std::uint64_t bytes, std::uint32_t seed);
  /// Runs `bytes` through `initiator` in chunks and waits for the last one.
  void stream(sim::BusInitiator& initiator, std::uint64_t address, std::uint64_t bytes,
              std::uint32_t chunk, bool write = false);
  /// Starts another thread; join() waits for all of them.
  sc_core::sc_process_handle spawn(std::function<void()> body);
  void join();

 private:
  void host_thread();
  std::function<void(Board&)> program_;
  std::vector<sc_core::sc_process_handle> threads_;
};

/// Builds a board, runs the program to its end and clears the SystemC kernel. Rethrows what it
/// threw.
void simulate(const Board::Options& options, const std::function<void(Board&)>& program);

/// Bytes that an initiator, the interconnect (from it) and a memory counted.
struct Books {
  std::uint64_t initiators = 0, interconnect = 0, memories = 0;
};
Books books(const Board& board);

}  // namespace deputy::soc_test
