#include "sim/bus_initiator.h"

#include <algorithm>

#include "base/check.h"
#include "sim/process.h"

namespace deputy::sim {

BusInitiator::BusInitiator(const std::string& name, int outstanding)
    : socket(sc_core::sc_gen_unique_name("bus")), name_(name), outstanding_(outstanding), extension_(new BusContext) {
  payload_.set_extension(extension_);
}

bool BusInitiator::issue(std::uint64_t address, std::uint8_t* data, std::uint32_t bytes, bool write) {
  DEPUTY_CHECK(bytes > 0 && address / 4096 == (address + bytes - 1) / 4096, "a chunk crosses a 4 KiB boundary");
  const std::uint32_t context = context_;  // the job may be over, and another's begun, when the window has room
  const std::uint64_t abandoned = abandoned_;
  const sc_core::sc_time now = sc_core::sc_time_stamp();
  while (!in_flight_.empty() && in_flight_.front() <= now) in_flight_.pop_front();
  if (in_flight_.size() >= static_cast<std::size_t>(outstanding_)) {
    wait_until(in_flight_.front());
    in_flight_.pop_front();
    if (abandoned != abandoned_) return false;
  }
  if (faults_.hit(FaultKind::kStuckTransaction, name_, {address, bytes, -1})) {
    while (abandoned == abandoned_) wait_on(let_go_);
    return false;
  }
  tlm::tlm_generic_payload& payload = payload_;
  extension_->context = context;
  payload.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
  payload.set_address(address);
  payload.set_data_ptr(data);
  payload.set_data_length(bytes);
  payload.set_streaming_width(bytes);
  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  busy_ = true;
  socket->b_transport(payload, delay);
  busy_ = false;
  if (payload.get_command() == tlm::TLM_IGNORE_COMMAND) return false;
  const sc_core::sc_time done = sc_core::sc_time_stamp() + delay;
  last_done_ = std::max(last_done_, done);
  // In-order retirement: a later chunk is not counted complete before an earlier one.
  in_flight_.push_back(last_done_);
  if (payload.get_response_status() != tlm::TLM_OK_RESPONSE) return false;
  ByteCount& count = counted_[payload.get_address() >> 28];
  ++count.transactions;
  (write ? count.write_bytes : count.read_bytes) += bytes;
  return true;
}

// The interconnect looks at the command when it grants: an ignored one moves nothing.
void BusInitiator::abandon() {
  ++abandoned_;
  if (busy_) payload_.set_command(tlm::TLM_IGNORE_COMMAND);
  let_go_.notify(sc_core::SC_ZERO_TIME);
}

void BusInitiator::drain() {
  if (!in_flight_.empty()) wait_until(in_flight_.back());
  in_flight_.clear();
}

}  // namespace deputy::sim
