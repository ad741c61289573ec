#include "sim/bus_initiator.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "sim/process.h"

namespace deputy::sim {

BusInitiator::BusInitiator(const std::string& name, int outstanding)
    : socket(sc_core::sc_gen_unique_name("bus")),
      name_(name),
      outstanding_(outstanding),
      extension_(new BusContext) {
  payload_.set_extension(extension_);
}

bool BusInitiator::issue(std::uint64_t address, std::uint8_t* data, std::uint32_t bytes,
                         bool write) {
  DEPUTY_CHECK(bytes > 0 && address / 4096 == (address + bytes - 1) / 4096,
               "a chunk crosses a 4 KiB boundary");
  const std::uint32_t context =
      context_;  // the job may be over, and another's begun, when the window has room
  const std::uint64_t abandoned = abandoned_;
  const sc_core::sc_time now = sc_core::sc_time_stamp();
  while (!in_flight_.empty() && has_landed(now)) in_flight_.pop_front(), --settled_;
  if (in_flight_.size() >= static_cast<std::size_t>(outstanding_)) {
    if (settled_ == 0) settle(in_flight_.front());
    wait_until(in_flight_.front().done);
    in_flight_.pop_front(), --settled_;
    if (abandoned != abandoned_) return false;
  }
  if (faults_.hit(FaultKind::kStuckTransaction, name_, {address, bytes, -1})) {
    while (abandoned == abandoned_) wait_on(let_go_);
    return false;
  }
  tlm::tlm_generic_payload& payload = payload_;
  extension_->context = context;
  extension_->memory = nullptr;
  extension_->late = extension_->beats = sc_core::SC_ZERO_TIME;
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
  in_flight_.push_back({sc_core::sc_time_stamp() + delay, extension_->memory, extension_->ticket,
                        extension_->late, extension_->beats});
  if (!extension_->memory && settled_ + 1 == in_flight_.size()) settle(in_flight_.back());
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

// In-order retirement: a later chunk is not counted complete before an earlier one.
void BusInitiator::settle(Flight& flight) {
  if (Deferring* memory = std::exchange(flight.memory, nullptr)) {
    const Deferring::Served served = memory->finish(flight.ticket);
    flight.done = std::max(served.end + flight.late, served.first_data + flight.beats);
  }
  flight.done = last_done_ = std::max(last_done_, flight.done);
  ++settled_;
}

bool BusInitiator::has_landed(const sc_core::sc_time& now) {
  Flight& oldest = in_flight_.front();
  if (settled_ == 0) {
    if (oldest.memory && !oldest.memory->decided(oldest.ticket)) return false;
    settle(oldest);
  }
  return oldest.done <= now;
}

sc_core::sc_time BusInitiator::last_done() {
  while (settled_ < in_flight_.size()) settle(in_flight_[settled_]);
  return last_done_;
}

void BusInitiator::drain() {
  if (!in_flight_.empty()) wait_until(last_done());
  in_flight_.clear();
  settled_ = 0;
}

}  // namespace deputy::sim
