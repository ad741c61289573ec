// The IOMMU between the engines' bus masters and the interconnect: every transaction is translated
// in the context of the job it belongs to, or refused. Registers: arch/registers.h; page tables:
// arch/queue_entry.h; docs/isolation.md.
//
// Translations come from the IOTLB (fully associative, least recently used out) or from a walk: two
// reads over the interconnect, one walk at a time for all masters. What the IOTLB holds stays valid
// until INVALIDATE, whatever becomes of the tables; faults are not cached.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <systemc>
#include <utility>
#include <vector>

#include "arch/register_file.h"
#include "sim/bus_initiator.h"
#include "sim/time.h"
#include "soc/soc_config.h"

namespace deputy::soc {

class Iommu : public sc_core::sc_module {
 public:
  /// `clock` times the look-up; `irq` is called with the level of the interrupt line.
  Iommu(sc_core::sc_module_name name, const IommuConfig& config, const sim::Clock& clock,
        std::function<void(bool)> irq);

  tlm_utils::simple_target_socket<Iommu> registers;
  sim::BusInitiator walker;  ///< "iommu": reads page tables

  /// Puts the IOMMU between a bus master and `downstream`, where the master's transactions arrive
  /// in its place.
  template <class Target>
  void attach(arch::IommuInitiator master, sim::BusInitiator& initiator, Target& downstream) {
    Stream& stream = add_stream(master);
    initiator.socket.bind(stream.in);
    stream.out.bind(downstream);
  }

  std::uint64_t hits() const { return hits_; }
  std::uint64_t walks() const { return walks_; }
  std::uint64_t faults() const { return faults_; }

 private:
  struct Stream {
    arch::IommuInitiator master;
    tlm_utils::simple_target_socket_tagged<Iommu> in;
    tlm_utils::simple_initiator_socket<Iommu> out;
  };
  struct Page {
    std::uint32_t frame = 0;  ///< 4 KiB-aligned bus address
    bool writable = false;
    std::uint64_t used = 0;  ///< for the choice of what to replace
  };
  using Key = std::pair<std::uint32_t, std::uint32_t>;  ///< context, page number

  Stream& add_stream(arch::IommuInitiator master);
  void translate(int stream, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  /// The page's translation; nullopt when there is none. Takes time.
  std::optional<Page> look_up(std::uint32_t context, std::uint32_t page);
  std::optional<Page> cached(const Key& key);
  std::optional<Page> walk(const Key& key);
  std::optional<std::uint32_t> read_entry(std::uint32_t table, std::uint32_t index);
  bool enabled(std::uint32_t context) const;
  bool passes(std::uint32_t context) const;
  void record_fault(arch::IommuInitiator master, std::uint32_t context, std::uint64_t address,
                    bool write);
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  void write_register(std::uint32_t offset, std::uint32_t value);
  void invalidate(std::uint32_t context);
  void update_irq();

  const IommuConfig config_;
  const sim::Clock clock_;
  std::function<void(bool)> irq_;
  arch::RegisterFile file_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::map<Key, Page> iotlb_;
  std::uint64_t uses_ = 0;
  std::array<std::uint64_t, arch::kContexts>
      generation_{};  ///< counts INVALIDATEs: a walk that one overtakes is void
  bool walking_ = false;
  sc_core::sc_event walked_;
  std::uint64_t hits_ = 0, walks_ = 0, faults_ = 0;
};

}  // namespace deputy::soc
