// The bus side of a register block: one aligned 32-bit word within the block's 4 KiB, anything else
// is an error response.
#pragma once

#include <tlm.h>

#include <cstdint>
#include <cstring>

namespace deputy::sim {

/// Serves `payload` with exists(offset), read(offset) and write(offset, value). Takes no time of
/// its own.
template <class Exists, class Read, class Write>
void register_access(tlm::tlm_generic_payload& payload, sc_core::sc_time&, Exists&& exists,
                     Read&& read, Write&& write) {
  const auto offset = static_cast<std::uint32_t>(payload.get_address() & 0xFFF);
  if (payload.get_data_length() != 4 || payload.get_address() % 4 != 0 || !payload.get_data_ptr()) {
    payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    return;
  }
  if (!exists(offset)) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  std::uint32_t value = 0;
  if (payload.is_write()) {
    std::memcpy(&value, payload.get_data_ptr(), 4);
    write(offset, value);
  } else {
    value = read(offset);
    std::memcpy(payload.get_data_ptr(), &value, 4);
  }
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

}  // namespace deputy::sim
