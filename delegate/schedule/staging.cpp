#include "delegate/schedule/staging.h"

#include <algorithm>

#include "arch/memory_map.h"

namespace deputy::delegate {
namespace {

// Items without room that are passed over for one that has.
constexpr int kPassedOver = 6;

}  // namespace

std::optional<ConstantRange> constant_range(const arch::Operation& op) {
  constexpr auto kMap =
      static_cast<std::uint32_t>(arch::Traffic::kFeatureMap);  // operands that are constant
  constexpr auto kConstants = static_cast<std::uint32_t>(arch::Region::kConstants);
  if (const auto* weights = std::get_if<arch::LoadWeights>(&op)) {
    if (weights->region != kConstants || weights->traffic == kMap) return std::nullopt;
    return ConstantRange{weights->mem_offset, weights->stream_bytes};
  }
  const auto* load = std::get_if<arch::Load>(&op);
  if (!load || load->region != kConstants || load->traffic == kMap || load->rows != 1 ||
      load->planes != 1)
    return std::nullopt;
  return ConstantRange{load->mem_offset, load->row_bytes};
}

Staging::Staging(const std::vector<Section>& sections, FastRoom room,
                 const std::set<ConstantRange>& worth)
    : room_(std::move(room)) {
  std::map<ConstantRange, std::size_t> known;
  std::size_t at = 0;
  for (const Section& section : sections)
    for (const SectionInstruction& instruction : section.code) {
      const auto range = constant_range(instruction.op);
      if (range && worth.contains(*range)) {
        const auto [it, fresh] = known.try_emplace(*range, items_.size());
        if (fresh) items_.push_back({*range, instruction.tag, {}, State::kOutside, 0, 0, 0});
        items_[it->second].uses.push_back(at);
        item_of_.emplace(at, it->second);
      }
      ++at;
    }
}

std::optional<std::size_t> Staging::item_of(std::size_t at) const {
  const auto it = item_of_.find(at);
  return it == item_of_.end() ? std::nullopt : std::optional(it->second);
}

// Where it fits for all its uses, else for the next one.
bool Staging::start(Item& item, std::size_t at, std::size_t use) {
  for (const std::size_t until : {item.uses.back(), use}) {
    const auto place = room_.take(at, until, item.range.bytes);
    if (!place) continue;
    item.state = State::kCopying, item.place = *place, item.sent = 0, item.until = until;
    return true;
  }
  return false;
}

std::optional<Staging::Piece> Staging::next(std::size_t at) {
  if (current_) return rest(*current_);
  room_.forget_before(at);
  int passed = 0;
  for (auto it = item_of_.upper_bound(at); it != item_of_.end() && passed < kPassedOver; ++it) {
    Item& item = items_[it->second];
    const bool inside =
        item.state == State::kCopying || (item.state == State::kStaged && it->first <= item.until);
    if (inside || loaded_.contains(it->first)) continue;
    if (!start(item, at, it->first)) {
      ++passed;
      continue;
    }
    current_ = it->second;
    return rest(*current_);
  }
  return std::nullopt;
}

std::optional<Staging::Piece> Staging::rest(std::size_t index) const {
  const Item& item = items_[index];
  if (item.state != State::kCopying) return std::nullopt;
  return Piece{index, item.range.offset + item.sent, item.place + item.sent,
               item.range.bytes - item.sent, item.tag};
}

void Staging::sent(const Piece& piece) {
  Item& item = items_[piece.item];
  item.sent += piece.bytes;
  if (item.sent < item.range.bytes) return;
  item.state = State::kStaged;
  if (current_ == piece.item) current_.reset();
}

void Staging::give_up(std::size_t index) {
  items_[index].state = State::kOutside;
  if (current_ == index) current_.reset();
}

}  // namespace deputy::delegate
