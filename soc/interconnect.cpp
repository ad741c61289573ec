#include "soc/interconnect.h"

#include <algorithm>

#include "base/check.h"
#include "sim/process.h"

namespace deputy::soc {

Interconnect::Interconnect(sc_core::sc_module_name name, const NocConfig& config)
    : sc_module(name),
      targets("targets"),
      config_(config),
      clock_(config.clock_mhz),
      policy_(config.arbitration == "priority"      ? Policy::kPriority
              : config.arbitration == "round_robin" ? Policy::kRoundRobin
                                                    : Policy::kFifo) {
  targets.register_b_transport(this, &Interconnect::b_transport);
}
Interconnect::~Interconnect() = default;

void Interconnect::add_initiator(const std::string& name, int priority) {
  initiators_.push_back({name, priority, name == "host"});
}

void Interconnect::add_memory(const std::string& name, Memory& memory) {
  auto channel = std::make_unique<Channel>();
  channel->name = name;
  channel->memory = &memory;
  channel->socket =
      std::make_unique<tlm_utils::simple_initiator_socket<Interconnect>>((name + "_port").c_str());
  channel->socket->bind(memory.socket);
  channels_.push_back(std::move(channel));
}

void Interconnect::add_peripheral(std::uint64_t base, std::uint64_t size,
                                  tlm_utils::simple_initiator_socket<Interconnect>*& socket) {
  auto port = std::make_unique<tlm_utils::simple_initiator_socket<Interconnect>>(
      sc_core::sc_gen_unique_name("regs"));
  socket = port.get();
  peripherals_.push_back({base, size, std::move(port)});
}

void Interconnect::attach(sim::Trace* trace) {
  trace_ = trace;
  for (auto& channel : channels_)
    if (trace) channel->trace_memory = trace->memory(channel->name);
}

void Interconnect::b_transport(int id, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  const std::uint64_t address = payload.get_address();
  const std::uint64_t last = address + payload.get_data_length() - 1;
  for (auto& channel : channels_) {
    const std::uint64_t base = channel->memory->base();
    if (address >= base && last >= address && last - base < channel->memory->bytes())
      return to_memory(id, *channel, payload, delay);
  }
  // The device sees an access when it arrives, not when it leaves; one more cycle brings the answer
  // back.
  sim::wait_for(delay + request_time());
  delay = clock_.cycles(1);
  for (auto& peripheral : peripherals_)
    if (address >= peripheral.base && last - peripheral.base < peripheral.size) {
      payload.set_address(address - peripheral.base);  // a register block sees offsets
      (*peripheral.socket)->b_transport(payload, delay);
      payload.set_address(address);
      return;
    }
  payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

void Interconnect::to_memory(int id, Channel& channel, tlm::tlm_generic_payload& payload,
                             sc_core::sc_time& delay) {
  if (delay > sc_core::SC_ZERO_TIME) {  // our initiators synchronise first; a foreign one is
                                        // synchronised here
    sim::wait_for(delay);
    delay = sc_core::SC_ZERO_TIME;
  }
  acquire(id, channel);
  if (payload.get_command() ==
      tlm::TLM_IGNORE_COMMAND) {  // withdrawn while it waited: the next one's turn
    appoint(channel);
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    return;
  }
  if (faults_.injector() && !inject(id, channel, payload, delay)) return;
  const sc_core::sc_time now = sc_core::sc_time_stamp();
  const std::uint64_t n = payload.get_data_length();
  const std::uint64_t beats =
      (n + config_.width_bytes - 1) / static_cast<std::uint64_t>(config_.width_bytes);
  delay = request_time();
  if (const Initiator& who = initiators_[static_cast<std::size_t>(id)]; cache_ && !who.host)
    cache_->access(id, who.name, payload.get_address(), n, payload.is_write());
  (*channel.socket)->b_transport(payload, delay);
  // The switch's beats start with the memory's first data; the slower of the two ends the transfer.
  sim::BusContext* context = nullptr;
  payload.get_extension(context);
  if (context && context->memory)
    context->beats = clock_.cycles(beats);
  else
    delay = std::max(delay, channel.memory->first_data_at() + clock_.cycles(beats) - now);
  // The next request may be granted so early that it arrives just when the memory accepts it.
  channel.free_at = now + clock_.cycles(beats);
  const sc_core::sc_time accepts = channel.memory->accepts_at();
  if (accepts > channel.free_at + request_time()) channel.free_at = accepts - request_time();
  channel.last_granted = id;
  appoint(channel);
  if (payload.get_response_status() != tlm::TLM_OK_RESPONSE) return;
  if (trace_) trace_->moved(channel.trace_memory, sim::to_ps(now), n, payload.is_write());
  TrafficCount& count = channel.counted[static_cast<std::size_t>(id)];
  ++count.transactions;
  (payload.is_write() ? count.write_bytes : count.read_bytes) += n;
}

bool Interconnect::inject(int id, Channel& channel, tlm::tlm_generic_payload& payload,
                          sc_core::sc_time& delay) {
  const std::string& name = initiators_[static_cast<std::size_t>(id)].name;
  const sim::FaultInjector::Event event{payload.get_address(), payload.get_data_length(), -1};
  if (faults_.hit(sim::FaultKind::kBusError, name, event)) {
    // An error response there and back; the channel was never used.
    delay = request_time() + clock_.cycles(1);
    appoint(channel);
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    return false;
  }
  if (!payload.is_read()) return true;
  // A CPU that reads an uncorrectable word takes an abort of its own, which is not modelled.
  if (name != "host" && faults_.hit(sim::FaultKind::kEccDouble, channel.name, event))
    channel.memory->spoil_next_read(2, sc_core::SC_ZERO_TIME);
  else if (const sim::Fault* f = faults_.hit(sim::FaultKind::kEccSingle, channel.name, event))
    channel.memory->spoil_next_read(1,
                                    sim::from_ps(static_cast<std::uint64_t>(f->delay_ns) * 1000));
  return true;
}

// Returns when the calling thread owns the channel. Uncontended, that is at once and costs no
// event; otherwise it costs one: whoever is chosen among those waiting is woken when the channel is
// free.
void Interconnect::acquire(int id, Channel& channel) {
  while (channel.places.size() < initiators_.size()) {
    channel.places.push_back(std::make_unique<Waiter>());
    channel.places.back()->initiator = static_cast<int>(channel.places.size()) - 1;
    channel.counted.emplace_back();
  }
  if (channel.waiters.empty() && channel.free_at <= sc_core::sc_time_stamp()) return;
  Waiter& waiter = *channel.places[static_cast<std::size_t>(id)];
  waiter.order = order_++;
  // A thread may be killed while it waits (engine reset, end of simulation): its place is given up,
  // and the channel goes to somebody else.
  struct Place {
    Interconnect& noc;
    Channel& channel;
    Waiter& waiter;
    bool owns = false;
    Place(Interconnect& n, Channel& c, Waiter& w) : noc(n), channel(c), waiter(w) {
      channel.waiters.push_back(&waiter);
    }
    ~Place() {
      std::erase(channel.waiters, &waiter);
      if (channel.next == &waiter) channel.next = nullptr;
      if (!owns) noc.appoint(channel);
    }
  } place{*this, channel, waiter};
  appoint(channel);
  sim::wait_on(waiter.granted);
  place.owns = true;
}

// Chooses who has the channel next. Until that one has woken up, a better-placed arrival may still
// replace it.
void Interconnect::appoint(Channel& channel) {
  if (channel.waiters.empty()) return;
  Waiter* const chosen = choose(channel);
  if (chosen == channel.next) return;
  if (channel.next) channel.next->granted.cancel();
  channel.next = chosen;
  const sc_core::sc_time now = sc_core::sc_time_stamp();
  channel.next->granted.notify(channel.free_at > now ? channel.free_at - now
                                                     : sc_core::SC_ZERO_TIME);
}

Interconnect::Waiter* Interconnect::choose(Channel& channel) {
  const auto n = static_cast<int>(initiators_.size());
  const auto rank = [&](const Waiter* w) -> std::pair<std::int64_t, std::uint64_t> {
    if (policy_ == Policy::kPriority)
      return {initiators_[static_cast<std::size_t>(w->initiator)].priority, w->order};
    if (policy_ == Policy::kRoundRobin)
      return {(w->initiator - channel.last_granted - 1 + 2 * n) % n, w->order};
    return {0, w->order};
  };
  return *std::min_element(channel.waiters.begin(), channel.waiters.end(),
                           [&](const Waiter* a, const Waiter* b) { return rank(a) < rank(b); });
}

std::map<std::string, std::map<std::string, TrafficCount>> Interconnect::traffic() const {
  std::map<std::string, std::map<std::string, TrafficCount>> out;
  for (const auto& channel : channels_)
    for (std::size_t i = 0; i < channel->counted.size(); ++i)
      if (const TrafficCount& count = channel->counted[i]; count.transactions) {
        TrafficCount& sum =
            out[initiators_[i].name][channel->name];  // several ports may bear one name
        sum.read_bytes += count.read_bytes;
        sum.write_bytes += count.write_bytes;
        sum.transactions += count.transactions;
      }
  return out;
}

std::uint64_t Interconnect::bytes() const {
  std::uint64_t sum = 0;
  for (const auto& channel : channels_)
    for (const auto& count : channel->counted) sum += count.read_bytes + count.write_bytes;
  return sum;
}

}  // namespace deputy::soc
