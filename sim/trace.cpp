#include "sim/trace.h"

#include <algorithm>

namespace deputy::sim {
namespace {

template <class T, class Make>
int number_of(std::vector<T>& all, std::string_view name, const Make& make) {
  const auto it = std::ranges::find(all, name, &T::name);
  if (it != all.end()) return static_cast<int>(it - all.begin());
  all.push_back(make());
  return static_cast<int>(all.size()) - 1;
}

}  // namespace

void TraceTraffic::add(std::uint64_t at_ps, std::uint64_t moved, bool write) {
  while (at_ps / interval_ps >= kMost) {
    interval_ps *= 2;
    for (auto& bins : bytes) {
      for (std::size_t i = 0; i < bins.size(); ++i) {
        const std::uint64_t n = bins[i];
        bins[i] = 0;
        bins[i / 2] += n;
      }
      bins.resize((bins.size() + 1) / 2);
    }
  }
  auto& bins = bytes[write ? 1 : 0];
  const auto bin = static_cast<std::size_t>(at_ps / interval_ps);
  if (bins.size() <= bin) bins.resize(bin + 1);
  bins[bin] += moved;
}

int Trace::track(std::string_view name) {
  return number_of(tracks_, name, [&] { return TraceTrack{std::string(name), {}}; });
}
int Trace::signal(std::string_view name, SignalKind kind) {
  return number_of(signals_, name, [&] { return TraceSignal{std::string(name), kind, {}}; });
}
int Trace::memory(std::string_view name) {
  return number_of(traffic_, name, [&] { return TraceTraffic(std::string(name)); });
}

void Trace::slice(int track, const TraceSlice& slice) {
  if (slices_ >= kMostSlices) {
    ++dropped_;
    return;
  }
  auto& slices = tracks_[static_cast<std::size_t>(track)].slices;
  slices.push_back(slice);
  ++slices_;
  if (slices.size() < 2) return;
  TraceSlice& now = slices.back();
  now.from_ps = std::max(now.from_ps, slices[slices.size() - 2].to_ps);
  now.to_ps = std::max(now.to_ps, now.from_ps);
}

void Trace::extend(int track, const TraceSlice& slice) {
  auto& slices = tracks_[static_cast<std::size_t>(track)].slices;
  if (slices.empty() || slices.back().to_ps != slice.from_ps || slices.back().what != slice.what)
    return this->slice(track, slice);
  slices.back().to_ps = slice.to_ps;
  slices.back().bytes += slice.bytes;
}

void Trace::change(int signal, std::uint64_t at_ps, std::uint64_t value) {
  auto& changes = signals_[static_cast<std::size_t>(signal)].changes;
  const std::uint64_t before = changes.empty() ? 0 : changes.back().second;
  if (value == before) return;
  if (!changes.empty() && changes.back().first == at_ps) {
    changes.back().second = value;
    if (value == (changes.size() > 1 ? changes[changes.size() - 2].second : 0))
      changes.pop_back(), --changes_;
    return;
  }
  if (changes_ >= kMostChanges) {
    ++dropped_;
    return;
  }
  changes.emplace_back(at_ps, value);
  ++changes_;
}

void Trace::pulse(int signal, std::uint64_t at_ps) {
  const auto& changes = signals_[static_cast<std::size_t>(signal)].changes;
  change(signal, at_ps, changes.empty() ? 1 : changes.back().second + 1);
}

}  // namespace deputy::sim
