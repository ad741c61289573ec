#include "soc/memory.h"

#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace deputy::soc {

void Memory::Free::operator()(std::uint8_t* p) const { std::free(p); }

Memory::Memory(sc_core::sc_module_name name, std::uint64_t base, std::uint64_t bytes)
    : sc_module(name),
      socket("socket"),
      base_(base),
      bytes_(bytes),
      storage_(static_cast<std::uint8_t*>(std::calloc(bytes, 1))) {
  DEPUTY_CHECK(storage_, "out of memory for a simulated memory");
  socket.register_b_transport(this, &Memory::b_transport);
}

void Memory::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  const std::uint64_t address = payload.get_address();
  const std::uint32_t n = payload.get_data_length();
  if (address < base_ || address - base_ > bytes_ || n > bytes_ - (address - base_)) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  const bool write = payload.is_write();
  const sc_core::sc_time now = sc_core::sc_time_stamp();
  sim::BusContext* context = nullptr;
  payload.get_extension(context);
  const bool late = context && accept(address - base_, n, write, now + delay, *context);
  if (!late) delay = serve(address - base_, n, write, now + delay) - now;
  if (wrong_bits_ > 0 && !write) {
    const int wrong = std::exchange(wrong_bits_, 0);
    if (ecc_listener_) ecc_listener_(address, wrong == 1);
    if (wrong > 1) {
      payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
      return;
    }
    (late ? context->late : delay) += correction_;
  }
  if (std::uint8_t* data = payload.get_data_ptr()) {
    std::uint8_t* here = host_pointer(address);
    write ? std::memcpy(here, data, n) : std::memcpy(data, here, n);
  }
  ++counted_.transactions;
  (write ? counted_.write_bytes : counted_.read_bytes) += n;
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

}  // namespace deputy::soc
