#include "dsp_asm/scheduler.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace deputy::dsp_asm {
namespace {

using arch::DspOp, arch::DspOpcode, arch::DspSlot;

struct Edge {
  std::size_t to;
  int distance;  ///< packets from one to the other at least
};
// Where an access is, as far as the text says: bytes from the value that a register had at some
// point.
struct Place {
  std::size_t root = 0;
  std::int64_t offset = 0, bytes = 0;
  bool known = false;
};

bool loads_or_stores(const DspOp& op) { return op.slot == static_cast<int>(DspSlot::kL); }
bool stores(const DspOp& op) {
  return loads_or_stores(op) && arch::dsp_op_info(op.code).role == arch::DspRole::kRead;
}
bool moves_control(const DspOp& op) {
  return op.code == DspOpcode::kSMtc || op.code == DspOpcode::kSMfc;
}

// Follows address registers through post-increments and `addi`; any other write begins a new root.
class Places {
 public:
  Places() {
    for (std::size_t r = 0; r < at_.size(); ++r) at_[r].root = r;
  }
  Place visit(const DspOp& op) {
    Place place;
    if (loads_or_stores(op)) {
      const arch::DspOpInfo& info = arch::dsp_op_info(op.code);
      const bool simple =
          info.format == arch::DspFormat::kMem || info.format == arch::DspFormat::kMemP;
      const std::int64_t step = std::int64_t{op.imm} * op.size;
      place = {at_[op.a].root, at_[op.a].offset + (op.post ? 0 : step), op.size,
               simple && op.circular == 0};
      if (op.post && op.circular == 0 && op.a != 0) {  // r0 stays 0
        const Place moved{at_[op.a].root, at_[op.a].offset + step, 0, true};
        forget_writes(op);
        at_[op.a] = moved;
        return place;
      }
    }
    const bool slides = op.code == DspOpcode::kSAddi && op.d == op.a && op.d != 0;
    const Place moved{at_[op.a].root, at_[op.a].offset + op.imm, 0, true};
    forget_writes(op);
    if (slides) at_[op.d] = moved;
    return place;
  }

 private:
  void forget_writes(const DspOp& op) {
    const auto writes = arch::dsp_uses(op).writes;
    for (std::size_t r = 0; r < at_.size(); ++r)
      if (writes[r]) at_[r] = {next_root_++, 0, 0, true};
  }
  std::array<Place, arch::kDspScalars> at_{};
  std::size_t next_root_ = arch::kDspScalars;
};

bool may_meet(const Place& a, const Place& b, bool no_alias) {
  if (!a.known || !b.known) return !no_alias || a.root == b.root;
  if (a.root != b.root) return !no_alias;
  return a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

struct Graph {
  std::vector<std::vector<Edge>> after;
  std::vector<int> waits_for;  ///< predecessors not yet placed
};

Graph build(const std::vector<DspOp>& ops, const arch::DspLatencyConfig& latency, bool no_alias) {
  const std::size_t n = ops.size();
  Graph g{std::vector<std::vector<Edge>>(n), std::vector<int>(n, 0)};
  std::vector<arch::DspUses> uses(n);
  std::vector<Place> places(n);
  Places walk;
  for (std::size_t i = 0; i < n; ++i)
    uses[i] = arch::dsp_uses(ops[i]), places[i] = walk.visit(ops[i]);
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = 0; i < j; ++i) {
      int distance = -1;
      const auto raw = uses[i].writes & uses[j].reads, war = uses[i].reads & uses[j].writes,
                 waw = uses[i].writes & uses[j].writes;
      if (raw.any() || waw.any())
        for (std::size_t id = 0; id < raw.size(); ++id) {
          const int first = uses[i].writes[id] ? arch::dsp_result_latency(ops[i], id, latency) : 0;
          if (raw[id]) distance = std::max(distance, first);
          if (waw[id])
            distance =
                std::max({distance, 1, first - arch::dsp_result_latency(ops[j], id, latency) + 1});
        }
      if (war.any()) distance = std::max(distance, 0);
      if (loads_or_stores(ops[i]) && loads_or_stores(ops[j]) &&
          (stores(ops[i]) || stores(ops[j])) && may_meet(places[i], places[j], no_alias))
        distance = std::max(distance, 1);
      if ((moves_control(ops[i]) && (moves_control(ops[j]) || loads_or_stores(ops[j]))) ||
          (loads_or_stores(ops[i]) && moves_control(ops[j])))
        distance = std::max(distance, 1);
      if (distance >= 0) g.after[i].push_back({j, distance}), ++g.waits_for[j];
    }
  return g;
}

}  // namespace

std::vector<std::vector<Scheduled>> schedule(const std::vector<DspOp>& ops,
                                             const arch::DspLatencyConfig& latency, bool no_alias) {
  const std::size_t n = ops.size();
  Graph g = build(ops, latency, no_alias);
  std::vector<int> height(n, 0), earliest(n, 0);
  for (std::size_t i = n; i-- > 0;)
    for (const Edge& e : g.after[i]) height[i] = std::max(height[i], height[e.to] + e.distance);

  std::vector<std::vector<Scheduled>> packets;
  std::vector<bool> placed(n, false);
  std::size_t left = n;
  for (int cycle = 0; left > 0; ++cycle) {
    std::array<bool, arch::kDspSlots> taken{};
    std::vector<Scheduled> packet;
    for (bool again = true; again;) {
      again = false;
      std::size_t best = n;
      for (std::size_t i = 0; i < n; ++i) {
        if (placed[i] || g.waits_for[i] > 0 || earliest[i] > cycle || taken[ops[i].slot]) continue;
        if (best == n || height[i] > height[best]) best = i;
      }
      if (best == n) break;
      placed[best] = true, again = true, --left;
      taken[ops[best].slot] = true;
      packet.push_back({best, ops[best]});
      for (const Edge& e : g.after[best])
        earliest[e.to] = std::max(earliest[e.to], cycle + e.distance), --g.waits_for[e.to];
    }
    if (packet.empty()) continue;  // the pipeline waits by itself
    std::sort(packet.begin(), packet.end(),
              [](const Scheduled& a, const Scheduled& b) { return a.op.slot < b.op.slot; });
    packets.push_back(std::move(packet));
  }
  return packets;
}

}  // namespace deputy::dsp_asm
