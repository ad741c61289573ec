#include "dsp_model/dsp.h"

#include <algorithm>

#include "arch/progress_bound.h"
#include "base/check.h"
#include "sim/process.h"
#include "sim/register_access.h"
#include "sim/time.h"

namespace deputy::dsp_model {
namespace reg = arch::dsp_reg;
using arch::DspError;
using sc_core::sc_time_stamp;

namespace {
std::uint64_t now_ps() { return sim::to_ps(sc_time_stamp()); }
}  // namespace

Dsp::Dsp(sc_core::sc_module_name name, const arch::DspConfig& config, std::function<void(bool)> irq)
    : sc_module(name),
      registers("registers"),
      bus("dsp.dma", config.dma.outstanding),
      config_(config),
      irq_(std::move(irq)),
      file_(arch::dsp_registers()),
      core_(config),
      clock_(config.clock_mhz) {
  DEPUTY_CHECK(arch::packed_words<arch::DspCommand>() * 4 == arch::kDspCommandBytes,
               "a command's fields do not fill it");
  registers.register_b_transport(this, &Dsp::b_transport);
  name_memories();
  sc_core::sc_spawn([this] { job_thread(); }, sc_core::sc_gen_unique_name("jobs"));
  sc_core::sc_spawn([this] { channel_thread(); }, sc_core::sc_gen_unique_name("channel"));
}

void Dsp::name_memories() {
  file_.set(reg::kConfig0, static_cast<std::uint32_t>(config_.tcm.bytes));
  file_.set(reg::kConfig1, static_cast<std::uint32_t>(config_.tcm.program_bytes));
}

void Dsp::attach(sim::FaultInjector* injector) {
  faults_.attach(injector);
  bus.attach(injector);
  clock_.attach(injector, "dsp");
}

// --- Registers
// -------------------------------------------------------------------------------------------------

void Dsp::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  sim::register_access(
      payload, delay, [&](std::uint32_t offset) { return file_.find(offset) != nullptr; },
      [&](std::uint32_t offset) { return read_register(offset); },
      [&](std::uint32_t offset, std::uint32_t value) { write_register(offset, value); });
}

std::uint32_t Dsp::read_register(std::uint32_t offset) {
  if (offset == reg::kMailStatus) return core_.mail_waiting() | core_.mail_room() << 8;
  if (offset == reg::kMailOut) {
    const std::uint32_t word = core_.collect().value_or(0);
    signal();
    return word;
  }
  return file_.bus_read(offset);
}

void Dsp::write_register(std::uint32_t offset, std::uint32_t value) {
  file_.bus_write(offset, value);
  if (offset == reg::kReset && (value & 1)) abort_job();
  if (offset == reg::kMailIn) core_.post(value);
  if (offset == reg::kEvent && (value & 1)) core_.raise(arch::kDspEventHost);
  if (offset == reg::kMailIn || offset == reg::kEvent) signal();
  if (offset == reg::kCmd && (value & 1) && !running_ &&
      !faults_.hit(sim::FaultKind::kLostDoorbell, "dsp")) {
    list_ = file_.get(reg::kListLo) | std::uint64_t{file_.get(reg::kListHi)} << 32;
    list_bytes_ = file_.get(reg::kListBytes);
    regions_.fill({0, std::uint64_t{1} << 48});
    context_ = 0;
    start();
  }
  raise(0);
}

void Dsp::raise(std::uint32_t bits) {
  file_.set(reg::kIrqStatus, file_.get(reg::kIrqStatus) | bits);
  irq_((file_.get(reg::kIrqStatus) & file_.get(reg::kIrqEnable)) != 0);
}

// --- Jobs
// -------------------------------------------------------------------------------------------------

void Dsp::start() {
  running_ = start_pending_ = true;
  record_ = {};
  record_.start_ps = now_ps();
  file_.set(reg::kStatus, arch::kStatusRunning);
  file_.set(reg::kProgress, 0);
  start_.notify(sc_core::SC_ZERO_TIME);
}

void Dsp::run_job(const sim::Job& job, Done done) {
  DEPUTY_CHECK(!running_, "the DSP is busy");
  list_ = job.address, list_bytes_ = job.bytes, context_ = job.context;
  for (std::size_t i = 0; i < regions_.size(); ++i)
    regions_[i] = {job.region_base[i], job.region_bytes[i]};
  job_done_ = std::move(done);
  start();
  record_.number = job.number;
}

void Dsp::abort_job() {
  job_done_ = nullptr;
  ++epoch_;
  if (running_) close_record(0, true);
  running_ = start_pending_ = false;
  file_.reset();
  name_memories();
  clock_.full_speed();
  scrub();
  request_.reset();
  bus.abandon();
  wake_.notify(), channel_.notify();
  raise(0);
}

void Dsp::scrub() {
  std::ranges::fill(core_.tcm(), std::uint8_t{0});
  core_.load({});
  loaded_ = {};
}

void Dsp::close_record(std::uint32_t error, bool aborted) {
  if (program_runs_) add_programs();
  record_.end_ps = now_ps();
  record_.cycles = clock_.cycles_between(sim::from_ps(record_.start_ps), sc_time_stamp());
  record_.error = error, record_.aborted = aborted;
  jobs_.push_back(record_);
  gate_.end(now_ps());
}

void Dsp::add_programs() {
  program_runs_ = false;
  std::vector<std::uint64_t> counts;
  DspStats::fields(core_.stats(), [&](const std::uint64_t& count, const base::Field&) {
    counts.push_back(count);
  });
  std::size_t i = 0;
  DspStats::fields(record_.programs,
                   [&](std::uint64_t& sum, const base::Field&) { sum += counts[i++]; });
}

void Dsp::finish(const Failure& failure) {
  const bool failed = failure.error != DspError::kNone;
  close_record(static_cast<std::uint32_t>(failure.error), false);
  running_ = false;
  const std::uint32_t info = failure.program_fault | (command_ & 0xFFFF) << 8;
  if (job_done_) {
    file_.set(reg::kStatus, 0);
    const Done done = std::move(job_done_);
    job_done_ = nullptr;
    return done({failed, failed ? info | static_cast<std::uint32_t>(failure.error) << 24 : 0,
                 failure.address});
  }
  file_.set(reg::kStatus, failed
                              ? arch::kStatusError | static_cast<std::uint32_t>(failure.error) << 8
                              : arch::kStatusDone);
  file_.set(reg::kErrInfo, failed ? info : 0);
  file_.set(reg::kErrAddrLo, static_cast<std::uint32_t>(failure.address));
  file_.set(reg::kErrAddrHi, static_cast<std::uint32_t>(failure.address >> 32));
  raise(failed ? arch::kIrqFailed : arch::kIrqDone);
}

void Dsp::job_thread() {
  for (;;) {
    while (!start_pending_) sim::wait_on(start_);
    start_pending_ = false;
    const std::uint64_t epoch = epoch_;
    const Failure failure = run_list();
    if (live(epoch)) finish(failure);
  }
}

Dsp::Failure Dsp::run_list() {
  const std::uint64_t epoch = epoch_;
  sleep_until(sc_time_stamp() + sim::from_ps(gate_.begin(now_ps())));
  wait_channel();  // of a job that was aborted
  if (!live(epoch)) return {};
  if (context_ != last_context_) {
    scrub();
    ++scrubs_;
    sleep_until(clock_.after(
        sc_time_stamp(), static_cast<std::uint64_t>(config_.tcm.bytes / arch::kDspVectorBytes)));
    if (!live(epoch)) return {};
  }
  last_context_ = context_;
  bus.set_context(context_);
  command_ = 0;
  std::vector<std::uint32_t> words;
  if (const Failure bad = fetch(words); bad.error != DspError::kNone || !live(epoch)) return bad;
  for (; command_ < words.size() * 4 / arch::kDspCommandBytes; ++command_) {
    Failure bad = inject();
    if (bad.error != DspError::kNone || !live(epoch)) return bad;
    constexpr std::size_t kWords = arch::kDspCommandBytes / 4;
    const auto command =
        arch::unpack<arch::DspCommand>(std::span(words).subspan(command_ * kWords, kWords));
    const std::uint64_t began = now_ps();
    bad = do_command(command);
    if (bad.error != DspError::kNone || !live(epoch)) return bad;
    if (trace_) {
      static constexpr const char* kNames[] = {"PROGRAM", "LOAD", "STORE", "RUN"};
      trace_->slice(track_, {began, now_ps(), began, kNames[command.kind], -1, command_,
                             std::uint64_t{command.row_bytes} * command.rows});
    }
    ++progress_, ++record_.commands;
    file_.set(reg::kProgress, file_.get(reg::kProgress) + 1);
  }
  bus.drain();
  return {};
}

Dsp::Failure Dsp::inject() {
  if (!faults_.injector()) return {};
  if (faults_.hit(sim::FaultKind::kParseError, "dsp")) return at_command(DspError::kBadCommand);
  if (faults_.hit(sim::FaultKind::kEngineFault, "dsp")) return at_command(DspError::kInternal);
  if (const sim::Fault* f = faults_.hit(sim::FaultKind::kEngineSlow, "dsp"))
    clock_.slow_down(static_cast<std::uint64_t>(f->factor));
  if (faults_.hit(sim::FaultKind::kEngineHang, "dsp"))
    for (const std::uint64_t epoch = epoch_; live(epoch);) sim::wait_on(wake_);
  return {};
}

Dsp::Failure Dsp::fetch(std::vector<std::uint32_t>& words) {
  if (list_bytes_ == 0 || list_bytes_ % arch::kDspCommandBytes != 0 ||
      list_bytes_ > arch::kDspMostCommands * arch::kDspCommandBytes)
    return {DspError::kBadList, 0, list_};
  words.resize(list_bytes_ / 4);
  std::uint64_t fault = 0;
  if (!transfer(list_, {reinterpret_cast<std::uint8_t*>(words.data()), list_bytes_}, false, fault))
    return {DspError::kBus, 0, fault};
  record_.list_bytes += list_bytes_;
  if (faults_.hit(sim::FaultKind::kCommandParity, "dsp", {list_, list_bytes_, -1}))
    return {DspError::kParity, 0, list_};
  return {};
}

Dsp::Failure Dsp::do_command(const arch::DspCommand& command) {
  if (arch::first_bad_field(command)) return at_command(DspError::kBadCommand);
  switch (static_cast<arch::DspCommandKind>(command.kind)) {
    case arch::DspCommandKind::kProgram:
      return load_program(command);
    case arch::DspCommandKind::kLoad:
    case arch::DspCommandKind::kStore:
      return move(command);
    case arch::DspCommandKind::kRun:
      return run_program(command);
  }
  return {DspError::kBadCommand, 0, 0};
}

Dsp::Failure Dsp::load_program(const arch::DspCommand& command) {
  const std::uint64_t epoch = epoch_;
  const Region& region = regions_[command.region];
  if (command.row_bytes % 4 != 0 || command.row_bytes == 0)
    return at_command(DspError::kBadCommand);
  if (command.offset + std::uint64_t{command.row_bytes} > region.bytes)
    return {DspError::kRegionBounds, 0, command.offset};
  if (command.row_bytes > static_cast<std::uint32_t>(config_.tcm.program_bytes))
    return {DspError::kNoRoom, 0, command.row_bytes};
  const Loaded wanted{region.base + command.offset, command.row_bytes, context_, command.entry};
  if (loaded_ == wanted) return {};
  std::vector<std::uint32_t> words(command.row_bytes / 4);
  std::uint64_t fault = 0;
  loaded_ = {};
  if (!transfer(wanted.address, {reinterpret_cast<std::uint8_t*>(words.data()), command.row_bytes},
                false, fault))
    return {DspError::kBus, 0, fault};
  if (!live(epoch)) return {};
  record_.program_bytes += command.row_bytes;
  DEPUTY_CHECK(core_.load(words), "a program that fits does not");
  loaded_ = wanted;
  return {};
}

Dsp::Failure Dsp::move(const arch::DspCommand& c) {
  const std::uint64_t epoch = epoch_;
  const bool store = c.kind == static_cast<std::uint8_t>(arch::DspCommandKind::kStore);
  if (c.rows == 0 || c.row_bytes == 0) return at_command(DspError::kBadCommand);
  const auto end = [&](std::uint32_t from, std::uint32_t stride) {
    return from + std::uint64_t{c.rows - 1} * stride + c.row_bytes;
  };
  if (end(c.offset, c.memory_stride) > regions_[c.region].bytes)
    return {DspError::kRegionBounds, 0, c.offset};
  if (end(c.tcm, c.tcm_stride) > core_.tcm().size()) return {DspError::kTcmBounds, 0, c.tcm};
  for (std::uint32_t row = 0; row < c.rows; ++row) {
    std::uint64_t fault = 0;
    const std::uint64_t memory =
        regions_[c.region].base + c.offset + std::uint64_t{row} * c.memory_stride;
    const auto tcm = core_.tcm().subspan(c.tcm + std::uint64_t{row} * c.tcm_stride, c.row_bytes);
    const bool ok = transfer(memory, tcm, store, fault);
    if (!live(epoch)) return {};
    if (!ok) return {DspError::kBus, 0, fault};
    (store ? record_.stored_bytes : record_.loaded_bytes) += c.row_bytes;
  }
  return {};
}

// The whole of it is in its place when this returns.
bool Dsp::transfer(std::uint64_t address, std::span<std::uint8_t> data, bool write,
                   std::uint64_t& fault) {
  const std::uint64_t epoch = epoch_;
  const sc_core::sc_time began = sc_time_stamp();
  bool ok = true;
  for (std::size_t at = 0; at < data.size() && ok;) {
    const std::uint64_t to_page = 4096 - (address + at) % 4096;
    const auto n =
        static_cast<std::uint32_t>(std::min({static_cast<std::uint64_t>(config_.dma.chunk_bytes),
                                             to_page, std::uint64_t{data.size() - at}}));
    ok = bus.issue(address + at, data.data() + at, n, write);
    if (!live(epoch)) return false;
    if (!ok) fault = address + at;
    at += n, ++progress_;
  }
  bus.drain();
  const auto port = static_cast<std::uint64_t>(config_.dma.bytes_per_cycle);
  sleep_until(clock_.after(began, (data.size() + port - 1) / port));
  return ok;
}

void Dsp::sleep_until(const sc_core::sc_time& until) {
  const std::uint64_t epoch = epoch_;
  while (live(epoch) && sc_time_stamp() < until) sim::wait_on(wake_, until - sc_time_stamp());
}

}  // namespace deputy::dsp_model
