#include "tests/npu_model/bench.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "sim/reset.h"

// libsystemc refers to it; Catch has the main of this program.
int sc_main(int, char**) { return 0; }

namespace deputy::npu_test {

namespace reg = arch::npu_reg;
using sc_core::sc_time, sc_core::sc_time_stamp;

TestMemory::TestMemory(sc_core::sc_module_name name, sc_time cycle, bool blocking)
    : sc_module(name),
      load("load"),
      load_constants("load_constants"),
      store("store"),
      command("command"),
      bytes(kMemoryBytes),
      cycle_(cycle),
      blocking_(blocking) {
  for (auto* socket : {&load, &load_constants, &store, &command})
    socket->register_b_transport(this, &TestMemory::transport);
}

void TestMemory::transport(tlm::tlm_generic_payload& payload, sc_time& delay) {
  const std::uint64_t address = payload.get_address(), n = payload.get_data_length();
  const sc_time start = std::max(sc_time_stamp() + delay, busy_until_);
  busy_until_ = start + cycle_ * static_cast<double>((n + 7) / 8);
  delay = busy_until_ + cycle_ * 20 - sc_time_stamp();
  if (blocking_) {
    wait(delay);
    delay = sc_core::SC_ZERO_TIME;
  }
  ++transactions;
  if (address < kMemoryBase || address + n > kMemoryBase + kMemoryBytes ||
      (bad_address >= address && bad_address < address + n)) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  moved_bytes += n;
  if (!payload.get_data_ptr()) {
    ++null_transactions;
  } else if (payload.is_read()) {
    std::memcpy(payload.get_data_ptr(), &bytes[address - kMemoryBase], n);
  } else if (payload.is_write()) {  // neither: withdrawn while it waited
    std::memcpy(&bytes[address - kMemoryBase], payload.get_data_ptr(), n);
  }
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

Bench::Bench(sc_core::sc_module_name name, const Options& options, std::function<void(Bench&)> host)
    : sc_module(name),
      cycle(1000 / options.config.clock_mhz, sc_core::SC_NS),
      memory("memory", cycle, options.blocking_memory),
      npu("npu", options.config, options.timing_only),
      host_(std::move(host)),
      registers_("registers") {
  registers_.bind(npu.registers);
  npu.load_port.socket.bind(memory.load);
  npu.load_constants_port.socket.bind(memory.load_constants);
  npu.store_port.socket.bind(memory.store);
  npu.command_port.socket.bind(memory.command);
  npu.on_interrupt([this](bool level) {
    interrupt = level;
    interrupt_event.notify(sc_core::SC_ZERO_TIME);
  });
  SC_HAS_PROCESS(Bench);
  SC_THREAD(host_thread);
}

void Bench::host_thread() {
  host_(*this);
  sim::stop_all_threads();
  sc_core::sc_stop();
}

tlm::tlm_response_status Bench::access(tlm::tlm_command command, std::uint64_t offset,
                                       std::uint32_t& value, unsigned bytes) {
  tlm::tlm_generic_payload payload;
  payload.set_command(command);
  payload.set_address(offset);
  payload.set_data_ptr(reinterpret_cast<std::uint8_t*>(&value));
  payload.set_data_length(bytes);
  payload.set_streaming_width(bytes);
  sc_time delay = sc_core::SC_ZERO_TIME;
  registers_->b_transport(payload, delay);
  wait(delay);
  return payload.get_response_status();
}
std::uint32_t Bench::read(std::uint32_t offset) {
  std::uint32_t value = 0;
  if (access(tlm::TLM_READ_COMMAND, offset, value, 4) != tlm::TLM_OK_RESPONSE)
    SC_REPORT_FATAL("bench", "read failed");
  return value;
}
void Bench::write(std::uint32_t offset, std::uint32_t value) {
  if (access(tlm::TLM_WRITE_COMMAND, offset, value, 4) != tlm::TLM_OK_RESPONSE)
    SC_REPORT_FATAL("bench", "write failed");
}

void Bench::write_stream(const std::vector<std::uint32_t>& words) {
  if (!words.empty()) std::memcpy(memory.bytes.data(), words.data(), words.size() * 4);
  write(reg::kQBaseLo, static_cast<std::uint32_t>(kMemoryBase));
  write(reg::kQBaseHi, 0);
  write(reg::kQSize, static_cast<std::uint32_t>(words.size() * 4));
  write(reg::kBase0Lo, static_cast<std::uint32_t>(kMemoryBase));
  write(reg::kBase0Hi, 0);
  write(reg::kSize0, static_cast<std::uint32_t>(kMemoryBytes));
  write(reg::kIrqEnable, arch::kIrqDone | arch::kIrqFailed);
}
void Bench::start(const std::vector<arch::Instruction>& program) {
  std::vector<std::uint32_t> words;
  for (const auto& instruction : program) arch::encode(instruction, words);
  write_stream(words);
  write(reg::kCmd, 1);
}
std::uint32_t Bench::run(const std::vector<arch::Instruction>& program) {
  start(program);
  if (!interrupt) wait(cycle * 1e6, interrupt_event);
  return read(reg::kStatus);
}

void simulate(const Bench::Options& options, const std::function<void(Bench&)>& host) {
  sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
  {
    auto bench = std::make_unique<Bench>("bench", options, host);
    sc_core::sc_start();
  }
  sim::reset_kernel();
}

arch::Instruction make(const arch::Operation& op, std::uint32_t wait_load,
                       std::uint32_t wait_compute, std::uint32_t wait_store, std::uint16_t tag) {
  arch::Instruction instruction;
  instruction.header.tag = tag;
  instruction.header.wait_load = wait_load;
  instruction.header.wait_compute = wait_compute;
  instruction.header.wait_store = wait_store;
  instruction.op = op;
  return instruction;
}
namespace {
template <class T>
T transfer(std::uint32_t spm, std::uint64_t offset, std::uint32_t bytes) {
  T t;
  t.spm_addr = spm, t.mem_offset = offset, t.row_bytes = bytes;
  return t;
}
}  // namespace
arch::Load load(std::uint32_t spm, std::uint64_t offset, std::uint32_t bytes) {
  return transfer<arch::Load>(spm, offset, bytes);
}
arch::Store store(std::uint32_t spm, std::uint64_t offset, std::uint32_t bytes) {
  return transfer<arch::Store>(spm, offset, bytes);
}

}  // namespace deputy::npu_test
