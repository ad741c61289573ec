// What the interconnect sees of a memory: bytes, and when an access is served.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <systemc>

#include "sim/bus_initiator.h"

namespace deputy::soc {

/// Base of SRAM and DRAM: storage, the TLM target, byte counts. A subclass gives the timing.
/// Requests arrive in time order (the interconnect sees to that); b_transport's delay is the
/// arrival on entry and the completion on return, both from now. A null data pointer moves no
/// bytes. A subclass may decide times late (sim/bus_context.h) for initiators that can wait for
/// them.
class Memory : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<Memory> socket;

  std::uint64_t base() const { return base_; }
  std::uint64_t bytes() const { return bytes_; }
  std::uint8_t* host_pointer(std::uint64_t address) { return storage_.get() + (address - base_); }

  /// The earliest time at which another request may arrive without delaying anything: the
  /// interconnect grants so that it does.
  virtual sc_core::sc_time accepts_at() const = 0;
  /// When the first byte of the request served last was available: the interconnect's beats start
  /// then.
  virtual sc_core::sc_time first_data_at() const = 0;

  /// The next read finds `wrong_bits` in one word: one is corrected and takes `correction` longer,
  /// two are an error response. Either is told to the listener of on_ecc().
  void spoil_next_read(int wrong_bits, sc_core::sc_time correction) {
    wrong_bits_ = wrong_bits, correction_ = correction;
  }
  /// `listener` gets the address and whether it was corrected.
  void on_ecc(std::function<void(std::uint64_t address, bool corrected)> listener) {
    ecc_listener_ = std::move(listener);
  }

  const sim::ByteCount& counted() const { return counted_; }

 protected:
  Memory(sc_core::sc_module_name name, std::uint64_t base, std::uint64_t bytes);
  /// Serves bytes at `offset` from `arrival`; returns when the last byte is transferred.
  virtual sc_core::sc_time serve(std::uint64_t offset, std::uint32_t bytes, bool write,
                                 sc_core::sc_time arrival) = 0;
  /// The same, decided late: true, and where to ask, if the memory does so.
  virtual bool accept(std::uint64_t, std::uint32_t, bool, sc_core::sc_time, sim::BusContext&) {
    return false;
  }

 private:
  struct Free {
    void operator()(std::uint8_t* p) const;
  };
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);

  std::uint64_t base_, bytes_;
  std::unique_ptr<std::uint8_t[], Free>
      storage_;  ///< calloc: pages that nothing touches cost nothing
  sim::ByteCount counted_;
  int wrong_bits_ = 0;
  sc_core::sc_time correction_;
  std::function<void(std::uint64_t, bool)> ecc_listener_;
};

}  // namespace deputy::soc
