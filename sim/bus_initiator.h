// How a model moves bytes over the interconnect: chunk by chunk, several in flight, bytes counted.
//
// A chunk is one TLM b_transport call with an annotated delay: the call reserves the interconnect's
// channel and the memory's resources and returns when its last byte is there. The thread does not
// sleep until then: it sleeps only while `outstanding` chunks are in flight, so that the latency of
// one hides behind the next. A memory may decide later when it serves a chunk (bus_context.h): it
// is asked when somebody needs to know.
#pragma once

#include <tlm.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <systemc>

#include "sim/bus_context.h"
#include "sim/fault_injector.h"

namespace deputy::sim {

/// What the initiator believes it moved, by direction; one third of the books.
struct ByteCount {
  std::uint64_t read_bytes = 0, write_bytes = 0, transactions = 0;
};

class BusInitiator {
 public:
  /// `name` is the initiator's name in reports ("npu.load"). Construct inside a module's
  /// constructor.
  BusInitiator(const std::string& name, int outstanding);

  tlm_utils::simple_initiator_socket<BusInitiator> socket;

  /// Issues one chunk (at most 4096 bytes, not crossing a 4 KiB boundary) from the calling
  /// SC_THREAD. Blocks while the window is full or the interconnect does not grant. `data` null: no
  /// bytes move, time passes all the same. Returns false on a bus error (nothing moved).
  bool issue(std::uint64_t address, std::uint8_t* data, std::uint32_t bytes, bool write);

  /// The engine has dropped what this port works on: a chunk that waits for its grant is withdrawn
  /// (issue() then returns false and nothing has moved), one that will never be answered is let go.
  /// Chunks already granted have moved their bytes.
  void abandon();

  /// Planned faults of this port: stuck transactions. Null: none.
  void attach(FaultInjector* injector) { faults_.attach(injector); }

  /// Blocks until every chunk issued has completed.
  void drain();

  /// The IOMMU context of every chunk issued from now on; chunks already issued keep theirs. 0 at
  /// first.
  void set_context(std::uint32_t context) { context_ = context; }

  /// Where the last chunk went: the address asked for, or what an IOMMU made of it.
  std::uint64_t last_address() const { return payload_.get_address(); }

  /// When the last chunk issued completes.
  sc_core::sc_time last_done();

  const std::string& name() const { return name_; }
  /// Bytes by 256 MiB page of the address space (address >> 28, translated): the memory map's
  /// ranges are aligned to them.
  const std::map<std::uint64_t, ByteCount>& counted_by_page() const { return counted_; }

 private:
  std::string name_;
  int outstanding_;
  struct Flight {
    sc_core::sc_time done;        ///< meaningless while memory is set
    Deferring* memory = nullptr;  ///< has not told yet
    std::uint64_t ticket = 0;
    sc_core::sc_time late, beats;
  };
  bool has_landed(const sc_core::sc_time& now);
  void settle(Flight& flight);
  std::deque<Flight> in_flight_;  ///< oldest first; settled in order
  std::size_t settled_ = 0;       ///< of those, from the front
  sc_core::sc_time last_done_;    ///< of those settled
  std::map<std::uint64_t, ByteCount> counted_;
  FaultPoint faults_;
  bool busy_ = false;  ///< a thread is inside issue(), past the window
  std::uint64_t abandoned_ = 0;
  sc_core::sc_event let_go_;
  tlm::tlm_generic_payload payload_;  ///< one call at a time: a thread owns its initiator
  BusContext* extension_;             ///< owned by payload_
  std::uint32_t context_ = 0;
};

}  // namespace deputy::sim
