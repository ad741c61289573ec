#include "delegate/schedule/emit_stream.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <set>

#include "delegate/codegen/hazards.h"
#include "delegate/codegen/program_builder.h"
#include "delegate/schedule/spm_plan.h"
#include "delegate/schedule/staging.h"
#include "delegate/schedule/stream_timer.h"

namespace deputy::delegate {
namespace {

constexpr std::size_t kAhead = 24;             // sections that constants may be loaded early
constexpr std::uint32_t kSmallestPiece = 512;  // bytes of a load that is cut to fit a gap

constexpr std::uint32_t kSmallestCopy =
    512;  // bytes of a piece on its way into SRAM, unless it is the last

// The scratchpad buffers that constants pass on their way into SRAM.
struct Bounce {
  static constexpr std::size_t kSlots = 2;
  std::int64_t address = 0, slot_bytes = 0;
  std::int64_t bytes() const { return slot_bytes * static_cast<std::int64_t>(kSlots); }
  static Bounce of(const arch::NpuConfig& npu) {
    const std::int64_t slot =
        std::min<std::int64_t>(2048, npu.spm.bytes / 16 / kBufferAlign * kBufferAlign);
    return {npu.spm.bytes - slot * static_cast<std::int64_t>(kSlots), slot};
  }
};

class Emitter {
 public:
  /// Sections whose early loads are marked.
  Emitter(std::vector<Section> sections, const arch::NpuConfig& npu, const StreamOptions& options,
          std::int64_t top_bytes)
      : sections_(std::move(sections)),
        options_(options),
        bounce_(Bounce::of(npu)),
        timer_(npu, options.memory, options.io) {
    SpmPlan plan = plan_spm(sections_, npu.spm.bytes, options.prefetch ? kAhead : 0, top_bytes);
    relocate(plan);
    bounce_free_ = std::move(plan.top_free);
  }

  /// `staging`: what is copied into SRAM; may be null.
  Stream run(Staging* staging) {
    staging_ = staging;
    std::size_t early = 0;
    at_ = 0;
    for (section_ = 0; section_ < sections_.size(); ++section_) {
      if (!bounce_free_[section_]) store_pending();
      for (const SectionInstruction& instruction : sections_[section_].code) {
        if (instruction.early_buffer >= 0) {
          EarlyLoad& load = early_[early++];
          if (!load.done) {
            load.done = true;
            fill_gap(load.rest);
            emit_early(load);
          }
        } else {
          fill_gap(instruction.op);
          emit_load(instruction.op, instruction.tag, at_);
        }
        ++at_;
      }
    }
    store_pending();
    emit(arch::End{}, 0);
    return {std::move(words_), staging_ ? staging_->top() : 0, timer_.end()};
  }

  /// Constants that a computation waited for.
  const std::set<ConstantRange>& late() const { return late_; }

 private:
  // A load of constants that may come before its place.
  struct EarlyLoad {
    arch::Operation rest;  // what has not been emitted
    std::optional<ConstantRange> whole;
    std::uint16_t tag = 0;
    std::size_t at = 0;         // its place
    std::size_t since = 0;      // the first section that may emit it
    std::ptrdiff_t table = -1;  // the early load that brings its code table
    bool done = false;          // emitted, or about to be
    bool emitted = false;
  };
  struct Loading {
    std::size_t at = 0;
    const arch::Operation* op = nullptr;
    std::ptrdiff_t early = -1;  // its number among the early loads
  };
  // A piece of constants in the bounce buffer.
  struct Pending {
    Staging::Piece piece;
    std::uint32_t spm = 0, load = 0;  // load: its number
  };

  void relocate(const SpmPlan& plan) {
    std::map<std::uint32_t, std::ptrdiff_t> last;  // early load into an address
    std::size_t at = 0;
    for (std::size_t s = 0; s < sections_.size(); ++s)
      for (SectionInstruction& instruction : sections_[s].code) {
        const Section& section = sections_[s];
        for_each_spm_address(instruction.op, [&](std::uint32_t& address) {
          if (address == 0) return;
          const std::size_t b = buffer_of(section, address);
          address = static_cast<std::uint32_t>(plan.places[s][b].address + address -
                                               section.buffers[b].address);
        });
        if (std::visit([](const auto& o) { return o.kQueue; }, instruction.op) ==
            arch::Queue::kLoad) {
          loadings_.push_back(
              {at, &instruction.op,
               instruction.early_buffer < 0 ? -1 : static_cast<std::ptrdiff_t>(early_.size())});
        }
        ++at;
        if (instruction.early_buffer < 0) continue;
        EarlyLoad load{instruction.op, constant_range(instruction.op), instruction.tag, at - 1,
                       plan.places[s][static_cast<std::size_t>(instruction.early_buffer)].since};
        if (const auto* weights = std::get_if<arch::LoadWeights>(&load.rest))
          if (!weights->fixed_code) load.table = last.at(weights->table_addr);
        std::visit(
            [&]<class T>(const T& op) {
              if constexpr (requires { op.spm_addr; })
                last[op.spm_addr] = static_cast<std::ptrdiff_t>(early_.size());
            },
            load.rest);
        early_.push_back(std::move(load));
      }
  }

  // The first load from instruction `at` on that is still to come.
  const arch::Operation* next_load(std::size_t at) const {
    auto load = std::lower_bound(loadings_.begin(), loadings_.end(), at,
                                 [](const Loading& l, std::size_t place) { return l.at < place; });
    for (; load != loadings_.end(); ++load) {
      if (load->early < 0) return load->op;
      if (!early_[static_cast<std::size_t>(load->early)].done)
        return &early_[static_cast<std::size_t>(load->early)].rest;
    }
    return nullptr;
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
    if (instruction.queue() == arch::Queue::kLoad) loads_.push_back(constant_range(op));
    const auto stall = timer_.add(op, waits, words_.size() - before);
    if (!stall) return;
    for (std::uint32_t load = stall->load; load > 0 && timer_.load_end(load) > stall->since; --load)
      if (const auto& range = loads_[load - 1]) late_.insert(*range);
  }

  // Instruction `at` of the program, or what is left of it.
  void emit_load(arch::Operation op, std::uint16_t tag, std::size_t at) {
    if (std::get_if<arch::Store>(&op) && !pending_.empty()) {
      const double when =
          std::max({timer_.ready(hazards_.peek(op)), timer_.stores_free(), timer_.dispatched()});
      while (!pending_.empty() && timer_.load_end(pending_.front().load) <= when) store_first();
    }
    // Where loads are rare, there is time before STORES too.
    if (staging_ && std::get_if<arch::Store>(&op))
      if (const arch::Operation* next = next_load(at)) copy_in_gap(latest_before(*next));
    redirect(op, at);
    emit(op, tag);
  }

  // What is left of it. A computation that waits for a part waits for the whole.
  void emit_early(EarlyLoad& early) {
    early.emitted = true;
    emit_load(early.rest, early.tag, early.at);
    if (loads_.back()) loads_.back() = early.whole;
  }

  // To SRAM, if its bytes are there.
  void redirect(arch::Operation& op, std::size_t at) {
    if (!staging_) return;
    const auto item = staging_->item_of(at);
    if (!item) return;
    if (staging_->copying(*item)) finish_copy(*item);
    staging_->loaded(at);
    if (!staging_->staged(*item, at)) return;
    while (std::any_of(pending_.begin(), pending_.end(),
                       [&](const Pending& p) { return p.piece.item == *item; }))
      store_first();
    const auto move = [&](auto& load) {
      const std::uint64_t from = item_offset(*item);
      load.mem_offset = staging_->place(*item) + (load.mem_offset - from);
      load.region = static_cast<std::uint8_t>(arch::Region::kFastArena);
    };
    if (auto* weights = std::get_if<arch::LoadWeights>(&op)) move(*weights);
    if (auto* load = std::get_if<arch::Load>(&op)) move(*load);
  }
  std::uint64_t item_offset(std::size_t item) const { return staging_->range(item).offset; }

  // The rest at once: its first bytes are there, and nothing is saved by loading them again.
  void finish_copy(std::size_t item) {
    while (const auto piece = staging_->rest(item)) {
      if (!bounce_free_[section_]) return staging_->give_up(item);
      if (pending_.size() == Bounce::kSlots) store_first();
      copy(*piece, piece->bytes);
    }
  }

  // By when what goes before a load must be there, from DRAM and from SRAM. Loads complete in
  // order: by the time that its data are needed, when its own operands are free and the computation
  // queued before it is over.
  using Latest = std::array<double, 2>;
  Latest latest_before(const arch::Operation& next) {
    const auto moved =
        std::get_if<arch::Store>(&next) ? std::nullopt : moved_bytes(next, options_.io);
    if (!moved) return {};
    const double ready = timer_.ready(hazards_.peek(next)), takes = timer_.duration(*moved),
                 compute = timer_.compute_free();
    const double same_port = std::max(ready, compute - takes),
                 other_port = std::max(ready + takes, compute);
    return moved->constants ? Latest{same_port, other_port} : Latest{other_port, same_port};
  }

  // Cycles that DRAM, or the port to SRAM, could give to `early` until then. Loads start in order,
  // too: an early one whose buffer is not free yet would hold up what follows.
  double gap_for(const arch::Operation& early, bool sram, const Latest& latest) {
    const double start =
        std::max(sram ? timer_.maps_free() : timer_.constants_free(), timer_.dispatched());
    return start >= latest[sram]
               ? 0
               : latest[sram] - std::max(start, timer_.ready(hazards_.peek(early)));
  }

  void fill_gap(const arch::Operation& next) {
    if (!options_.prefetch) return;
    const Latest latest = latest_before(next);
    bool open[2] = {latest[0] > 0, staging_ && latest[1] > 0};  // from DRAM, from SRAM
    while (first_ < early_.size() && early_[first_].done) ++first_;
    for (std::size_t i = first_; i < early_.size() && (open[0] || open[1]); ++i) {
      EarlyLoad& load = early_[i];
      if (load.done) continue;
      if (load.since > section_ + kAhead) break;
      if (load.since > section_ ||
          (load.table >= 0 && !early_[static_cast<std::size_t>(load.table)].emitted))
        continue;
      bool sram = false;
      if (staging_)
        if (const auto item = staging_->item_of(load.at)) {
          if (staging_->copying(*item)) continue;
          sram = staging_->staged(*item, load.at);
        }
      if (!open[sram]) continue;
      const double gap = gap_for(load.rest, sram, latest);
      open[sram] = gap > 0 && emit_part(load, gap, sram);
    }
    copy_in_gap(latest);
  }

  // Constants to the bounce buffer, as far as the load that comes next leaves time.
  void copy_in_gap(const Latest& latest) {
    if (!staging_ || !bounce_free_[section_]) return;
    for (;;) {
      if (pending_.size() == Bounce::kSlots) {
        // No STORE of a map comes before the computation that is queued is over; until then a piece
        // may leave.
        const bool late = std::max(timer_.constants_free(), timer_.dispatched()) >= latest[0];
        if (late || timer_.load_end(pending_.front().load) > timer_.compute_free() ||
            !staging_->next(at_))
          return;
        store_first();
      }
      const double gap = gap_for(to_bounce({}, 1), false, latest);
      if (gap <= 0) return;
      const auto piece = staging_->next(at_);
      if (!piece || !copy_part(*piece, gap)) return;
    }
  }

  // Bytes of constants from `offset` on that the gap has time for: up to the end of a burst of the
  // memory, so that none is moved twice.
  std::uint64_t fitting(double gap, std::uint64_t offset) const {
    const auto burst = static_cast<std::uint64_t>(options_.memory.dram_burst_bytes);
    const double room =
        (gap - timer_.occupancy({.bytes = 1})) * options_.memory.dram_bytes_per_cycle;
    if (room <= 0) return 0;
    const std::uint64_t end = (offset + static_cast<std::uint64_t>(room)) / burst * burst;
    return end > offset ? end - offset : 0;
  }

  // As much of the load as the gap has time for; false when that is nothing or not all.
  bool emit_part(EarlyLoad& early, double gap, bool sram) {
    auto moved = moved_bytes(early.rest, options_.io);
    if (!moved) return false;
    if (sram) moved->sram = true, moved->constants = false;
    if (timer_.occupancy(*moved) <= gap) {
      early.done = true;
      emit_early(early);
      return true;
    }
    auto* load = std::get_if<arch::Load>(&early.rest);
    if (sram || !load || load->rows != 1 || load->planes != 1) return false;
    arch::Load piece = *load;
    const std::uint64_t bytes = fitting(gap, load->mem_offset);
    if (bytes < kSmallestPiece || bytes >= load->row_bytes) return false;
    piece.row_bytes = static_cast<std::uint32_t>(bytes);
    arch::Transfer::imply(piece);
    if (staging_) staging_->loaded(early.at);
    emit(piece, early.tag);
    loads_.back() = early.whole;
    load->mem_offset += piece.row_bytes, load->spm_addr += piece.row_bytes,
        load->row_bytes -= piece.row_bytes;
    arch::Transfer::imply(*load);
    return false;
  }

  // As much of the piece as the gap has time for, to the bounce buffer.
  bool copy_part(const Staging::Piece& piece, double gap) {
    std::uint64_t bytes = fitting(gap, piece.from);
    if (bytes < std::min<std::uint64_t>(piece.bytes, kSmallestCopy)) return false;
    copy(piece, bytes);
    return true;
  }
  // Into the next slot.
  arch::Load to_bounce(const Staging::Piece& piece, std::uint32_t bytes) const {
    arch::Load load;
    load.region = static_cast<std::uint8_t>(arch::Region::kConstants);
    load.traffic = static_cast<std::uint8_t>(arch::Traffic::kWeights);
    load.mem_offset = piece.from, load.row_bytes = bytes;
    load.spm_addr = static_cast<std::uint32_t>(bounce_.address + static_cast<std::int64_t>(slot_) *
                                                                     bounce_.slot_bytes);
    arch::Transfer::imply(load);
    return load;
  }
  void copy(Staging::Piece piece, std::uint64_t most) {
    piece.bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(
        {piece.bytes, most, static_cast<std::uint64_t>(bounce_.slot_bytes)}));
    const arch::Load load = to_bounce(piece, piece.bytes);
    slot_ = (slot_ + 1) % Bounce::kSlots;
    emit(load, piece.tag);
    loads_.back().reset();
    pending_.push_back({piece, load.spm_addr, static_cast<std::uint32_t>(loads_.size())});
    staging_->sent(piece);
  }

  // From the bounce buffer to SRAM.
  void store_first() {
    const Pending pending = pending_.front();
    pending_.pop_front();
    arch::Store store;
    store.region = static_cast<std::uint8_t>(arch::Region::kFastArena);
    store.traffic = static_cast<std::uint8_t>(arch::Traffic::kWeights);
    store.mem_offset = pending.piece.to, store.row_bytes = pending.piece.bytes,
    store.spm_addr = pending.spm;
    arch::Transfer::imply(store);
    emit(store, pending.piece.tag);
  }
  void store_pending() {
    while (!pending_.empty()) store_first();
  }

  std::vector<Section> sections_;
  const StreamOptions& options_;
  const Bounce bounce_;
  std::vector<bool> bounce_free_;  // by section
  HazardTracker hazards_;
  StreamTimer timer_;
  Staging* staging_ = nullptr;
  std::vector<std::uint32_t> words_;
  std::vector<std::optional<ConstantRange>> loads_;  // by number
  std::set<ConstantRange> late_;
  std::vector<EarlyLoad> early_;   // in program order
  std::vector<Loading> loadings_;  // all loads
  std::deque<Pending> pending_;    // at most one a slot, oldest first
  std::size_t first_ = 0;          // none before it is left
  std::size_t section_ = 0, at_ = 0, slot_ = 0;
};

// The buffers of the plan, in instructions of the program.
FastRoom fast_room(const std::vector<Section>& sections, const StreamOptions& options) {
  std::vector<TakenRoom> taken;
  for (const LiveBuffer& live : options.live) {
    std::size_t at = 0;
    std::optional<std::size_t> begin, end;
    for (const Section& section : sections) {
      if (section.action >= live.begin && !begin) begin = at;
      at += section.code.size();
      if (section.action <= live.end) end = at;
    }
    if (begin && end && *begin <= *end)
      taken.push_back({*begin, *end, live.offset, live.offset + live.bytes});
  }
  return {std::move(taken), options.fast_bytes};
}

}  // namespace

std::int64_t staging_bytes(const arch::NpuConfig& npu) { return Bounce::of(npu).bytes(); }

Stream emit_stream(std::vector<Section> sections, const arch::NpuConfig& npu,
                   const StreamOptions& options) {
  for (Section& section : sections) mark_early_loads(section);
  Emitter plain(sections, npu, options, 0);
  Stream best = plain.run(nullptr);
  if (!options.staging || !options.prefetch) return best;
  // What is late depends on what else is: once some constants come in time, those behind them hold
  // things up.
  constexpr double kWorthwhile = 0.995;
  const FastRoom room = fast_room(sections, options);
  std::set<ConstantRange> worth = plain.late();
  for (int pass = 0; pass < options.passes && !worth.empty(); ++pass) {
    Staging staging(sections, room, worth);
    Emitter emitter(sections, npu, options, staging_bytes(npu));
    Stream stream = emitter.run(&staging);
    if (stream.cycles < kWorthwhile * best.cycles) best = std::move(stream);
    const std::size_t before = worth.size();
    worth.insert(emitter.late().begin(), emitter.late().end());
    if (worth.size() == before) break;
  }
  return best;
}

}  // namespace deputy::delegate
