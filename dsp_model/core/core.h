// The DSP as plain C++: runs programs packet by packet and counts their cycles. No SystemC: a shell
// gives it time in slices and carries its DMA requests, mail and interrupts to the rest of the
// chip.
//
// Timing. One packet issues a cycle, in order. It waits until every register it reads is ready (a
// result of latency n is ready n cycles after its packet issued) and until what it writes cannot
// land before an older result. A load or store takes further cycles when it needs a bank of the
// data memory more than once, or the cycle that the DMA channel takes for a line. A taken branch
// loses `latency.branch` cycles; loops lose none.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "arch/dsp_config.h"
#include "dsp_model/core/packet.h"

namespace deputy::dsp_model {

/// Counts since start().
struct DspStats {
  std::uint64_t cycles = 0, packets = 0, vector_operations = 0;
  std::array<std::uint64_t, arch::kDspSlots> slots{};  ///< operations, by slot
  std::uint64_t read_bytes = 0, written_bytes = 0;
  std::uint64_t stall_operand = 0, stall_bank = 0, stall_dma = 0, stall_branch = 0, stall_idle = 0;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.cycles, Field{.name = "cycles", .doc = "from start to now", .unit = "cycles"});
    v(s.packets, Field{.name = "packets", .doc = "packets run"});
    v(s.vector_operations, Field{.name = "vector_operations",
                                 .doc = "operations on whole vectors, loads and stores with them"});
    v(s.slots[0], Field{.name = "slot_s", .doc = "scalar and control operations"});
    v(s.slots[1], Field{.name = "slot_a", .doc = "vector ALU operations"});
    v(s.slots[2], Field{.name = "slot_m", .doc = "multiply-accumulate operations"});
    v(s.slots[3], Field{.name = "slot_l", .doc = "loads and stores"});
    v(s.read_bytes,
      Field{.name = "read_bytes", .doc = "of the data memory, by loads", .unit = "bytes"});
    v(s.written_bytes,
      Field{.name = "written_bytes", .doc = "of the data memory, by stores", .unit = "bytes"});
    v(s.stall_operand,
      Field{.name = "stall_operand", .doc = "waiting for results", .unit = "cycles"});
    v(s.stall_bank,
      Field{.name = "stall_bank", .doc = "bank conflicts within an access", .unit = "cycles"});
    v(s.stall_dma,
      Field{.name = "stall_dma", .doc = "data memory taken by the DMA channel", .unit = "cycles"});
    v(s.stall_branch,
      Field{.name = "stall_branch", .doc = "taken branches and interrupts", .unit = "cycles"});
    v(s.stall_idle, Field{.name = "stall_idle",
                          .doc = "waiting for events, mail or the DMA channel",
                          .unit = "cycles"});
  }
};

/// One executed packet, for a trace.
struct DspTraceRow {
  std::uint64_t cycle = 0;  ///< of issue
  std::uint32_t pc = 0;
  std::uint32_t stall_operand = 0, stall_bank = 0, stall_dma = 0, stall_branch = 0;
  int waited_for = -1;  ///< register number of dsp_uses() that the operand stall was for
};

struct DspDmaRequest {
  bool store = false;  ///< data memory -> system memory
  std::uint64_t memory = 0;
  std::uint32_t tcm = 0, row_bytes = 0, rows = 0, memory_stride = 0, tcm_stride = 0;
};

class DspCore {
 public:
  enum class Stop : std::uint8_t {
    kHalted,   ///< the program is done
    kFault,    ///< fault(), fault_pc(), fault_detail()
    kTime,     ///< the cycle asked for is reached
    kWaiting,  ///< `wait`: nothing of its mask is pending
    kBlocked,  ///< no room for mail, or the DMA channel is busy
    kSignal,   ///< mail, a host interrupt or a DMA request was just made; go on with run()
  };

  /// `isa` must be available on this host.
  explicit DspCore(const arch::DspConfig& config, Isa isa = best_isa());

  const arch::DspConfig& config() const { return config_; }
  /// Replaces the program. False when it does not fit the program memory.
  bool load(std::span<const std::uint32_t> words);
  std::span<const std::uint32_t> program() const { return words_; }
  std::span<std::uint8_t> tcm() { return tcm_; }

  /// Registers, masks, control registers, mail and counters to 0, the program counter to `pc`. The
  /// memories stay.
  void start(std::uint32_t pc = 0);
  /// Runs until something stops it or the cycle `until` is reached (a packet that begins before it
  /// is completed).
  Stop run(std::uint64_t until);
  /// Lets time pass without running, to where a waiting core goes on.
  void idle_until(std::uint64_t cycle);
  std::uint64_t cycle() const { return stats_.cycles; }

  Registers& registers() { return m_.x; }
  std::uint32_t control(arch::DspControl which) const {
    return m_.control[static_cast<std::size_t>(which)];
  }
  std::uint32_t pc() const { return m_.next; }

  arch::DspFault fault() const { return fault_; }
  std::uint32_t fault_pc() const { return fault_pc_; }
  /// The address, the control register, the trap's number or the decode fault.
  std::uint32_t fault_detail() const { return fault_detail_; }

  /// A word from the host; false when the mailbox is full.
  bool post(std::uint32_t word);
  std::uint32_t mail_waiting() const { return static_cast<std::uint32_t>(mail_out_.size()); }
  std::uint32_t mail_room() const {
    return static_cast<std::uint32_t>(config_.mailbox_depth) -
           static_cast<std::uint32_t>(mail_in_.size());
  }
  /// The oldest word to the host.
  std::optional<std::uint32_t> collect();
  /// Makes events pending (kDspEvent...).
  void raise(std::uint32_t events);
  /// Numbers written to host_interrupt since the last call, as a mask of 32.
  std::uint32_t take_host_interrupts();
  /// The transfer that was asked for and not yet taken.
  std::optional<DspDmaRequest> take_dma();
  /// The transfer taken last is over; its bytes are the caller's to move.
  void dma_done(bool good);

  const DspStats& stats() const { return stats_; }
  void on_packet(std::function<void(const DspTraceRow&)> sink) { trace_ = std::move(sink); }

 private:
  Stop stop(arch::DspFault fault, std::uint32_t detail);
  const Packet* fetch();
  arch::DspFault check_memory(const arch::DspOp& op);
  arch::DspFault check_control(const arch::DspOp& op);
  bool must_wait(const arch::DspOp& op, Stop& why) const;
  std::uint32_t bank_conflicts(const arch::DspOp& op);
  void do_control(const arch::DspOp& op);
  std::uint32_t read_control(arch::DspControl which);
  void write_control(arch::DspControl which, std::uint32_t value);
  void execute(const Packet& packet);
  void close_loops();
  void take_interrupt();

  arch::DspConfig config_;
  const HandlerTable& handlers_;
  std::vector<std::uint8_t> tcm_;
  std::vector<std::uint32_t> words_;
  std::vector<Packet> packets_;
  Machine m_;
  std::array<std::uint64_t, arch::kDspRegisterIds> ready_{};
  bool running_ = false, halt_ = false, signal_ = false, may_interrupt_ = false, looping_ = false;
  std::deque<std::uint32_t> mail_in_, mail_out_;
  std::uint32_t host_interrupts_ = 0;
  std::optional<DspDmaRequest> dma_;
  bool dma_busy_ = false;
  std::uint64_t dma_since_ = 0;
  arch::DspFault fault_ = arch::DspFault::kNone;
  std::uint32_t fault_pc_ = 0, fault_detail_ = 0;
  DspStats stats_;
  std::function<void(const DspTraceRow&)> trace_;
};

}  // namespace deputy::dsp_model
