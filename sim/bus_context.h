// In whose name a bus transaction is made. Travels with the payload, from the initiator to the IOMMU.
#pragma once

#include <tlm.h>

#include <cstdint>

namespace deputy::sim {

struct BusContext : tlm::tlm_extension<BusContext> {
  std::uint32_t context = 0;  ///< of the IOMMU; 0 is never translated

  tlm::tlm_extension_base* clone() const override { return new BusContext(*this); }
  void copy_from(const tlm::tlm_extension_base& other) override { *this = static_cast<const BusContext&>(other); }
};

}  // namespace deputy::sim
