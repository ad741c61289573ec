#include "delegate/schedule/emit_stream.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/check.h"
#include "delegate/codegen/hazards.h"
#include "delegate/schedule/spm_plan.h"
#include "delegate/schedule/stream_timer.h"

namespace deputy::delegate {
namespace {

constexpr std::size_t kAhead = 24;            // sections that constants may be loaded early
constexpr std::uint32_t kSmallestPiece = 1024;  // bytes of a load that is cut to fit a gap

class Emitter {
 public:
  Emitter(std::vector<Section> sections, const arch::NpuConfig& npu, const StreamOptions& options)
      : sections_(std::move(sections)), options_(options), timer_(npu, options.memory, options.io) {
    for (Section& section : sections_) mark_early_loads(section);
    relocate(plan_spm(sections_, npu.spm.bytes, options.prefetch ? kAhead : 0));
  }

  std::vector<std::uint32_t> run() {
    std::size_t early = 0;
    for (std::size_t s = 0; s < sections_.size(); ++s)
      for (const SectionInstruction& instruction : sections_[s].code) {
        if (instruction.early_buffer >= 0) {
          EarlyLoad& load = early_[early++];
          if (load.done) continue;
          load.done = true;
          fill_gap(load.rest, s);
          emit(load.rest, load.tag);
          load.emitted = true;
          continue;
        }
        fill_gap(instruction.op, s);
        emit(instruction.op, instruction.tag);
      }
    emit(arch::End{}, 0);
    return std::move(words_);
  }

 private:
  // A load of constants that may come before its place.
  struct EarlyLoad {
    arch::Operation rest;  // what has not been emitted
    std::uint16_t tag = 0;
    std::size_t since = 0;  // the first section that may emit it
    std::ptrdiff_t table = -1;  // the early load that brings its code table
    bool done = false;     // emitted, or about to be
    bool emitted = false;
  };

  void relocate(const SpmPlan& plan) {
    std::map<std::uint32_t, std::ptrdiff_t> last;  // early load into an address
    for (std::size_t s = 0; s < sections_.size(); ++s)
      for (SectionInstruction& instruction : sections_[s].code) {
        const Section& section = sections_[s];
        for_each_spm_address(instruction.op, [&](std::uint32_t& address) {
          if (address == 0) return;
          const std::size_t b = buffer_of(section, address);
          address = static_cast<std::uint32_t>(plan.places[s][b].address + address - section.buffers[b].address);
        });
        if (instruction.early_buffer < 0) continue;
        EarlyLoad load{instruction.op, instruction.tag,
                       plan.places[s][static_cast<std::size_t>(instruction.early_buffer)].since};
        if (const auto* weights = std::get_if<arch::LoadWeights>(&load.rest))
          if (!weights->fixed_code) load.table = last.at(weights->table_addr);
        std::visit([&]<class T>(const T& op) {
          if constexpr (requires { op.spm_addr; }) last[op.spm_addr] = static_cast<std::ptrdiff_t>(early_.size());
        }, load.rest);
        early_.push_back(std::move(load));
      }
  }

  void emit(const arch::Operation& op, std::uint16_t tag) {
    const Waits waits = hazards_.add(op);
    arch::Instruction instruction;
    instruction.header.tag = tag;
    instruction.header.wait_load = waits.load;
    instruction.header.wait_compute = waits.compute;
    instruction.header.wait_store = waits.store;
    instruction.op = op;
    const std::size_t before = words_.size();
    arch::encode(instruction, words_);
    timer_.add(op, waits, words_.size() - before);
  }

  // Cycles that DRAM could give to something else before the load queue comes to `next`. Loads complete in order, so
  // what goes before `next` must be there by the time that its data are needed: when its own operands are free and
  // the computation queued before it is over.
  double gap_before(const arch::Operation& next) {
    if (std::get_if<arch::Store>(&next)) return 0;
    const auto moved = moved_bytes(next, options_.io);
    if (!moved) return 0;
    const double ready = timer_.ready(hazards_.peek(next));
    double latest = std::max(ready, timer_.compute_free() - timer_.duration(*moved));
    if (!moved->constants) latest = std::max(ready + timer_.duration(*moved), timer_.compute_free());
    return latest - std::max(timer_.constants_free(), timer_.dispatched());
  }

  void fill_gap(const arch::Operation& next, std::size_t section) {
    if (!options_.prefetch) return;
    while (first_ < early_.size() && early_[first_].done) ++first_;
    for (std::size_t i = first_; i < early_.size(); ++i) {
      EarlyLoad& load = early_[i];
      if (load.done) continue;
      if (load.since > section + kAhead) break;
      if (load.since > section || (load.table >= 0 && !early_[static_cast<std::size_t>(load.table)].emitted)) continue;
      const double gap = gap_before(next);
      if (gap <= 0 || !emit_part(load, gap)) return;
    }
  }

  // As much of the load as the gap has time for; false when that is nothing or not all.
  bool emit_part(EarlyLoad& early, double gap) {
    const auto moved = moved_bytes(early.rest, options_.io);
    if (!moved) return false;
    if (timer_.occupancy(*moved) <= gap) {
      emit(early.rest, early.tag);
      return early.done = early.emitted = true;
    }
    auto* load = std::get_if<arch::Load>(&early.rest);
    if (!load || load->rows != 1 || load->planes != 1) return false;
    arch::Load piece = *load;
    const double rate = options_.memory.dram_bytes_per_cycle;
    const auto burst = static_cast<std::uint64_t>(options_.memory.dram_burst_bytes);
    const double room = (gap - timer_.occupancy({.bytes = 1})) * rate;
    if (room < kSmallestPiece) return false;
    // Ends where a burst of the memory does, so that none is moved twice.
    const std::uint64_t end = (load->mem_offset + static_cast<std::uint64_t>(room)) / burst * burst;
    if (end < load->mem_offset + kSmallestPiece / 2 || end >= load->mem_offset + load->row_bytes) return false;
    piece.row_bytes = static_cast<std::uint32_t>(end - load->mem_offset);
    arch::Transfer::imply(piece);
    emit(piece, early.tag);
    load->mem_offset += piece.row_bytes, load->spm_addr += piece.row_bytes, load->row_bytes -= piece.row_bytes;
    arch::Transfer::imply(*load);
    return false;
  }

  std::vector<Section> sections_;
  const StreamOptions options_;
  HazardTracker hazards_;
  StreamTimer timer_;
  std::vector<std::uint32_t> words_;
  std::vector<EarlyLoad> early_;  // in program order
  std::size_t first_ = 0;         // none before it is left
};

}  // namespace

std::vector<std::uint32_t> emit_stream(std::vector<Section> sections, const arch::NpuConfig& npu,
                                       const StreamOptions& options) {
  return Emitter(std::move(sections), npu, options).run();
}

}  // namespace deputy::delegate
