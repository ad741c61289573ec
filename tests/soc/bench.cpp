#include "tests/soc/bench.h"

#include <algorithm>
#include <exception>

#include "arch/memory_map.h"
#include "sim/reset.h"

// libsystemc refers to it; Catch has the main of this program.
int sc_main(int, char**) { return 0; }

namespace deputy::soc_test {
namespace {

dma::DmaParams dma_params(const soc::DmaEngineConfig& c, bool functional) {
  return {c.clock_mhz, c.chunk_bytes, c.outstanding, c.descriptor_cycles, functional};
}

std::exception_ptr g_failure;  // of the program, carried past the SystemC kernel

}  // namespace

Board::Board(sc_core::sc_module_name name, const Options& options,
             std::function<void(Board&)> program)
    : sc_module(name),
      clock(options.config.noc.clock_mhz),
      noc("noc", options.config.noc),
      sram("sram", arch::kSramBase, options.config.sram, clock),
      dram("dram", arch::kDramBase, options.config.dram),
      intc("intc"),
      dma("dma", dma_params(options.config.dma, options.functional),
          [this](bool level) {
            intc.set_line(static_cast<std::uint32_t>(arch::IrqLine::kDma), level);
          }),
      iommu("iommu", options.config.iommu, clock,
            [this](bool level) {
              intc.set_line(static_cast<std::uint32_t>(arch::IrqLine::kIommu), level);
            }),
      host("host", options.config.host.outstanding),
      port(options.config.host, host, intc, sram, dram, options.functional),
      program_(std::move(program)) {
  const auto add = [&](sim::BusInitiator& initiator, int priority) {
    noc.add_initiator(initiator.name(), priority);
    initiator.socket.bind(noc.targets);
  };
  add(host, 0);
  const auto translated = [&](arch::IommuInitiator master, sim::BusInitiator& initiator) {
    noc.add_initiator(initiator.name(), 1);
    iommu.attach(master, initiator, noc.targets);
  };
  translated(arch::IommuInitiator::kDmaRead, dma.reader);
  translated(arch::IommuInitiator::kDmaWrite, dma.writer);
  for (const int priority : options.priorities) {
    spare.push_back(std::make_unique<sim::BusInitiator>("spare" + std::to_string(spare.size()),
                                                        options.outstanding));
    add(*spare.back(), priority);
  }
  add(iommu.walker, 1);
  noc.add_memory("sram", sram);
  noc.add_memory("dram", dram);
  tlm_utils::simple_initiator_socket<soc::Interconnect>* registers = nullptr;
  noc.add_peripheral(arch::kIntcBase, 0x1000, registers);
  registers->bind(intc.socket);
  noc.add_peripheral(arch::kDmaBase, 0x1000, registers);
  registers->bind(dma.registers);
  noc.add_peripheral(arch::kIommuBase, 0x1000, registers);
  registers->bind(iommu.registers);
  SC_HAS_PROCESS(Board);
  SC_THREAD(host_thread);
  set_stack_size(1 << 18);  // assertions format text
}

void Board::host_thread() {
  try {
    program_(*this);
  } catch (const sc_core::sc_unwind_exception&) {
    throw;
  } catch (...) {
    g_failure = std::current_exception();
  }
  sim::stop_all_threads();
  sc_core::sc_stop();
}

void Board::fill(std::uint64_t address, std::uint64_t bytes, std::uint32_t seed) {
  std::uint8_t* p = at(address);
  std::uint32_t state = seed * 2654435761u + 1;
  for (std::uint64_t i = 0; i < bytes; ++i) {
    state = state * 1664525u + 1013904223u;
    p[i] = static_cast<std::uint8_t>(state >> 24);
  }
}

void Board::stream(sim::BusInitiator& initiator, std::uint64_t address, std::uint64_t bytes,
                   std::uint32_t chunk, bool write) {
  for (std::uint64_t i = 0; i < bytes; i += chunk)
    initiator.issue(address + i, nullptr,
                    static_cast<std::uint32_t>(std::min<std::uint64_t>(chunk, bytes - i)), write);
  initiator.drain();
}

sc_core::sc_process_handle Board::spawn(std::function<void()> body) {
  threads_.push_back(sc_core::sc_spawn(std::move(body), sc_core::sc_gen_unique_name("extra")));
  return threads_.back();
}

void Board::join() {
  for (auto& thread : threads_)
    while (!thread.terminated()) sc_core::wait(thread.terminated_event());
  threads_.clear();
}

void simulate(const Board::Options& options, const std::function<void(Board&)>& program) {
  sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
  g_failure = nullptr;
  {
    auto board = std::make_unique<Board>("board", options, program);
    sc_core::sc_start();
  }
  sim::reset_kernel();
  if (g_failure) std::rethrow_exception(std::exchange(g_failure, nullptr));
}

Books books(const Board& board) {
  Books out;
  const auto add = [&](const sim::BusInitiator& initiator) {
    for (const auto& [page, count] : initiator.counted_by_page())
      out.initiators += count.read_bytes + count.write_bytes;
  };
  add(board.host);
  add(board.dma.reader);
  add(board.dma.writer);
  add(board.iommu.walker);
  for (const auto& initiator : board.spare) add(*initiator);
  out.interconnect = board.noc.bytes();
  for (const soc::Memory* memory :
       {static_cast<const soc::Memory*>(&board.sram), static_cast<const soc::Memory*>(&board.dram)})
    out.memories += memory->counted().read_bytes + memory->counted().write_bytes;
  return out;
}

}  // namespace deputy::soc_test
