// What travels with a bus transaction's payload: in whose name it is made, from the initiator to
// the IOMMU; and from a memory back to the initiator, that its time is not decided yet.
#pragma once

#include <tlm.h>

#include <cstdint>
#include <systemc>

namespace deputy::sim {

/// A memory that decides late in what order it serves what it has accepted. Bytes move at once;
/// only times are late.
class Deferring {
 public:
  struct Served {
    sc_core::sc_time first_data, end;
  };
  /// Whether the time of a transaction is decided by what has happened until now.
  virtual bool decided(std::uint64_t ticket) = 0;
  /// Decides it, as if nothing else came until then. Once a ticket.
  virtual Served finish(std::uint64_t ticket) = 0;

 protected:
  ~Deferring() = default;
};

struct BusContext : tlm::tlm_extension<BusContext> {
  std::uint32_t context = 0;  ///< of the IOMMU; 0 is never translated

  // A memory that defers sets these, and the payload's delay means nothing: whoever sends this
  // extension can wait for its times. The transaction ends `late` after the memory's end, and not
  // before `beats` after its first data.
  Deferring* memory = nullptr;
  std::uint64_t ticket = 0;
  sc_core::sc_time late, beats;

  tlm::tlm_extension_base* clone() const override { return new BusContext(*this); }
  void copy_from(const tlm::tlm_extension_base& other) override {
    *this = static_cast<const BusContext&>(other);
  }
};

}  // namespace deputy::sim
